"""Differences path by path and patches that apply; tests/conformance has what matches."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_strategies import clashing, shuffled
from pace import at_most

from llmeval_integrations import JsonFields, JsonMatch

STRICT = JsonMatch()
ANY_ORDER = JsonMatch(strict_order=False)
BOTH = JsonMatch(strict_order=False, ignore_extra_keys=True)
ALL = [STRICT, ANY_ORDER, JsonMatch(ignore_extra_keys=True), BOTH]


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
    listed = [
        (found["pointer"], found["kind"], found.get("output", ...), found.get("reference", ...))
        for found in result.metadata["differences"]
    ]
    assert listed == differences
    assert result.label == differences[0][1]


def test_an_empty_object_is_paired_with_an_object_that_may_have_extra_members():
    result = BOTH([5, {"a": 1}], [{}, 7])
    assert result.reason == "/0 5, expected 7"


@pytest.mark.parametrize(
    "evaluator", [ANY_ORDER, BOTH, JsonFields(defaults={"order": "any_order"})]
)
def test_nested_arrays_in_any_order_are_compared_down_to_100_levels(evaluator):
    output, reference = 1, 2
    for _ in range(100):
        output, reference = [output, 5], [reference, 6]
    assert not evaluator(output, reference).passed


@pytest.mark.once
def test_what_matches_nothing_is_not_tried():
    empty, scalars = [{}] * 400, [*range(400), {"a": 1}]
    assert "limit_reached" not in ANY_ORDER([{"a": 1}] * 400, empty).metadata
    in_any_order = JsonFields(defaults={"order": "any_order"}, empty="values")
    for output, reference in ((scalars, [*range(500, 900), {"a": 2}]), ([{"a": 1}] * 400, empty)):
        assert "limit_reached" not in in_any_order(output, reference).metadata


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
    for evaluator in ALL:
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
