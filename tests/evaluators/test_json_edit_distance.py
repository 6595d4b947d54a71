"""Edit distance of canonical JSON texts: rapidfuzz's figures, options, bounded work."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import at_most
from rapidfuzz.distance import DamerauLevenshtein, Levenshtein

from llmeval_integrations import JsonEditDistance

EVALUATOR = JsonEditDistance()


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        ('{"a": 1}', '{"a": 1}', 0.0),
        ('{"a": 1.0}', '{"a": 1}', 0.0),
        ('{"a": 1e2}', '{"a": 100}', 0.0),
        ('{"b": 2, "a": 1}', '{"a":1,"b":2}', 0.0),
        ('"é"', '"\\u00e9"', 0.0),
        ('"é"', '"e"', 1 / 3),
        ("true", "1", 1.0),
        ("12", "21", 1 / 2),  # one swap
        ("null", '"null"', 2 / 6),
        ("[]", "{}", 1.0),
        ("[1]", "[2]", 1 / 3),
    ],
)
def test_the_share_of_the_text_that_would_be_typed_anew(output, reference, score):
    result = EVALUATOR(output, reference)
    assert result.score == score
    assert result.passed is (score == 0)
    assert result.metadata == {"exact": True}


def documents(count):
    choose = random.Random(9)

    def value(depth=0):
        if depth > 2 or choose.random() < 0.4:
            return choose.choice([None, True, 12, 21, 1.5, "ab", "ba", "abc", "", "é", "a b c"])
        if choose.random() < 0.5:
            return [value(depth + 1) for _ in range(choose.randint(0, 4))]
        return {
            choose.choice("abc") * choose.randint(1, 2): value(depth + 1)
            for _ in range(choose.randint(0, 4))
        }

    for _ in range(count):
        yield value(), value()


def test_figures_are_those_of_rapidfuzz_on_canonical_text():
    for one, other in documents(500):
        texts = [
            json.dumps(v, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            for v in (one, other)
        ]
        expected = DamerauLevenshtein.normalized_distance(*texts)
        assert EVALUATOR(json.dumps(one), json.dumps(other)).score == expected, texts


def test_other_metrics_and_functions_may_be_named():
    for one, other in documents(200):
        texts = [
            json.dumps(v, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            for v in (one, other)
        ]
        given_texts = json.dumps(one), json.dumps(other)
        named = JsonEditDistance(string_distance="levenshtein")(*given_texts)
        called = JsonEditDistance(string_distance=Levenshtein.normalized_distance)(*given_texts)
        assert named.score == called.score == Levenshtein.normalized_distance(*texts)


def test_a_function_sees_what_canonicalize_writes():
    seen = []

    def measure(one, other):
        seen.append((one, other))
        return 0.25

    result = JsonEditDistance(string_distance=measure, canonicalize=repr)('{"a": 1}', "[2]")
    assert seen == [("{'a': 1}", "[2]")]
    assert (result.score, result.passed) == (0.25, False)


def test_canonicalize_decides_what_counts():
    lower = JsonEditDistance(canonicalize=lambda value: json.dumps(value).lower())
    assert lower('{"A": "X"}', '{"a": "x"}').score == 0.0
    assert EVALUATOR('{"A": "X"}', '{"a": "x"}').score > 0


@pytest.mark.parametrize(
    ("allowed", "passed"), [(0, False), (0.07, False), (0.08, True), (1, True)]
)
def test_it_passes_up_to_the_distance_that_is_allowed(allowed, passed):
    result = JsonEditDistance(threshold=allowed)('{"a": 1, "b": 2}', '{"a": 1, "b": 3}')
    assert result.score == 1 / 13
    assert result.passed is passed
    assert result.reason == (None if passed else f"Edit distance 0.07692 > {allowed:g}")


@pytest.mark.parametrize(
    ("output", "label"),
    [("", "empty"), ("{", "truncated"), ("[1,]", "trailing_comma"), ({1}, "not_json")],
)
def test_an_output_that_is_no_json_is_as_far_as_can_be(output, label):
    result = EVALUATOR(output, "{}")
    assert (result.score, result.passed, result.label) == (1.0, False, label)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abé", max_size=3), inner, max_size=4)
    ),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(values, values)
def test_laws(one, other):
    texts = json.dumps(one), json.dumps(other)
    score = EVALUATOR(*texts).score
    assert 0.0 <= score <= 1.0
    assert score == EVALUATOR(*texts[::-1]).score
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (score == 0.0) is same
    assert EVALUATOR(json.dumps(one, indent=1), json.dumps(one)).score == 0.0


@pytest.mark.nightly
def test_a_megabyte_is_bounded_and_says_so():
    one, other = json.dumps("a" * 1_000_001), json.dumps("b" * 1_000_000)
    for metric in (None, "osa", "levenshtein", "indel"):
        with at_most(5):
            result = JsonEditDistance(string_distance=metric)(one, other)
        assert 0.9 < result.score <= 1.0
        assert result.metadata == {"exact": False}
    same = json.dumps({"a": "x" * 1_000_000, "b": 1}), json.dumps({"b": 2, "a": "x" * 1_000_000})
    assert EVALUATOR(*same).metadata == {"exact": True}


@pytest.mark.nightly
def test_a_text_of_a_megabyte_against_itself_takes_no_time():
    text = json.dumps([{"id": n, "text": "x" * 20} for n in range(25_000)])
    with at_most(2):
        assert EVALUATOR(text, text).score == 0.0
        assert EVALUATOR(text, json.loads(text)).score == 0.0
