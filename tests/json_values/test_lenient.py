"""Lenient mode reads what LangChain's parser reads, in a time that does not explode."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from json_strategies import OUT_OF_RANGE, broken_texts, kinds, law

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import check, parse

COMPLETED = [
    ('{"a": 1, "b": [1, 2', {"a": 1, "b": [1, 2]}),
    ('{"a": 1, "b": [1, ', {"a": 1, "b": [1]}),
    ('{"a": 1, "b": {"c": "some te\\', {"a": 1, "b": {"c": "some te"}}),
    ('{"a": 1, "b": ', {"a": 1}),
    ('{"a": 1,', {"a": 1}),
    ('{"a": tru', {}),
    ('{"a": 12.', {"a": 12}),
    ("[1, 2", [1, 2]),
    ("[1, -", [1]),
    ('"abc', "abc"),
    ('{"a": "line\none', {"a": "line\none"}),
    ("[1] and more", [1]),
    ("}", None),
    ('{"a": 1]', None),
    ("[NaN, 1", "[NaN, 1]"),
]  # fmt: skip

PIECES = st.sampled_from(list('{}[]:,"\\1- \n')) | st.sampled_from(
    ['"a"', '"b', "\\u12", '\\"', "1.", "1e", "nul", "null", "NaN", "Infin", '{"a":', "],", '"c":[']
)
texts = broken_texts | st.lists(PIECES, max_size=14).map("".join)


@pytest.mark.parametrize(("text", "expected"), COMPLETED)
def test_the_longest_good_beginning_is_read(text, expected):
    value = parse(text, "lenient")
    assert value == expected or json.dumps(value) == expected


@law
@given(texts)
def test_check_completes_nothing_in_lenient_mode(text):
    assume(not OUT_OF_RANGE.search(text))
    value, defect = parse(text, "lenient"), check(text, "lenient")
    assert defect is not None or not isinstance(value, Defect)


@law
@given(texts)
def test_lenient_mode_is_langchain_s(text):
    langchain = pytest.importorskip("langchain_core.utils.json")
    assume(not OUT_OF_RANGE.search(text))
    expected, value = langchain_reads(langchain, text), parse(text, "lenient")
    if isinstance(expected, json.JSONDecodeError):
        assert value.reason == str(expected)
        assert 0 <= value.offset <= len(text)
    elif holds_surrogate(expected):
        assert value.name == "lone_surrogate"
    else:
        assert as_floats(value) == as_floats(expected)


@law
@given(texts)
def test_lenient_check_is_langchain_s_with_python_s_parser(text):
    langchain = pytest.importorskip("langchain_core.utils.json")
    assume(not OUT_OF_RANGE.search(text))
    expected, found = langchain_reads(langchain, text, parser=json.loads), check(text, "lenient")
    assume(not holds_surrogate(expected))
    assert (found and found.reason) == (
        str(expected) if isinstance(expected, json.JSONDecodeError) else None
    )


def langchain_reads(langchain: Any, text: str, **options: Any) -> Any:
    """Give LangChain's value, or the error it raises."""
    try:
        return langchain.parse_json_markdown(text, **options)
    except json.JSONDecodeError as error:
        return error


def holds_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False


def as_floats(value: Any) -> Any:
    """Write a value so that NaN is itself."""
    return kinds(value) if "nan" not in repr(value) else repr(value)
