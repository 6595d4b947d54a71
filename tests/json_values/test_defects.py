"""Each way not to be JSON has its name and its place; `¦` marks the place in the texts below."""

import pytest

from llmeval_integrations.json_values.defects import DEFECTS
from llmeval_integrations.json_values.parse import check, parse

PLACES = {
    "empty": ["¦", "  \n¦", "```json\n¦```", "``¦"],
    "prose": ["¦name: x\ncity: [Rome, Oslo]", "1¦. First, look at [1].",
        "42 ¦is the answer", "¦As shown in [1], the answer is 5."],
    "prose_around": ['¦analysisWe need JSON.\n\n{"a": 1}', '{"a": 1} ¦I hope this helps.',
        '```json\n{"a": 1}\n¦```\nThis is it.', "¦Sure!\n```json\n[1]\n```", '{"a": 1}¦.'],
    "truncated": ['{"a": "b", "c": ¦"some te', '{"a": 1,¦', '{"a": ¦tru', '{"a": 12¦.', '{"a": ¦-',
        '{"a": "x\\¦u00', '```json\n{"a": [1,¦', '```json\n{"a": ¦"b\n```'],
    "trailing_comma": ['{"a": 1,¦}', "[1, 2, \n¦]", '{"a": [1,¦], "b": 2}', '{"a": 1}¦,'],
    "single_quotes": ["{¦'a': 1}", '{"a": ¦\'b\'}', "[¦'a']", "¦'abc'", '{"a": ¦`b`}'],
    "smart_quotes": ["{¦“a”: 1}", '{"a": ¦„b“}', '{"a": 1, ¦‘b’: 2}'],
    "unescaped_quote": ['{"a": "He said "¦hi" to me"}', '{"a": "the “set" ¦alone"}', '{"a": ""¦b" c"}',
        '{"a": ""¦"b"""}'],
    "unquoted_key": ["{¦a: 1}", '{"a": 1, ¦b: 2}', "{¦$id: 1}", "{¦1: 2}", "{¦été: 1}"],
    "python_literal": ['{"a": ¦True}', "[¦None]", '{"a": [1, ¦False]}', "¦None"],
    "comment": ['{"a": 1, ¦// one\n "b": 2}', '{"a": 1 ¦# one\n}', '¦/* x */ {"a": 1}', '{"a": 1}¦// x'],
    "ellipsis": ["[1, 2, ¦...]", '{"a": 1, ¦...}', "[1, 2 ¦…]", "{¦...}"],
    "bare_word": ['{"a": ¦undefined}', '{"a": ¦N/A}', "[¦TRUE]", '{"a": ¦new Date()}', '[¦b"x"]'],
    "nan_or_infinity": ['{"a": ¦NaN}', "[1, ¦-Infinity]", '["NaN", ¦Infinity]', '{"a": ¦nan}', "[¦-inf]",
        "[1e9999999999999999999, ¦NaN]"],
    "control_character": ['{"a": "one¦\ntwo"}', '["a¦\tb"]', '["a¦\x00b"]'],
    "invalid_escape": ['{"a": "C:¦\\dir"}', '["¦\\(x\\)"]', '["\\¦u12G4"]', '{¦\\"a\\": 1}', '{"a": ¦\\n}'],
    "missing_comma": ['{"a": 1 ¦"b": 2}', '["a"\n¦"b"]', "[[1] ¦[2]]", "[1 ¦2]", '["a" ¦true]',
        '{"a": 1¦; "b": 2}'],
    "missing_colon": ['{"a" ¦1}', '{"a"¦= 1}', '{"a"¦, "b"}'],
    "missing_value": ['{"a": ¦, "b": 1}', "[1,¦,2]", '{"a": ¦}', "[¦, 1]"],
    "mismatched_bracket": ['{"a": [1, 2¦}', '{"a": 1}¦}', "¦}", '"a"¦: 1, "b": 2}', '["a"¦: 1]'],
    "extra_data": ['{"a": 1}\n¦{"a": 2}', "[1, 2] ¦[3, 4]", '```json\n{"a": 1}\n¦```\n```json\n{"a": 2}\n```',
        '{"a": 1}¦, {"b": 2}', "[1]\n¦[2]", '{"a": 1}\n¦[2]', '{"a": 1} ¦true', "true ¦false"],
    "number": ["[0¦1]", "[¦.5]", "[5¦.]", "[0¦x1F]", '{"a": 1,¦234.50}', "1¦,234.50", "[5 ¦kg]",
        '{"a": 2024¦-01-05}'],
    "byte_order_mark": ['¦\ufeff{"a": 1}', "¦\ufeff1", "```\n¦\ufeff[]\n```"],
    "lone_surrogate": ['{"a": "¦\\ud83d"}', '["¦\\ud83d", 1e9999999999999999999]', '["¦\ud800"]',
        '{"¦\\udc00": 1}', '["\\ud83d\\ude00¦\\ude00"]'],
    "unexpected_character": ['{"a": ¦(1, 2)}', '{"a":¦\xa01}', '{"a": ¦$5}', '{"a": 1, ¦-}'],
    "too_deep": ["[" * 99_999 + "¦[", '{"a":' * 99_999 + "¦{", "[" * 99_999 + "¦[" + "]" * 100_000],
}  # fmt: skip

