"""The known faults of the peers that are installed, and of what people write in a line."""

import json

import pytest
from pace import TooSlowError

from llmeval_integrations import JsonEquality, JsonValidity
from llmeval_integrations.conformance import check_evaluator

CUT = {
    *("cut object", "cut array", "cut within a text", "cut behind a comma", "cut behind a key"),
    "cut before the fence ends",
}
FIRST_ONLY = {
    *("prose behind", "prose before a fence", "two fences", "two documents"),
    *("two lines of documents", "a number with its unit"),
}
BOOLEANS = {"true and 1", "false and 0", "true and 1.0, deep down"}
NULLS = {"missing and null", "null and missing", "missing and null, deep down"}
BLAMED = {
    *("reference cut", "reference empty", "reference that is prose", "reference with NaN"),
    "output and reference broken",
}
TOP = {"list_order": "top_level_any"}


def cases(findings, *kinds):
    """Name the cases of these kinds."""
    return {finding.case for finding in findings if finding.kind in kinds}


@pytest.mark.nightly
def test_langchains_equality():
    pytest.importorskip("langchain_classic")
    from langchain_classic.evaluation import JsonEqualityEvaluator

    found = check_evaluator(JsonEqualityEvaluator(), "json_equality", **TOP)
    wrong = cases(found, "wrong")
    assert wrong >= CUT | FIRST_ONLY | BOOLEANS
    assert {"objects turned, allowed", "reference cut"} <= wrong
    # Where it reads no JSON at all, its parser's error ends the run.
    raised = {"empty", "a refusal", "single quotes", "prose before", "100,000 levels"}
    assert raised <= cases(found, "raised")
    assert not wrong & NULLS


def openjudge(module, grader, **options):
    """Make a grader a function of output and reference, awaited as theirs are."""
    peer = pytest.importorskip(f"openjudge.graders.format.json.{module}")
    grader = getattr(peer, grader)(**options)

    async def evaluate(output, reference=None):
        return await grader.aevaluate(response=output, reference_response=reference)

    return evaluate


def test_openjudges_match():
    found = check_evaluator(openjudge("json_match", "JsonMatchGrader"), "json_match")
    wrong = cases(found, "wrong")
    assert wrong >= BOOLEANS | NULLS | BLAMED
    assert not wrong & (CUT | FIRST_ONLY)
    assert "100,000 levels" in cases(found, "raised")


def test_pythons_equality():
    found = check_evaluator(lambda o, r: json.loads(o) == json.loads(r), "json_equality")
    assert cases(found, "wrong") == BOOLEANS | {"reference with NaN"}
    # json.loads takes some prose for none of JSON, and says so in the way that ends a run.
    assert CUT | FIRST_ONLY | {"empty", "100,000 levels"} <= cases(found, "raised")


def test_a_cost_that_explodes_is_found():
    def quadratic(output):
        brackets = output.count("[")
        for _ in range(brackets**2 // 500 if brackets != 100_000 else 0):
            pass
        return JsonValidity()(output)

    found = check_evaluator(quadratic, "json_validity", limit=9)
    explodes = {each.case for each in found if each.kind == "cost"}
    if not explodes:  # a machine that stands still during the small sizes hides the growth
        raise TooSlowError(str(found))
    assert explodes == {"brackets that never close"}


def test_a_cost_that_is_high_and_linear_is_none():
    def linear(output, reference):
        for _ in range(len(output) * 4):
            pass
        return JsonEquality()(output, reference)

    assert "cost" not in {each.kind for each in check_evaluator(linear, "json_equality", limit=9)}
