"""Outputs that are not one JSON text, and what a careless reader takes them for."""

# ruff: noqa: E501 - a table reads best with one case to a line

from __future__ import annotations

from typing import Final, NamedTuple

from llmeval_integrations.conformance.case import Severity

_FENCE: Final = "`" * 3
_CUT: Final = "an output that was cut off counts as whole"
_FOREIGN: Final = "a JSON parser downstream will refuse what was counted as right"
_AROUND: Final = "whoever parses the whole output will fail on what stands around"
_CHOSEN: Final = "one of two answers is picked, and the other never looked at"


class NotJson(NamedTuple):
    """A text that is not JSON, the JSON that a careless reader takes it for, and why that matters."""

    name: str
    text: str
    taken_for: str
    why: str = _FOREIGN
    severity: Severity = "high"


NOT_JSON: Final = (
    NotJson("cut object", '{"a": 1', '{"a": 1}', _CUT),
    NotJson("cut array", "[1, 2", "[1, 2]", _CUT),
    NotJson("cut within a text", '{"a": "on', '{"a": "on"}', _CUT),
    NotJson("cut behind a comma", '{"a": 1, ', '{"a": 1}', _CUT),
    NotJson("cut behind a key", '{"a": 1, "b":', '{"a": 1}', _CUT),
    NotJson("cut before the fence ends", f'{_FENCE}json\n{{"a": 1', '{"a": 1}', _CUT),
    NotJson("prose behind", '{"a": 1} I hope this helps!', '{"a": 1}', _AROUND),
    NotJson("prose before", 'The answer is {"a": 1}', '{"a": 1}', _AROUND),
    NotJson("prose before a fence", f'Here it is:\n{_FENCE}json\n{{"a": 1}}\n{_FENCE}', '{"a": 1}', _AROUND),
    NotJson("two fences", f'{_FENCE}json\n{{"a": 1}}\n{_FENCE}\n{_FENCE}json\n{{"a": 2}}\n{_FENCE}', '{"a": 1}', _CHOSEN),
    NotJson("two documents", '{"a": 1}{"a": 2}', '{"a": 1}', _CHOSEN),
    NotJson("two lines of documents", '{"a": 1}\n{"a": 2}', '{"a": 1}', _CHOSEN),
    NotJson("a number with its unit", "5 kg", "5", _AROUND),
    NotJson("empty", "", "null", "an empty reply counts as an answer"),
    NotJson("white space", " \n", "null", "an empty reply counts as an answer"),
    NotJson("a refusal", "I cannot help with that.", "null", "a refusal counts as an answer"),
    NotJson("closing bracket alone", "}", "null"),
    NotJson("single quotes", "{'a': 1}", '{"a": 1}'),
    NotJson("trailing comma", "[1, 2,]", "[1, 2]"),
    NotJson("comment", '{"a": 1 /* one */}', '{"a": 1}'),
    NotJson("key without quotes", "{a: 1}", '{"a": 1}'),
    NotJson("words of Python", '{"a": True, "b": None}', '{"a": true, "b": null}'),
    NotJson("NaN", '{"a": NaN}', '{"a": null}', severity="medium"),
    NotJson("leading zero", "[01]", "[1]"),
    NotJson("no digit before the point", "[.5]", "[0.5]"),
    NotJson("raw line break in a text", '["one\ntwo"]', '["one\\ntwo"]', severity="medium"),
    NotJson("escape that JSON lacks", '["\\x41"]', '["A"]'),
)  # fmt: skip
"""A reader that takes one of these fails the first promise of every claim about JSON."""
