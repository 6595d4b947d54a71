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
        (True, "true", 1.0),
        ({"a": "x"}, {"a": "x", "b": "y"}, 1 / 2),
        ({"a": "x", "b": {"c": 1, "d": 2}}, {"a": "x"}, 1 / 3),
        (["b", "a"], ["a", "b"], 1.0),
        (["a"], ["a", "b", "c"], 1 / 3),
        ([{"n": "one", "m": 1}, {"n": "two", "m": 2}], [{"n": "two", "m": 2}, {"n": "one", "m": 3}], 3 / 4),
        ({}, {}, 1.0),
        # a pair with nothing in common counts as the authors count it
        ({"p": {"a": "x"}, "q": "q"}, {"p": {"b": "y"}, "q": "q"}, 1 / 3),
        ([{"sku": "one", "extra": "zzz"}, {"sku": "two"}], [{"vendor": "abcdef", "n": "qrstuv"}, {"sku": "two"}], 1 / 5),
    ],
)  # fmt: skip
def test_anls_star(output, reference, score):
    result = JsonSimilarity()(json.dumps(output), json.dumps(reference))
    assert result.score == pytest.approx(score)


records = st.lists(
    st.dictionaries(st.sampled_from("abc"), st.sampled_from(["x", "yy", "z"]), max_size=3),
    max_size=4,
)


arrays = st.lists(clashing, max_size=5) | records


@law
@given(arrays, arrays, st.randoms())
def test_it_is_symmetric_and_the_order_of_items_never_matters(output, reference, choose):
    evaluator = JsonSimilarity()
    before = evaluator(output, reference).score
    assert 0 <= before <= 1 + 1e-9
    assert evaluator(reference, output).score == pytest.approx(before)
    assert evaluator(output, output).passed
    choose.shuffle(output)
    choose.shuffle(reference)
    assert evaluator(output, reference).score == pytest.approx(before)


def test_options():
    assert JsonSimilarity(tau=1.0)("abxy", '"abcd"').label == "prose"
    assert JsonSimilarity(tau=1.0)('"abxy"', '"abcd"').score == 0.5
    result = JsonSimilarity(threshold=0.7)('"abcd"', '"abcx"')
    assert result.passed
    assert JsonSimilarity()('"abcd"', '"abcx"').reason == "Similarity 0.75 < 1"
    reference = dict.fromkeys(map(str, range(30_000)), "x")
    failed = JsonSimilarity(threshold=0.99999)({**reference, "1": "y"}, reference)
    assert failed.reason == "Similarity 0.99997 < 0.99999"  # and not 1 < 0.99999
    with pytest.raises(InvalidOptionError, match="tau=2"):
        JsonSimilarity(tau=2)
    with pytest.raises(InvalidReferenceError):
        JsonSimilarity()("{}", "{")


def test_the_bound_is_named():
    long = [f"item {number}" for number in range(350)]
    other = [f"{item}!" for item in long]
    result = JsonSimilarity()(long, other[::-1])
    assert 0.8 < result.score < 0.9
    assert result.metadata["limit_reached"]
    assert JsonSimilarity()(long[:100], other[:100]).metadata == {}
    assert JsonSimilarity()(long, long[::-1]).metadata == {}  # what is equal needs no trying


# --- The authors' package ------------------------------------------------------------------------

# output, reference, and what anls-star 1.0.1 gives; 0 where it raises
PACKAGE = [
    ("abcd", "abcd", 1.0),
    ("Harbor  LTD", "harbour ltd", 0.9090909090909091),
    ("abcd", "abxy", 0.5),
    ({"a": None}, {}, 0.0),
    ({"a": "x", "b": {"c": 1}}, {"a": "x"}, 0.5),
    (["b", "a"], ["a", "b"], 1.0),
    (["a"], ["a", "b", None], 0.3333333333333333),
    ("b", ["a", "bc", "b"], 1.0),
    ("x", [], 0.0),
    ([1, True, 2.5], ["1", "true", "2.5"], 1.0),
    ([{"n": "one", "m": 1}, {"n": "two"}], [{"n": "two", "m": 2}, {"n": "one", "m": 3}], 0.5),
    ({}, {}, 1.0),
    ({"a": []}, {"a": None}, 1.0),
    ({"a": [{"b": "Rome"}, {"b": "Paris"}]}, {"a": [{"b": "paris", "c": 1}, {"b": "rome"}]}, 0.6666666666666666),
]  # fmt: skip


@pytest.mark.parametrize(("output", "reference", "score"), PACKAGE)
def test_the_variant_is_the_figure_of_the_package(output, reference, score):
    result = JsonSimilarity(variant="anls_star")(json.dumps(output), json.dumps(reference))
    assert result.score == pytest.approx(score, abs=1e-9)
    assert result.passed is (score == 1)