STRICT = {
    "code_fence": ["¦```json\n{}\n```", " \n¦```\n{}```", "¦`{}`", "¦~~~\n{}\n~~~", "¦``[1]``"],
    "prose": ["¦`total` is missing, sorry.", "¦`", " \n¦`json`"],
    "duplicate_key": ['{"a": 1, ¦"a": 1}', '{"a": {"b": 1, ¦"b": 2}}', '{"a": 1, ¦"\\u0061": 2}',
        '[{"a": {"a": 1}}, {"a": 1, "b": "a", ¦"a" : 2}]', '{"a": 1e400, ¦"a": 1}',
        '{"a": 1e9999999999999999999, ¦"a": 1}'],
}  # fmt: skip

FENCES = {
    "nan_or_infinity": ["```json ¦NaN\n```", "~~~json ¦NaN\r\n~~~"],
    "single_quotes": ["```json ¦'a'\n```"],
    "unquoted_key": ["```json {¦name}\n```"],
    "number": ["```json ¦.5 \n\n  ```", "```json ¦+5\n```"],
    "prose": ["```¦Sorry, I cannot answer that.\n```"],
}
"""What stands on the line of the fence alone is the content."""

VALUES = [
    # name, value, offset, end of the reason
    ("encoding", b"\xff", 0, ""),
    ("encoding", b'{"a": "\xe9"}', 7, ""),
    ("encoding", bytearray(b'["\xed\xa0\x80"]'), 2, ""),
    ("not_json", {1: "a"}, None, "at /1"),
    ("not_json", [1, {"a": len}], None, "at /1/a"),
    ("not_json", {"a/b": [{1}]}, None, "at /a~1b/0"),
    ("not_json", len, None, "at the root"),
    ("nan_or_infinity", [0, float("inf")], None, "at /1"),
    ("lone_surrogate", {"\ud800": 1}, None, ""),
]

OUT_OF_RANGE = [
    "[¦1e400]",
    '["1e999", ¦-1E99999999999999999999]',
    '{"a":¦1e+9999999999999999999}',
    f"[{'1' * 308},\n ¦-{'1' * 309}]",
    f"¦{'1' * 5_000}",
    f'["{"1" * 900}", ¦{"2" * 309}, {"1" * 900}.5]',
]

MARKDOWN_CASES = [
    (name, each) for table in (PLACES, FENCES) for name in table for each in table[name]
]
STRICT_CASES = [(name, each) for name, texts in STRICT.items() for each in texts]


def short(value: object) -> str:
    return str(value)[:40]


def split(marked: str) -> tuple[str, int]:
    return marked.replace("¦", ""), marked.index("¦")


def test_every_defect_of_a_text_or_a_value_has_cases():
    cases = {*PLACES, *STRICT, *(case[0] for case in VALUES), "number_out_of_range"}
    assert {*DEFECTS} - cases == {"refused", "too_large"}  # see tests/messages and test_limits.py


@pytest.mark.parametrize(("name", "marked"), MARKDOWN_CASES, ids=short)
def test_a_defect_has_its_name_and_place(name, marked):
    text, offset = split(marked)
    found = check(text)
    lines = text[:offset].split("\n")
    place = (offset, len(lines), len(lines[-1]) + 1)
    assert (found.name, found.offset, found.line, found.column) == (name, *place)
    assert parse(text) == found
    if name != "empty" and not text.lstrip().startswith(
        ("`", "~")
    ):  # a fence moves the place alone
        fenced = check(f"```json\n{text}\n```")
        assert (fenced.name, fenced.offset) == (name, offset + 8)
        assert fenced.reason.split(":")[0] == found.reason.split(":")[0]


@pytest.mark.parametrize(("name", "marked"), STRICT_CASES, ids=short)
def test_strict_mode_has_three_defects_more(name, marked):
    text, offset = split(marked)
    found = check(text, "strict")
    assert (found.name, found.offset) == (name, offset)
    assert parse(text, "strict") == found


@pytest.mark.parametrize(("name", "value", "offset", "place"), VALUES, ids=short)
@pytest.mark.parametrize("parsing", ["strict", "markdown"])
def test_values_have_defects_and_say_where(name, value, offset, place, parsing):
    found = check(value, parsing)
    assert (found.name, found.offset) == (name, offset)
    assert found.reason.endswith(place)
    assert parse(value, parsing) == found


@pytest.mark.parametrize("marked", OUT_OF_RANGE)
@pytest.mark.parametrize("parsing", ["strict", "markdown", "lenient"])
def test_a_number_out_of_range_is_a_defect_to_parse_and_json_all_the_same(marked, parsing):
    text, offset = split(marked)
    found = parse(text, parsing)
    assert (found.name, found.offset) == ("number_out_of_range", offset)
    assert check(text, parsing) is None
    assert check(f"```\n{text}\n```") is None
