"""The arguments and findings of `check_evaluator`."""

import json
from functools import partial
from types import SimpleNamespace

import pytest
from pace import PATIENT

from llmeval_integrations import (
    InvalidOptionError,
    JsonEquality,
    Result,
    UnknownNameError,
)
from llmeval_integrations.conformance import Finding, check_evaluator, list_claims
from llmeval_integrations.conformance.case import Case
from llmeval_integrations.conformance.check import select
from llmeval_integrations.conformance.subject import recognize
from llmeval_integrations.conformance.worker import Worker

pytestmark = pytest.mark.usefixtures("few_sizes")

check = partial(check_evaluator, **PATIENT)

CLAIMS = ["json_equality", "json_match", "json_schema", "json_validity"]
RIGHT = JsonEquality()


def bank(claim, list_order="strict", extra_keys=False):
    found = select(claim, list_order, extra_keys=extra_keys)
    return [case for case in found if isinstance(case, Case)]


def key(output, reference):
    return output, json.dumps(reference, default=repr)


def oracle(claim, *, wrong=False):
    """Make a function that knows the bank's answers, or the opposite of each."""
    opposite = {"yes": "no", "no": "yes", "an error": "yes"}
    answers = {
        key(case.output, getattr(case.reference, "name", case.reference)): case.expected
        for case in bank(claim)
    }

    def answer(output, reference=None):
        known = "MISSING" if claim == "json_validity" else reference
        expected = answers.get(key(output, known), "either")
        expected = opposite.get(expected, "either") if wrong else expected
        if expected == "an error":
            raise ValueError(reference)
        return expected == "yes"

    return answer


@pytest.mark.parametrize("claim", CLAIMS)
def test_right_answers_have_no_finding_and_each_wrong_answer_has_one(claim):
    found = check(oracle(claim), claim)
    assert not found, str(found)
    found = check(oracle(claim, wrong=True), claim)
    decided = {case.name for case in bank(claim) if case.expected != "either"}
    assert {(each.case, each.kind) for each in found} == {(name, "wrong") for name in decided}
    ranks = [("high", "medium", "low").index(finding.severity) for finding in found]
    assert ranks == sorted(ranks)


def shape_of_langchain(**attributes):
    def evaluate_strings(*, prediction, reference=None, input=None):
        return {"score": RIGHT(prediction, reference).score, "reasoning": ""}

    return SimpleNamespace(evaluate_strings=evaluate_strings, **attributes)


def shape_of_llama_index(answer):
    class Shaped:
        def evaluate(self, query=None, response=None, contexts=None, reference=None, **_):
            return answer(RIGHT(response, reference))

    return Shaped()


async def awaited(output, reference):
    return RIGHT(output, reference)


class Foreign:
    """A truth value of another library, as numpy's, which is not a bool."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)


def always(output):
    return True


SHAPES = [
    RIGHT,
    shape_of_langchain(requires_reference=True, requires_input=True),
    shape_of_llama_index(lambda result: result),
    shape_of_llama_index(lambda result: SimpleNamespace(passing=result.passed, score=0.5)),
    lambda output, reference: {"passed": RIGHT(output, reference).passed},
    lambda output, reference: Result(0.9, RIGHT(output, reference).passed),
    lambda output, reference: {"passed": Foreign(RIGHT(output, reference).passed)},
    awaited,
    lambda *, output, reference: RIGHT(output, reference),
    lambda *, outputs, reference_outputs=None, **_: RIGHT(outputs, reference_outputs),
    lambda output, reference=None, threshold=1: RIGHT(output, reference),
]  # fmt: skip


@pytest.mark.parametrize("evaluator", SHAPES)
def test_evaluators_are_recognized_by_methods_and_signature(evaluator):
    worker = Worker(recognize(evaluator, "json_equality"), isolate=False)
    cases = {case.expected: case for case in reversed(bank("json_equality"))}
    for expected in ("yes", "no"):
        first, again, later, *_ = worker.ask(cases[expected], 9)
        assert first.says == expected
        assert all(answer is None or answer.agrees_with(first) for answer in (again, later))
    worker.close()


@pytest.mark.parametrize(
    ("evaluator", "claim", "options", "error", "says"),
    [
        (JsonEquality, "json_equality", {}, InvalidOptionError, "is a class"),
        (5, "json_equality", {}, InvalidOptionError, "or a callable"),
        (RIGHT, 5, {}, UnknownNameError, "5"),
        (awaited, None, {}, UnknownNameError, "name what"),
        *(
            (RIGHT, None, {name: value}, InvalidOptionError, name)
            for name, value in {"list_order": "none", "limit": 0, "seconds": "1"}.items()
        ),
        *(
            (function, "json_equality", {}, InvalidOptionError, r"signature \(.*expected \(output, reference\)")
            for function in (always, lambda one, two, three: True, lambda *, text: True)
        ),
    ],
)  # fmt: skip
def test_a_wrong_call_is_an_error(evaluator, claim, options, error, says):
    with pytest.raises(error, match=says):
        check(evaluator, claim, **options)


def test_findings_are_a_sequence_and_a_text():
    found = check(lambda output, reference: True, "json_equality")
    assert isinstance(found[0], Finding)
    text = str(found)
    assert text.startswith(f"<lambda> as json_equality: {len(found)} findings in 93 cases")
    assert all(len(line) <= 120 for line in text.splitlines())
    half = next(finding for finding in found if finding.case.startswith("half a pair"))
    assert (half.expected, half.got, half.reference) == ("no", "yes: True", "'\"?\"'")
    found = check(RIGHT)
    assert not found
    assert str(found).startswith("json_equality as json_equality: no finding in 93 cases")
    assert list_claims() == CLAIMS
