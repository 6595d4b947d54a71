"""Is it JSON, is it an object, is it of a Python type: scores, labels and what stands beside them."""

import collections
import json
from decimal import Decimal
from typing import Optional, Union

import pytest

from llmeval_integrations import JsonObject, JsonValidity, PythonType


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('Here is the JSON: {"a": 1}', "text before the JSON: 'Here is the JSON:' (line 1, column 1)"),
        ('{"a": 1}\nHope that helps!', "text after the JSON: 'Hope that helps!' (line 2, column 1)"),
        ('{"a": [1, 2', "the text stops in the middle: '{\"a\": [1, 2' (line 1, column 12)"),
        ('{"a": 1,}', "a comma before a closing bracket, or after the end: '{\"a\": 1,}' (line 1, column 9)"),
        ('{"a": "so "big" one"}', "a quote without a backslash inside a string: '{\"a\": \"so \"big\" one\"}' (line 1, column 12)"),
        ("", "nothing but white space (line 1, column 1)"),
        ("no " * 30, f"no JSON at all: '{('no ' * 30)[:30]}...' (line 1, column 1)"),
        ({"a": float("nan")}, "nan is not JSON at /a"),
    ],
)  # fmt: skip
def test_a_defect_is_told_in_words_with_the_text_at_its_place(text, words):
    result = JsonValidity()(text)
    assert (result.score, result.passed, result.reason) == (0, False, words)
    if isinstance(text, str):
        with pytest.raises(json.JSONDecodeError) as error:
            json.loads(text)
        assert result.metadata["message"].split(":")[0] == error.value.msg


# --- JsonObject ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "kind", "passes"),
    [
        ('{"a": 1}', "dict", True), ("{}", "dict", True), (" {} ", "dict", True), ("[]", "list", False),
        ('"x"', "str", False), ("1", "int", False), ("1.0", "float", False), ("true", "bool", False),
        ("null", "NoneType", False), ("{", None, False), ("", None, False), ('{"a": 1,}', None, False),
        ("```json\n{}\n```", None, False), ({"a": 1}, "dict", True), ([1], "list", False),
        (None, None, False), ({1: 2}, None, False), (..., None, False), ((1,), "list", False),
    ],
    ids=repr,
)  # fmt: skip
def test_only_an_object_passes(output, kind, passes):
    result = JsonObject()(output)
    assert (result.score, result.passed) == (int(passes), passes)
    assert result.metadata["response"] is ("" if output is None else output)
    assert result.metadata["format"] == kind
    assert result.metadata["json_response_result"] == ("pass" if passes else "fail")
    reason = None if kind is None else f"Expected a JSON object, got {kind}"
    assert passes or kind is None or (result.label, result.reason) == ("not_an_object", reason)


# --- PythonType ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "output", "passes"),
    [
        ("dict", {}, True), ("dict", [], False), ("dict", '{"a": 1}', False), (dict, {}, True),
        ("list", [1], True), ("list", (1,), False), ("str", "", True), ("str", b"", False), ("bytes", b"", True),
        ("int", 1, True), ("int", True, True), ("bool", True, True), ("bool", 1, False), ("float", 1, False),
        ("float", 1.0, True), ("None", None, True), ("NoneType", None, True), ("None", 0, False),
        ("object", None, True), ("dict|list", [], True), ("dict | list", {}, True), ("dict|list", "", False),
        (("dict", list), [], True), ((dict, ("str", ("int",))), 5, True), (("dict", "list|str"), "x", True),
        (Decimal, Decimal(1), True), (dict, collections.Counter(), True),
        (int | str, "x", True), (int | None, None, True), (int | str, 1.0, False),
        ((int | str, "list"), [], True), (Optional[dict], {}, True),  # noqa: UP045
        (Union[int, str], [], False),  # noqa: UP007
    ],
    ids=repr,
)  # fmt: skip
def test_by_isinstance_and_nothing_is_parsed(expected, output, passes):
    result = PythonType(expected)(output)
    assert (result.score, result.passed) == (int(passes), passes)
    assert result.metadata["response"] is output
    assert result.metadata["format"] == type(output).__name__
    assert result.metadata["custom_response_result"] == ("pass" if passes else "fail")
