"""Is the output an instance of a Python type, named or given?"""

import collections
from decimal import Decimal
from typing import Optional, Union

import pytest

from llmeval_integrations import PythonType


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
