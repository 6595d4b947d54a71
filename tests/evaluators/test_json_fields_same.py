"""A document beside its own copy ends as it does beside one that is written otherwise."""

import json
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import law

from llmeval_integrations import (
    InvalidReferenceError,
    JsonEquality,
    JsonFields,
    Sample,
    evaluate,
)

NAMES = ["a", "b", "items", "c/d", "0"]
SCALARS = [1, 1.0, True, False, None, "", "a", 10**30, 10**300]
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


@pytest.mark.once
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
    evaluator = JsonFields(fields={"/last": {"order": "any_order"}})
    document = {"first": [1, []], "rows": [{"n": 1}, {"n": 2}], "last": [1]}
    result = evaluator(document, json.loads(json.dumps(document)))
    assert result.metadata["fields"] == {
        "/first/*": {"match": 2},
        "/rows/*/n": {"match": 2},
        "/last/*": {"match": 1},
    }
    assert result.metadata["values"]["/first/*"] == {"match": 1}
    assert result.score == 1


def test_functions_may_change_what_they_are_given():
    def without_id(output, reference):
        return output.pop("id") == reference.pop("id") and output == reference

    document = {"x": {"id": 1, "y": 2}, "z": 1}
    text, fields = json.dumps(document), {"/x": {"compare": without_id}}
    for output, reference in ((text, text), (document, json.loads(text))):
        assert JsonFields(fields=fields)(output, reference).passed
    by_id = JsonFields(fields={"": {"compare": without_id}})
    evaluators = {
        "by id": by_id,
        "all": JsonFields(),
        "operator": JsonEquality(operator=without_id),
    }
    sample = Sample('{"id": 1, "y": 2}', '{"id": 1, "y": 2}')
    for names in permutations(evaluators):
        run = evaluate([sample], {name: evaluators[name] for name in names})
        assert [(row.passed, row.error) for row in run.rows] == [(True, None)] * 3
    assert document == json.loads(text)


class Odd(str):
    """A text that is equal to nothing without an error."""

    __slots__ = ()

    def __eq__(self, other):
        raise ValueError("which?")

    __hash__ = str.__hash__


def test_nothing_but_texts_is_asked_whether_it_is_equal():
    assert JsonFields()("[1]", Odd("[1]")).passed
    with pytest.raises(InvalidReferenceError, match="not a JSON value"):
        JsonFields()("[1]", type("Foreign", (), {"__eq__": Odd.__eq__})())


@pytest.mark.parametrize("levels", [100, 200])
def test_however_deep_it_is_nested_a_document_is_its_copy(levels):
    text = "[" * levels + "1" + "]" * levels
    assert JsonFields()(text, text).passed


@pytest.mark.parametrize("members", [3, 150])
def test_rows_that_have_names_of_their_own(members):
    document = [{f"name {n} {m}": m for m in range(members)} for n in range(20)]
    document[7]["inside"] = {"name": [], "other": {}}
    text = json.dumps(document)
    assert JsonFields()(text, text) == JsonFields()(text, f"{text} ")
