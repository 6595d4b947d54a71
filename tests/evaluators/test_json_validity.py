"""Is it JSON, is it an object: scores, labels and what the two evaluators tell beside them."""

import collections
import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import JsonObject, JsonValidity

VALID = [
    '{"a": 1}', "[]", "{}", "1", "-0", "1.5e-7", '"x"', "true", "null", " \n{}\t", '"\\ud83d\\ude00"',
    "1e400", "9" * 5_000, '{"": {"": []}}', '"<|endoftext|>"', '{"a": 1, "b": [1, 2, {"c": null}]}',
]  # fmt: skip
INVALID = [
    ("", "empty"), (" \n", "empty"), ("prose", "prose"), ("{", "truncated"), ('{"a": 1', "truncated"),
    ("[1,]", "trailing_comma"), ('{"a": 1,}', "trailing_comma"), ("{'a': 1}", "single_quotes"),
    ("{a: 1}", "unquoted_key"), ('{"a": True}', "python_literal"), ('{"a": NaN}', "nan_or_infinity"),
    ('{"a": -Infinity}', "nan_or_infinity"), ('{"a": "x\ny"}', "control_character"),
    ('{"a": "\\x"}', "invalid_escape"), ('{"a" 1}', "missing_colon"), ("[1 2]", "missing_comma"),
    ("{} {}", "extra_data"), ("}", "mismatched_bracket"), ('{"a": 1} // x', "comment"),
    ("[" * 50_000 + "]" * 50_000, "too_deep"), ("[" * 100_000, "too_deep"), ('"\\ud800"', "lone_surrogate"),
    ('{"a": 01}', "number"), ('Here it is: {"a": 1}', "prose_around"), ('{"a": 1}\nDone.', "prose_around"),
    ("\ufeff{}", "byte_order_mark"),
]  # fmt: skip
FENCED = ['```json\n{"a": 1}\n```', '```\n{"a": 1}\n```', '`{"a": 1}`', '```json\n{"a": 1}']


@pytest.mark.parametrize("text", VALID)
@pytest.mark.parametrize("parsing", ["strict", "markdown", "lenient"])
def test_json_is_valid_in_every_mode(text, parsing):
    result = JsonValidity(parsing)(text)
    assert (result.score, result.passed, result.label, result.reason) == (
        1,
        True,
        None,
        "Valid JSON",
    )


@pytest.mark.parametrize(("text", "defect"), INVALID, ids=lambda value: f"{value:.20}")
@pytest.mark.parametrize("parsing", ["strict", "markdown"])
def test_what_is_no_json_has_its_defect_as_label(text, defect, parsing):
    result = JsonValidity(parsing)(text)
    assert (result.score, result.passed, result.label) == (0, False, defect)
    assert result.reason
    assert 0 <= result.metadata["offset"] <= len(text)
    assert result.metadata["line"] >= 1
    assert result.metadata["column"] >= 1


@pytest.mark.parametrize("text", FENCED)
def test_a_fence_is_a_defect_in_strict_mode_alone(text):
    assert JsonValidity("markdown")(text).passed
    assert JsonValidity("lenient")(text).passed
    assert JsonValidity("strict")(text).label == "code_fence"


def test_a_name_given_twice_is_a_defect_in_strict_mode_alone():
    text = '{"a": 1, "b": {"c": 1, "c": 2}}'
    assert JsonValidity("markdown")(text).passed
    result = JsonValidity("strict")(text)
    assert (result.label, result.metadata["offset"]) == ("duplicate_key", text.rindex('"c"'))


@pytest.mark.parametrize("parsing", ["strict", "markdown", "lenient"])
def test_truncated_text_is_invalid_in_every_mode(parsing):
    assert JsonValidity(parsing)('{"a": [1, 2').label == "truncated"


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        "{'a': 1}",
        "[1 2]",
        "{",
        '{"a" 1}',
        "x",
        '{"a": 1} x',
        '\n\n {"a": tru}',
        "[1,,2]",
    ],
)
def test_the_reason_is_what_pythons_own_parser_says(text):
    result = JsonValidity("strict")(text)
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads(text)
    assert result.reason == str(raised.value)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ({"a": [1, None, "x", 1.5, True]}, None), ((1, (2,)), None), (None, None), (3, None),
        (10**5_000, None), (Decimal("1.5"), None), (collections.OrderedDict(a=1), None),
        ({"a": {1, 2}}, "not_json"), ({1: 2}, "not_json"), (object(), "not_json"), (1j, "not_json"),
        (float("nan"), "nan_or_infinity"), ([float("inf")], "nan_or_infinity"),
        (Decimal("NaN"), "nan_or_infinity"), ("\ud800", "prose"), (["\ud800"], "lone_surrogate"),
        ({"\ud800": 1}, "lone_surrogate"), (b"\xff", "encoding"), (b"{}", None), (bytearray(b"["), "truncated"),
    ],
    ids=lambda value: f"{type(value).__name__}",
)  # fmt: skip
def test_values_that_are_parsed_already_are_checked_too(value, label):
    result = JsonValidity()(value)
    assert (result.passed, result.label) == (label is None, label)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from('{}[]",:0.1e-+\\ntrulfas \n\t`x\u00e9'), max_size=20))
def test_strict_is_what_json_loads_accepts(text):
    try:
        json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        expected = False
    else:
        expected = True
    result = JsonValidity("strict")(text)
    if result.label in ("duplicate_key", "lone_surrogate"):
        expected = False
    assert result.passed is expected


# --- JsonObject ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "kind", "passes"),
    [
        ('{"a": 1}', "dict", True), ("{}", "dict", True), (" {} ", "dict", True), ("[]", "list", False),
        ('"x"', "str", False), ("1", "int", False), ("1.0", "float", False), ("true", "bool", False),
        ("null", "NoneType", False), ("{", None, False), ("", None, False), ('{"a": 1,}', None, False),
        ("```json\n{}\n```", None, False), ({"a": 1}, "dict", True), ([1], "list", False),
        (None, "NoneType", False), ({1: 2}, None, False), (..., None, False), ((1,), "list", False),
    ],
    ids=repr,
)  # fmt: skip
def test_only_an_object_passes(output, kind, passes):
    result = JsonObject()(output)
    assert (result.score, result.passed) == (int(passes), passes)
    assert result.metadata["response"] is output
    assert result.metadata["format"] == kind
    assert result.metadata["json_response_result"] == ("pass" if passes else "fail")


def test_json_that_is_no_object_has_a_label_of_its_own():
    result = JsonObject()("[1]")
    assert (result.label, result.reason) == ("not_an_object", "Expected a JSON object, got list")
    assert JsonObject()("[1").label == "truncated"
    assert JsonObject("markdown")("```json\n{}\n```").passed


def test_what_is_no_json_keeps_its_position():
    result = JsonObject()('{"a": 1,}')
    assert result.label == "trailing_comma"
    assert (result.metadata["line"], result.metadata["column"]) == (1, 9)
