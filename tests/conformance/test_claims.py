"""Our evaluators keep their claims, alone and in frameworks, and known faults are found."""

from functools import partial

import pytest
from pace import PATIENT, TooSlowError

from llmeval_integrations import JsonEquality, JsonMatch, JsonSchema, JsonValidity
from llmeval_integrations.conformance import check_evaluator

check = partial(check_evaluator, **PATIENT)

pytestmark = pytest.mark.once  # test_checking would notice an import that leaks

ANY, TOP, EXTRA = {"list_order": "any"}, {"list_order": "top_level_any"}, {"extra_keys": True}
OURS = [
    (JsonValidity(), "json_validity", {}),
    (JsonEquality(), "json_equality", {}),
    (JsonEquality(list_order="any"), "json_equality", ANY),
    (JsonEquality(list_order="top_level_any"), "json_equality", TOP),
    (JsonMatch(), "json_match", {}),
    (JsonMatch(strict_order=False, ignore_extra_keys=True), "json_match", ANY | EXTRA),
    (JsonSchema(), "json_schema", {}),
]


def assert_conforms(findings):
    assert not findings, str(findings)
    assert findings.tried == findings.cases > 30
    assert findings.seconds < 15  # some 2 s, and what a framework takes to be imported


@pytest.mark.parametrize(
    ("evaluator", "claim", "rules"),
    OURS,
    ids=lambda value: getattr(value, "__name__", repr(value))[:60],
)
def test_our_evaluators_keep_their_claims(evaluator, claim, rules):
    assert_conforms(check(evaluator, claim, **rules))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "claim", "rules"),
    [
        ("json_validity", "json_validity", {}),
        ("json_equality", "json_equality", TOP),  # as LangChain's own; LlamaIndex has none
        ("json_schema_validation", "json_schema", {}),
    ],
)
@pytest.mark.parametrize("framework", ["langchain", "llama_index"])
def test_drop_ins_keep_their_claims(framework, name, claim, rules):
    module = pytest.importorskip(f"llmeval_integrations.frameworks.{framework}")
    rules = rules if framework == "langchain" else {}
    assert_conforms(check(module.load_evaluator(name), claim, **rules))


CUT = {
    *("cut object", "cut array", "cut within a string", "cut after a comma", "cut after a key"),
    "cut before the fence ends",
}
FIRST_ONLY = {
    *("prose after the JSON", "prose before a fence", "two fences", "two documents"),
    *("two lines of documents", "a number with its unit"),
}


def cases(findings, kind):
    """Name the cases of a kind."""
    return {finding.case for finding in findings if finding.kind == kind}


@pytest.mark.usefixtures("few_sizes")
def test_lenient_parsing_has_the_expected_findings():
    found = check(JsonEquality(parsing="lenient"))
    texts = {"closing bracket alone", "raw line break in a string"}
    blamed = {"reference cut", "reference with NaN"}
    assert cases(found, "wrong") == CUT | FIRST_ONLY | texts | blamed
    assert {finding.kind for finding in found} == {"wrong"}


def test_quadratic_time_is_a_finding_and_linear_time_is_none():
    def quadratic(output):
        brackets = output.count("[")
        for _ in range(brackets**2 // 500 if brackets != 100_000 else 0):
            pass
        return JsonValidity()(output)

    def linear(output, reference):
        for _ in range(len(output) * 4):
            pass
        return JsonEquality()(output, reference)

    found = check_evaluator(quadratic, "json_validity", limit=9)
    if not cases(found, "cost"):  # a machine that stands still for the small sizes hides the growth
        raise TooSlowError(str(found))
    assert cases(found, "cost") == {"brackets that never close"}
    assert not cases(check_evaluator(linear, "json_equality", limit=9), "cost")
