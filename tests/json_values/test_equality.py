"""JSON equality, and the one text that all equal values share."""

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from json_strategies import clashing, documents, law

from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.json_values.values import canonical, equal

NUMBERS = (int, float)

CANONICAL = [
    ({"b": 1, "a": [1.0, 0.5]}, '{"a":[1,0.5],"b":1}'),
    ({"é": "ü\u2028", "a": '\n\x00"'}, '{"a":"\\n\\u0000\\"","é":"ü\u2028"}'),
    ({"é": "ü", "a": 1.0}, '{"a":1,"é":"ü"}'),
    ([True, None, False, 1.0], "[true,null,false,1]"),
    ([-0.0, 0], "[0,0]"),
    (1e16, "10000000000000000"),
    (1e-7, "1e-7"),
    ([1e-7, 1.0], "[1e-7,1]"),
    (10**20, "100000000000000000000"),
    (10**307, "1" + "0" * 307),
    ("\ud800", '"\\ud800"'),
    ({}, "{}"),
    ([], "[]"),
]  # fmt: skip


def same(one: Any, other: Any) -> bool:
    """Define equality kind by kind, numbers by their exact value."""
    for kind in (bool, NUMBERS, str, list, dict, type(None)):
        if isinstance(one, kind) or isinstance(other, kind):
            break
    if not (isinstance(one, kind) and isinstance(other, kind)):
        return False
    if kind is NUMBERS:
        return not isinstance(other, bool) and Fraction(one) == Fraction(other)
    if kind is list:
        return len(one) == len(other) and all(map(same, one, other))
    if kind is dict:
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def short(value: object) -> str:
    return str(value)[:30] if isinstance(value, str) else ""


@pytest.mark.parametrize(("value", "text"), CANONICAL, ids=short)
def test_the_canonical_text_is_compact_sorted_and_unescaped(value, text):
    assert canonical(value) == text


@pytest.mark.parametrize("text", ["[NaN]", '{"a": [1, NaN]}', "[Infinity, -Infinity]"])
def test_what_is_no_number_is_itself_within_a_value_and_not_null(text):
    one, other = (parse(text, "lenient") for _ in range(2))
    null = parse(re.sub("NaN|-?Infinity", "null", text))
    assert equal(one, other)
    assert canonical(one, sort_arrays=True) == canonical(other, sort_arrays=True)
    assert canonical(one) == text.replace(" ", "")
    assert not equal(one, null)
    assert canonical(one, sort_arrays=True) != canonical(null, sort_arrays=True)
    assert not equal(parse("NaN", "lenient"), parse("NaN", "lenient"))  # as Python has it


@law
@given(clashing, clashing)
def test_equality_is_what_its_definition_says(one, other):
    assert equal(one, other) == equal(other, one) == same(one, other)
    assert (canonical(one) == canonical(other)) == same(one, other)


@law
@given(documents)
def test_the_canonical_text_is_json_of_an_equal_value(document):
    text = canonical(document)
    assert equal(parse(document), parse(text)) if not isinstance(document, str) else True
    assert canonical(parse(text)) == text
