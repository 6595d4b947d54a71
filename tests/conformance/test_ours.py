"""Whatever evaluator of ours makes one of the claims keeps it, alone and in each framework."""

from functools import partial

import pytest
from pace import PATIENT

from llmeval_integrations import JsonEquality, JsonMatch, JsonSchema, JsonValidity
from llmeval_integrations.conformance import check_evaluator
from llmeval_integrations.judges.replies.judgement import parse_judgement

check = partial(check_evaluator, **PATIENT)

pytestmark = pytest.mark.once  # test_checking would notice an import that leaks

ANY = {"list_order": "any"}
EXTRA = {"extra_keys": True}
TOP = {"list_order": "top_level_any"}

OURS = [
    # evaluator, claim, rules
    (JsonValidity(), "json_validity", {}),
    pytest.param(JsonValidity(parsing="strict"), "json_validity", {}, marks=pytest.mark.nightly),
    (JsonEquality(), "json_equality", {}),
    pytest.param(JsonEquality(parsing="strict"), "json_equality", {}, marks=pytest.mark.nightly),
    (JsonEquality(list_order="any"), "json_equality", ANY),
    (JsonEquality(list_order="top_level_any"), "json_equality", TOP),
    (JsonMatch(), "json_match", {}),
    pytest.param(JsonMatch(parsing="strict"), "json_match", {}, marks=pytest.mark.nightly),
    (JsonMatch(strict_order=False, ignore_extra_keys=True), "json_match", ANY | EXTRA),
    (JsonSchema(), "json_schema", {}),
    pytest.param(JsonSchema(parsing="strict"), "json_schema", {}, marks=pytest.mark.nightly),
    (parse_judgement, "verdict_reading", {}),
]
DROP_INS = [
    ("JsonValidityEvaluator", "json_validity", {}),
    ("JsonEqualityEvaluator", "json_equality", TOP),
    ("JsonSchemaEvaluator", "json_schema", {}),
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
def test_ours_keep_their_claims(evaluator, claim, rules):
    assert_conforms(check(evaluator, claim, **rules))


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "claim", "rules"), DROP_INS)
@pytest.mark.parametrize("framework", ["langchain", "llama_index"])
def test_drop_ins_keep_them_as_they_come(framework, name, claim, rules):
    pytest.importorskip("langchain_core" if framework == "langchain" else "llama_index.core")
    module = pytest.importorskip(f"llmeval_integrations.frameworks.{framework}")
    assert_conforms(check(getattr(module, name)(), claim, **rules))


@pytest.mark.usefixtures("few_sizes")
@pytest.mark.parametrize(
    ("framework", "wrapper"),
    [("langchain", "LangChainEvaluator"), ("llama_index", "LlamaIndexEvaluator")],
)
def test_any_evaluator_keeps_them_in_a_framework(framework, wrapper):
    module = pytest.importorskip(f"llmeval_integrations.frameworks.{framework}")
    assert_conforms(check(getattr(module, wrapper)(JsonMatch()), "json_match"))


LENIENT_TEXTS = {
    *("cut object", "cut array", "cut within a text", "cut behind a comma", "cut behind a key"),
    *("cut before the fence ends", "prose behind", "prose before a fence", "two fences"),
    *("two documents", "two lines of documents", "a number with its unit"),
    *("closing bracket alone", "raw line break in a text"),
}


@pytest.mark.usefixtures("few_sizes")
def test_lenient_reading_is_found_to_be_lenient_and_nothing_else():
    found = check(JsonEquality(parsing="lenient"))
    assert {finding.case for finding in found} == LENIENT_TEXTS | {
        "reference cut",
        "reference with NaN",
    }
    assert {finding.kind for finding in found} == {"wrong"}
