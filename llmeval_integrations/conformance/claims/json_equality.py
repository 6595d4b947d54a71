"""Is the output the same JSON as the reference?"""

# ruff: noqa: E501 - a table reads best with one case to a line

from __future__ import annotations

import json
from typing import Any, Final

from llmeval_integrations.conformance.case import Case, Growth

_CUT: Final = "a truncated output counts as complete"
_FOREIGN: Final = "a JSON parser downstream rejects what was counted as right"
_AROUND: Final = "parsing the whole output fails on the text around the JSON"
_CHOSEN: Final = "one of two answers is picked, and the other is ignored"
_BOOLEAN: Final = "true and 1 are equal only in Python"
_NULL: Final = "a missing key is not a null"
_NUMBER: Final = "two numbers are equal only because a float cannot hold them"
_SPELLING: Final = "a right answer counts as wrong because of its spelling"
_ORDER: Final = "the order of keys or the hash seed decides"
_PATH: Final = "two paths have the same spelling"
_BLAME: Final = "a reference that nobody can match lowers the model's figure"
_LIMIT: Final = "one long or deep output ends the run, or is counted as wrong"
_TEXT: Final = "a wrong string counts as right"
_NORMALIZED: Final = "a string is normalized before the comparison, and its fault is overlooked"
_FIGURE: Final = "a wrong figure counts as right"

_FENCE: Final = "`" * 3
_LONG: Final = "7" * 308
_WORDS: Final = "and so on " * 500


def _nest(levels: int, core: str = "") -> str:
    return "[" * levels + core + "]" * levels


NOT_JSON: Final[tuple[Case, ...]] = (
    Case("cut object", "no", '{"a": 1', '{"a": 1}', _CUT),
    Case("cut array", "no", "[1, 2", "[1, 2]", _CUT),
    Case("cut within a string", "no", '{"a": "on', '{"a": "on"}', _CUT),
    Case("cut after a comma", "no", '{"a": 1, ', '{"a": 1}', _CUT),
    Case("cut after a key", "no", '{"a": 1, "b":', '{"a": 1}', _CUT),
    Case("cut before the fence ends", "no", f'{_FENCE}json\n{{"a": 1', '{"a": 1}', _CUT),
    Case("prose after the JSON", "no", '{"a": 1} I hope this helps!', '{"a": 1}', _AROUND),
    Case("prose before the JSON", "no", 'The answer is {"a": 1}', '{"a": 1}', _AROUND),
    Case("prose before a fence", "no", f'Here it is:\n{_FENCE}json\n{{"a": 1}}\n{_FENCE}', '{"a": 1}', _AROUND),
    Case("two fences", "no", f'{_FENCE}json\n{{"a": 1}}\n{_FENCE}\n{_FENCE}json\n{{"a": 2}}\n{_FENCE}', '{"a": 1}', _CHOSEN),
    Case("two documents", "no", '{"a": 1}{"a": 2}', '{"a": 1}', _CHOSEN),
    Case("two lines of documents", "no", '{"a": 1}\n{"a": 2}', '{"a": 1}', _CHOSEN),
    Case("a number with its unit", "no", "5 kg", "5", _AROUND),
    Case("empty", "no", "", "null", "an empty reply counts as an answer"),
    Case("white space", "no", " \n", "null", "an empty reply counts as an answer"),
    Case("a refusal", "no", "I cannot help with that.", "null", "a refusal counts as an answer"),
    Case("closing bracket alone", "no", "}", "null", _FOREIGN),
    Case("single quotes", "no", "{'a': 1}", '{"a": 1}', _FOREIGN),
    Case("trailing comma", "no", "[1, 2,]", "[1, 2]", _FOREIGN),
    Case("comment", "no", '{"a": 1 /* one */}', '{"a": 1}', _FOREIGN),
    Case("key without quotes", "no", "{a: 1}", '{"a": 1}', _FOREIGN),
    Case("constants of Python", "no", '{"a": True, "b": None}', '{"a": true, "b": null}', _FOREIGN),
    Case("NaN", "no", '{"a": NaN}', '{"a": null}', _FOREIGN),
    Case("leading zero", "no", "[01]", "[1]", _FOREIGN),
    Case("no digit before the point", "no", "[.5]", "[0.5]", _FOREIGN),
    Case("raw line break in a string", "no", '["one\ntwo"]', '["one\\ntwo"]', _FOREIGN),
    Case("escape that JSON lacks", "no", '["\\x41"]', '["A"]', _FOREIGN),
)  # fmt: skip
"""A reader that accepts one of these breaks the first promise of every claim about JSON."""

