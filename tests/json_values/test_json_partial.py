"""Completing a text that was cut: LangChain's values, in a time that does not explode."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import broken_texts, documents, law
from pace import at_most

from llmeval_integrations.json_values.partial import complete


def loads(text: str) -> Any:
    return json.loads(text, strict=False)


COMPLETED = [
    ('{"a": 1, "b": [1, 2', {"a": 1, "b": [1, 2]}),
    ('{"a": 1, "b": [1, ', {"a": 1, "b": [1]}),
    ('{"a": 1, "b": {"c": "some te', {"a": 1, "b": {"c": "some te"}}),
    ('{"a": 1, "b": {"c": "some te\\', {"a": 1, "b": {"c": "some te"}}),
    ('{"a": 1, "b": ', {"a": 1}),
    ('{"a": 1, "b', {"a": 1}),
    ('{"a": 1,', {"a": 1}),
    ('{"a": tru', {}),
    ('{"a": 12.', {"a": 12}),
    ("[1, 2", [1, 2]),
    ("[1, -", [1]),
    ("[[1, [2", [[1, [2]]]),
    ("[", []),
    ("{", {}),
    ('"abc', "abc"),
    ('{"a": "line\none', {"a": "line\none"}),
    ("[1] and more", [1]),
    ("}", None),
    ('{"a": 1]', None),
    ("[NaN, 1", "[NaN, 1]"),
]  # fmt: skip

REFUSED = ["", "prose", "tru", "-", "[1,]", '{"a" 1}', "{'a': 1}"]

PIECES = st.sampled_from(list('{}[]:,"\\1- \n')) | st.sampled_from(
    ['"a"', '"b', "\\u12", '\\"', "1.", "1e", "nul", "null", "NaN", "Infin", '{"a":', "],", '"c":[']
)


def outcome(read: Any, *arguments: Any) -> str:
    """Give the value, NaN included, or the error, as text that can be compared."""
    try:
        return repr(read(*arguments))
    except json.JSONDecodeError as error:
        return f"error: {error}"


@pytest.mark.parametrize(("text", "expected"), COMPLETED)
def test_the_longest_good_beginning_is_read(text, expected):
    value = complete(text, loads)
    assert value == expected or json.dumps(value) == expected


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_good_beginning_raises_python_s_error(text):
    with pytest.raises(json.JSONDecodeError) as raised:
        complete(text, loads)
    with pytest.raises(json.JSONDecodeError) as expected:
        json.loads(text)
    assert str(raised.value) == str(expected.value)


@law
@given(documents)
def test_whole_texts_stay_as_they_are(document):
    assert complete(json.dumps(document), loads) == document


@law
@given(documents, st.floats(0, 1))
def test_a_cut_object_or_array_never_raises(document, where):
    text = json.dumps([document])
    value = complete(text[: max(1, round(where * len(text)))], loads)
    assert isinstance(value, list)


@law
@given(broken_texts | st.lists(PIECES, max_size=14).map("".join))
def test_the_value_or_error_is_langchain_s(text):
    langchain = pytest.importorskip("langchain_core.utils.json")
    assert outcome(complete, text, loads) == outcome(langchain.parse_partial_json, text)


@pytest.mark.once
@pytest.mark.parametrize(
    "text",
    [
        "[" + '{"id": 1, "name": "Ann", "tags": ["a", "b"]}, ' * 22_000,
        "[" * 400 + '["a", ' * 100 + '"b", ' * 200_000,
        '{"a": "' + "\\n" * 500_000,
        '{"a": 1, "b": nonsense, ' + '"c": [1, 2], ' * 80_000,
        "[" + "[], " * 250_000,
    ],
    ids=lambda text: text[:20],
)
def test_a_megabyte_takes_a_few_seconds_at_most(text):
    with at_most(3):
        outcome(complete, text, loads)
