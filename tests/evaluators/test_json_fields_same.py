"""A document beside its own copy ends as it does beside one that is written otherwise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import law

from llmeval_integrations import JsonFields

NAMES = ["a", "b", "items", "c/d", "0"]
SCALARS = [1, 1.0, True, False, None, "", "a", 10**30, 10**400]
documents = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=15,
)


def half(output, reference):
    return 0.5


SETTINGS = {
    "plain": {},
    "ignored": {"fields": {"/a": {"ignore": True}, "/items/*/b": {"ignore": True}}},
    "ignored items": {"fields": {"/items/*": {"ignore": True}, "/b": {"ignore": True}}},
    "all ignored": {"fields": {"": {"ignore": True}}},
    "by position": {"fields": {"/0/a": {"weight": 3}, "/items/1": {"ignore": True}}},
    "any order": {"fields": {"": {"order": "any_order"}, "/items": {"order": "any_order"}}},
    "by key": {"fields": {"/items": {"key": "a"}}},
    "a function": {"fields": {"/a": {"compare": half}, "/items/*/b": {"compare": half}}},
    "a function for all": {"defaults": {"compare": half}},
    "unique": {"schema": {"properties": {"items": {"uniqueItems": True}}}},
    "first items": {"schema": {"prefixItems": [{"type": "number"}], "items": {"type": "object"}}},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@law
@given(document=documents)
def test_as_beside_another_spelling(settings, document):
    evaluator = JsonFields(**settings)
    text, spaced = json.dumps(document), json.dumps(document, indent=1) + "\n"
    expected = evaluator(text, spaced)
    pairs = [(text, text)]
    if not isinstance(document, str):
        pairs.append((document, json.loads(text)))
    for output, reference in pairs:
        found = evaluator(output, reference)
        assert repr(found) == repr(expected)


def test_nothing_is_counted_twice_where_the_copy_has_to_be_compared_after_all():
    evaluator = JsonFields(fields={"/last": {"compare": half}})
    document = {"first": [1, []], "rows": [{"n": 1}, {"n": 2}], "last": [1]}
    result = evaluator(document, json.loads(json.dumps(document)))
    assert result.metadata["fields"] == {
        "/first/*": {"match": 2},
        "/rows/*/n": {"match": 2},
        "/last": {"mismatch": 1},
    }
    assert result.metadata["values"]["/first/*"] == {"match": 1}
    assert result.score == (2 + 2 + 0.5) / 5