CASES: Final[tuple[Case, ...]] = (
    *NOT_JSON,
    Case("the same text", "yes", '{"a": [1, "x", null]}', '{"a": [1, "x", null]}', _SPELLING),
    Case("other white space", "yes", '{"a":[1,2]}', '{ "a" : [ 1,\n\t2 ] }\r\n', _SPELLING),
    Case("other escapes", "yes", '"\\u00e9\\/"', '"é/"', _SPELLING),
    Case("one character as two", "yes", '"\\ud83d\\ude00"', '"😀"', _SPELLING),
    Case("1.0 and 1", "yes", '{"a": 1.0}', '{"a": 1}', _SPELLING),
    Case("1e2 and 100", "yes", "[1e2]", "[100]", _SPELLING),
    Case("-0 and 0", "yes", "[-0]", "[0]", _SPELLING),
    Case("null", "yes", "null", "null", "null is an answer like any other"),
    Case("false", "yes", "false", "false", "false is an answer like any other"),
    Case("empty object", "yes", "{}", "{}", "an empty answer may be right"),
    Case("true and 1", "no", '{"a": true}', '{"a": 1}', _BOOLEAN),
    Case("false and 0", "no", "[false]", "[0]", _BOOLEAN),
    Case("true and 1.0, deep down", "no", '[{"a": {"b": [1.0]}}]', '[{"a": {"b": [true]}}]', _BOOLEAN),
    Case("missing and null", "no", "{}", '{"a": null}', _NULL),
    Case("null and missing", "no", '{"a": null}', "{}", _NULL),
    Case("missing and null, deep down", "no", '[{"b": 1}]', '[{"a": null, "b": 1}]', _NULL),
    Case("empty array and empty object", "no", "[]", "{}", "both are empty, and not the same"),
    Case("string and number", "no", '"1"', "1", "a string is not a number"),
    Case("another word", "no", '{"vendor": "Acme"}', '{"vendor": "Globex"}', _TEXT),
    Case("a missing word", "no", '["due on Friday"]', '["due"]', _TEXT),
    Case("a long string with another end", "no", json.dumps([_WORDS + "x"]), json.dumps([_WORDS + "y"]), _TEXT),
    Case("a string in capital letters", "no", '["ACME"]', '["Acme"]', _NORMALIZED),
    Case("a space before a string", "no", '[" Acme"]', '["Acme"]', _NORMALIZED),
    Case("a letter without its accent", "no", '["Cafe"]', '["Café"]', _NORMALIZED),
    Case("another number", "no", '{"total": 12}', '{"total": 21}', _FIGURE),
    Case("the sign of an integer", "no", "[-5]", "[5]", _FIGURE),
    Case("the last digit of a float", "no", "[0.30000000000000004]", "[0.3]", _FIGURE),
    Case("another key", "no", '{"a": 1}', '{"b": 1}', "keys are ignored"),
    Case("letters of another case", "no", '{"A": 1}', '{"a": 1}', "keys are case-sensitive"),
    Case("a key with a point", "no", '{"a.b": 1}', '{"a": {"b": 1}}', _PATH),
    Case("a key with a slash", "no", '{"a/b": 1}', '{"a": {"b": 1}}', _PATH),
    Case("a key that is an index", "no", '{"a": {"0": 1}}', '{"a": [1]}', _PATH),
    Case("an empty key", "no", '{"": 1}', "1", _PATH),
    Case("a composed and a combined letter", "no", '"\u00e9"', '"e\u0301"', "JSON compares code points"),
    Case("a missing item", "no", "[1, 2]", "[1, 2, 3]", "what is missing is overlooked"),
    Case("an extra item", "no", "[1, 2, 3]", "[1, 2]", "what was added is overlooked"),
    Case("an item twice", "no", "[1, 1, 2]", "[1, 2, 2]", "items are compared as a set"),
    Case("an extra key", "no", '{"a": 1, "b": 2}', '{"a": 1}', "what was added is overlooked"),
    Case("a missing key", "no", '{"a": 1}', '{"a": 1, "b": 2}', "what is missing is overlooked"),
    Case("key twice, the first is right", "no", '{"a": 1, "a": 2}', '{"a": 1}', "parsers take the last value"),
    Case("items in another order", "no", "[1, 2]", "[2, 1]", "order counts here"),
    Case("inner items in another order", "no", '{"a": [1, 2]}', '{"a": [2, 1]}', "order counts here"),
    Case("keys in another order", "yes", '{"b": {"y": 1, "x": null}, "a": 2}', '{"a": 2, "b": {"x": null, "y": 1}}', _ORDER),
    Case("keys in another order, one value differs", "no", '{"b": {"y": 1, "x": 2}, "a": 2}', '{"a": 2, "b": {"x": null, "y": 1}}', _ORDER),
    Case("neighbours among large integers", "no", "[9007199254740993]", "[9007199254740992]", _NUMBER),
    Case("a large integer and its float", "no", "[12345678901234567890123]", "[12345678901234567890124]", _NUMBER),
    Case("1e400 and a string", "no", "[1e400]", '["Infinity"]', _NUMBER),
    Case("an integer of 308 digits", "yes", _LONG, _LONG, _LIMIT),
    Case("308 digits, the last differs", "no", _LONG[:-1] + "8", _LONG, _NUMBER),
    Case("half a pair and a question mark", "no", '"\\ud800"', '"?"', "what cannot be encoded is replaced"),
    Case("half a pair, raw", "no", '"\ud800"', '"?"', "what cannot be encoded ends the run, or is replaced"),
    Case("200 levels", "yes", _nest(200), _nest(200), _LIMIT),
    Case("200 levels, the core differs", "no", _nest(200, "1"), _nest(200, "2"), _LIMIT),
    Case("80 levels, the core differs", "no", _nest(80, "1"), _nest(80, "2"), _LIMIT),
    Case("100,000 levels", "no", _nest(100_000), "[]", _LIMIT),
    Case("100,000 levels, cut", "no", "[" * 100_000, "[]", _LIMIT),
    Case("reference cut", "an error", '{"a": 1}', '{"a": 1', _BLAME),
    Case("reference empty", "an error", '{"a": 1}', "", _BLAME),
    Case("reference that is prose", "an error", '{"a": 1}', "see the invoice", _BLAME),
    Case("reference with NaN", "an error", "[NaN]", "[NaN]", _BLAME),
    Case("output and reference broken", "an error", "none", "none", _BLAME),
)  # fmt: skip
"""The rules of JSON: RFC 8259 for texts; for values, the rules that all parsers agree on."""


