"""Does the output parse as JSON?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from llmeval_integrations.conformance.case import Case
from llmeval_integrations.conformance.claims import json_equality
from llmeval_integrations.core.sample import MISSING

_RIGHT: Final = "right outputs count as wrong"
_LIMIT: Final = "one long or deep output ends the run, or is counted as wrong"
_ODD: Final = "parsers disagree here, so yes and no are both right, but an error is not"

_JSON: Final = {
    "object": '{"a": {"b": [1, 2.5e-3, true, null, "x"]}}',
    "empty object": "{}",
    "empty array": "[]",
    "string alone": '"yes"',
    "number alone": "-0.5E+1",
    "null alone": "null",
    "false alone": "false",
    "zero alone": "0",
    "white space around": ' \r\n\t{"a": 1}\n',
    "words of another language in a string": '["NaN", "True", "/* no */", "a, ]"]',
    "a fence within a string": '["```json"]',
    "escapes": '"\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u00e9 \\ud83d\\ude00"',
    "characters beyond ASCII": '{"naïve": "日本語 😀 \u2028"}',
    "200 levels": "[" * 200 + "]" * 200,
}

CASES: Final = (
    *(Case(name, "yes", text, why=_RIGHT) for name, text in _JSON.items()),
    Case("1e400", "yes", "[1e400]", why=_LIMIT),
    Case("an integer of 5,000 digits", "yes", "7" * 5000, why=_LIMIT),
    *(replace(each, reference=MISSING) for each in json_equality.NOT_JSON),
    Case("100,000 levels", "either", "[" * 100_000 + "]" * 100_000, why=_LIMIT),
    Case("100,000 levels, cut", "no", "[" * 100_000, why=_LIMIT),
    Case("half a pair, escaped", "either", '["\\ud800"]', why=_ODD),
    Case("half a pair, raw", "either", '["\ud800"]', why=_ODD),
    Case("a key twice", "either", '{"a": 1, "a": 2}', why=_ODD),
    Case("byte order mark", "either", '\ufeff{"a": 1}', why=_ODD),
    Case("NUL after the JSON", "no", '{"a": 1}\x00', why="what comes after is not read"),
)
GROWTHS: Final = json_equality.GROWTHS
