"""Matching path by path, in order and in none, against brute force; patches that apply."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_strategies import clashing, shuffled
from pace import at_most

from llmeval_integrations import JsonMatch

STRICT = JsonMatch()
ANY_ORDER = JsonMatch(strict_order=False)
EXTRA = JsonMatch(ignore_extra_keys=True)
BOTH = JsonMatch(strict_order=False, ignore_extra_keys=True)
ALL = {"strict": STRICT, "any order": ANY_ORDER, "extra keys": EXTRA, "both": BOTH}

CASES = [
    # output, reference, which match
    ("[true]", "[1]", ""),
    ("[1, 2]", "[2, 1]", "any both"),
    ("[1, 2, 3]", "[1, 2]", ""),
    ("[[1, 2], [3]]", "[[3], [2, 1]]", "any both"),
    ('{"a": 1, "b": 2}', '{"a": 1}', "extra both"),
    ('{"a": {"x": 1, "y": 2}}', '{"a": {"x": 1}}', "extra both"),
    ('[{"x": 1, "y": 2}, {"x": 3}]', '[{"x": 3}, {"x": 1}]', "both"),
    # pairing the first that fits would leave {"a": 1, "b": 2} without a partner
    ('[{"a": 1, "b": 2}, {"a": 1, "c": 3}]', '[{"a": 1}, {"a": 1, "b": 2}]', "both"),
    (
        '[{"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2}, {"a": 1}]',
        '[{"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}]',
        "any both",
    ),
    (
        '{"l": [[{"a": 1, "b": 2}, {"a": 1, "c": 3}], []]}',
        '{"l": [[], [{"a": 1}, {"a": 1, "b": 2}]]}',
        "both",
    ),
]


@pytest.mark.parametrize(("output", "reference", "which"), CASES)
def test_what_matches(output, reference, which):
    for name, evaluator in ALL.items():
        result = evaluator(output, reference)
        expected = name.split()[0] in which.split()
        assert (result.score, result.passed) == (1.0 if expected else 0.0, expected), name
        assert result.metadata["matched"] is expected


@pytest.mark.parametrize(
    ("output", "reference", "differences"),
    [
        ('{"a": 1}', '{"a": 2}', [("/a", "mismatch", 1, 2)]),
        ('{"a": 1}', '{"a": "1"}', [("/a", "wrong_type", 1, "1")]),
        ("{}", '{"a": null}', [("/a", "missing", ..., None)]),
        ('{"a": null}', "{}", [("/a", "extra", None, ...)]),
        ("[1, 2, 3]", "[1]", [("/2", "extra", 3, ...), ("/1", "extra", 2, ...)]),
        ("1", "2", [("", "mismatch", 1, 2)]),
        ('{"a/b": {"~": 1}}', '{"a/b": {"~": 2}}', [("/a~1b/~0", "mismatch", 1, 2)]),
    ],
)
def test_every_difference_has_its_pointer(output, reference, differences):
    result = STRICT(output, reference)
    told = [
        (found["pointer"], found["kind"], found.get("output", ...), found.get("reference", ...))
        for found in result.metadata["differences"]
    ]
    assert told == differences
    assert result.label == differences[0][1]


flat = st.lists(
    st.dictionaries(st.sampled_from("abc"), st.sampled_from([0, 1]), max_size=3)
    | st.lists(st.dictionaries(st.sampled_from("ab"), st.just(1), max_size=2), max_size=2),
    max_size=4,
)


@pytest.mark.once
@settings(max_examples=100, deadline=None)
@given(clashing | flat, clashing | flat, st.randoms(use_true_random=False))
def test_the_patch_makes_an_output_that_passes(output, reference, choose):
    jsonpatch = pytest.importorskip("jsonpatch")
    for evaluator in ALL.values():
        for other in (reference, shuffled(output, choose)):
            result = evaluator(json.dumps(output), json.dumps(other))
            if result.passed:
                assert "patch" not in result.metadata
                continue
            patch = json.loads(json.dumps(result.metadata["patch"]))
            mended = jsonpatch.apply_patch(json.loads(json.dumps(output)), patch)
            after = evaluator(json.dumps(mended), json.dumps(other))
            assert after.passed, (evaluator, output, other, patch)
            if evaluator is STRICT:
                assert mended == other


@pytest.mark.once
def test_a_limit_that_is_reached_is_named():
    # Item n fits the references 0 to n, so that half of all pairs fit.
    output = [{str(key): 0 for key in range(n + 1)} for n in range(400)]
    reference = [{str(n): 0} for n in range(400)]
    with at_most(3):
        result = BOTH({"a": {"b/c": output[::-1]}}, {"a": {"b/c": reference}})
    assert not result.passed
    assert result.metadata["limit_reached"] == ["/a/b~1c"]
    assert "not all were tried" in result.reason
    assert BOTH(output[:200][::-1], reference[:200]).passed
    assert ANY_ORDER(output, output[::-1]).passed
    assert "limit_reached" not in ANY_ORDER(output[:50], reference[:50]).metadata
    assert "limit_reached" not in BOTH([1, 2], [1, 3]).metadata
