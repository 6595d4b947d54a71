"""How similar two documents are, as one figure."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import clashing, law

from llmeval_integrations import InvalidOptionError, InvalidReferenceError, JsonSimilarity


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        ("abcd", "abcd", 1.0),
        ("abcd", "abcx", 0.75),
        ("abcd", "abxy", 0.0),  # at the threshold nothing is left
        ("abcd", "xyzw", 0.0),
        (12, "12", 1.0),
        (True, "true", 1.0),
        (None, None, 1.0),
        ({"a": "x"}, {"a": "x", "b": "y"}, 1 / 2),
        ({"a": "x", "b": "y"}, {"a": "x"}, 1 / 2),
        ({"a": "x", "b": {"c": 1, "d": 2}}, {"a": "x"}, 1 / 3),
        (["b", "a"], ["a", "b"], 1.0),
        (["a", "c"], ["a", "b"], 1 / 2),
        (["a"], ["a", "b", "c"], 1 / 3),
        ({"a": ["x"]}, {"a": "x"}, 0.0),
        ([{"n": "one", "m": 1}, {"n": "two", "m": 2}], [{"n": "two", "m": 2}, {"n": "one", "m": 3}], 3 / 4),
        ({}, {}, 1.0),
        ([], [], 1.0),
        ({}, [], 1.0),
        ({}, {"a": 1}, 0.0),
    ],
)  # fmt: skip
def test_anls_star(output, reference, score):
    result = JsonSimilarity()(json.dumps(output), json.dumps(reference))
    assert result.score == pytest.approx(score)


@law
@given(clashing, clashing)
def test_laws(one, other):
    evaluator = JsonSimilarity()
    score = evaluator(json.dumps(one), json.dumps(other)).score
    assert 0 <= score <= 1 + 1e-9
    assert evaluator(json.dumps(other), json.dumps(one)).score == pytest.approx(score)
    assert evaluator(json.dumps(one), json.dumps(one)).passed


@law
@given(st.lists(clashing, max_size=5), st.lists(clashing, max_size=5), st.randoms())
def test_the_order_of_items_never_matters(output, reference, choose):
    before = JsonSimilarity()(output, reference).score
    choose.shuffle(output)
    choose.shuffle(reference)
    assert JsonSimilarity()(output, reference).score == pytest.approx(before)


def test_options():
    assert JsonSimilarity(threshold=1.0)("abxy", '"abcd"').label == "prose"
    assert JsonSimilarity(threshold=1.0)('"abxy"', '"abcd"').score == 0.5
    result = JsonSimilarity(min_score=0.7)('"abcd"', '"abcx"')
    assert result.passed
    assert JsonSimilarity()('"abcd"', '"abcx"').reason == "Similarity 0.75 < 1"
    with pytest.raises(InvalidOptionError, match="threshold=2"):
        JsonSimilarity(threshold=2)
    with pytest.raises(InvalidReferenceError):
        JsonSimilarity()("{}", "{")


def test_the_bound_is_named():
    long = [f"item {number}" for number in range(300)]
    other = [f"{item}!" for item in long]
    result = JsonSimilarity()(long, other[::-1])
    assert 0.8 < result.score < 0.9
    assert result.metadata == {"pairing_limit_reached": True}
    assert JsonSimilarity()(long[:100], other[:100]).metadata == {}
    assert JsonSimilarity()(long, long[::-1]).metadata == {}  # what is equal needs no trying