def _pair_with_itself(text: str) -> tuple[str, str]:
    """Pair a text with a copy that differs only in white space."""
    return text, text + " "


def _list_records(size: int) -> list[Any]:
    return [{"id": number, "name": f"n{number}"} for number in range(size // 24 + 1)]


def _change_last_record(size: int) -> tuple[str, str]:
    items = _list_records(size)
    return json.dumps(items), json.dumps([*items[:-1], {"id": -1, "name": ""}])


def _reverse_records(size: int) -> tuple[str, str]:
    items = _list_records(size)
    return json.dumps(items[::-1]), json.dumps(items)


GROWTHS: Final[tuple[Growth, ...]] = (
    Growth("many records, the last differs", _change_last_record),
    Growth("many records in another order", _reverse_records),
    Growth("one long string", lambda size: _pair_with_itself(json.dumps("x\n" * (size // 3)))),
    Growth("one long number", lambda size: _pair_with_itself("1" * size)),
    Growth("many keys", lambda size: _pair_with_itself(json.dumps({f"k{n}": n for n in range(size // 14 + 1)}))),
    Growth("brackets that never close", lambda size: ("[" * size, "[]")),
    Growth("long prose after the JSON", lambda size: ('{"a": 1} ' + "and so on " * (size // 10), '{"a": 1}')),
    Growth("a string that never closes", lambda size: ('["' + '\\"' * (size // 2), '[""]')),
    Growth("many fences", lambda size: ("```json\n" * (size // 8), "null")),
    Growth("much white space", lambda size: (" \n" * (size // 2) + "x", "null")),
)  # fmt: skip
"""Outputs that slow down readers which start again from every position."""
