"""`check_evaluator`: ours keep their claims, and whatever another does is found and contained."""

import asyncio
import ctypes
import itertools
import math
import multiprocessing
import os
import re
import sys
import time
from functools import partial
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from pace import TooSlowError, at_most

from llmeval_integrations import (
    MISSING,
    EvalError,
    InvalidOptionError,
    JsonEquality,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    Result,
    UnknownNameError,
)
from llmeval_integrations.conformance import Finding, check_evaluator, list_claims
from llmeval_integrations.conformance import check as module
from llmeval_integrations.conformance.subject import recognize
from llmeval_integrations.conformance.worker import CAN_ISOLATE, Worker
from llmeval_integrations.frameworks import langchain, llama_index

check = partial(check_evaluator, limit=20, seconds=600)  # a machine may stand still for a moment

RIGHT = JsonEquality()


@pytest.fixture
def few_sizes(monkeypatch):
    """Let families of outputs grow to 2 kB: up to 128 kB they take most of a check's time."""
    monkeypatch.setattr(module, "_SIZES", (1_000, 2_000))


small = pytest.mark.usefixtures("few_sizes")


def cases(findings, kind):
    """Name the cases of a kind."""
    return {finding.case for finding in findings if finding.kind == kind}


def kinds(findings):
    return {finding.kind for finding in findings}


# --- claims --------------------------------------------------------------------------------------

OURS = [JsonValidity(), RIGHT, JsonMatch(), JsonSchema()]


@pytest.mark.parametrize("evaluator", OURS, ids=lambda value: value.name)
def test_our_evaluators_keep_their_claims(evaluator):
    findings = check(evaluator)
    assert not findings, str(findings)
    assert findings.tried == findings.cases > 30
    assert findings.seconds < 15  # some 2 s, and what a framework takes to be imported


def bank(claim):
    return import_module(f"llmeval_integrations.conformance.claims.{claim}").CASES


@small
@pytest.mark.parametrize("evaluator", OURS, ids=lambda value: value.name)
def test_each_wrong_answer_is_a_finding(evaluator):
    def contradicts(output, reference=MISSING):
        try:
            return not evaluator(output, reference).passed
        except EvalError:
            return True

    found = check(contradicts, evaluator.name)
    decided = {case.name for case in bank(evaluator.name) if case.expected != "either"}
    assert cases(found, "wrong") == decided
    assert kinds(found) == {"wrong"}


# --- how evaluators are called, and how findings are told ----------------------------------------


def needs_input(*, prediction, reference, input):
    return {"score": RIGHT(prediction, reference).score}


class LlamaIndexs:
    """Shaped like LlamaIndex's; awaited it takes one output for right, whatever the reference."""

    def __init__(self, answer, flattered=None):
        self.answer, self.flattered = answer, flattered

    def evaluate(self, query=None, response=None, contexts=None, reference=None, **_):
        return self.answer(RIGHT(response, reference))

    async def aevaluate(self, query=None, response=None, contexts=None, reference=None, **_):
        await asyncio.sleep(0)
        return response == self.flattered or self.evaluate(response=response, reference=reference)


async def awaited(output, reference):
    return RIGHT(output, reference)


SHAPES = [
    RIGHT,
    SimpleNamespace(evaluate_strings=needs_input, requires_input=True),
    langchain.load_evaluator("json_equality"),
    llama_index.load_evaluator("json_equality"),
    LlamaIndexs(lambda result: result),
    LlamaIndexs(lambda result: SimpleNamespace(passing=result.passed, score=0.5)),
    lambda output, reference: {"passed": RIGHT(output, reference).passed},
    lambda output, reference: Result(0.9, RIGHT(output, reference).passed),
    lambda output, reference: {"passed": np.bool_(RIGHT(output, reference).passed)},
    awaited,
    lambda *, output, reference: RIGHT(output, reference),
    lambda *, outputs, reference_outputs=None, **_: RIGHT(outputs, reference_outputs),
    lambda output, reference=None, threshold=1: RIGHT(output, reference),
]  # fmt: skip


@pytest.mark.parametrize("evaluator", SHAPES)
def test_evaluators_are_recognized_by_methods_and_signature(evaluator):
    worker = Worker(recognize(evaluator, "json_equality"), isolate=False)
    first_of = {case.expected: case for case in reversed(bank("json_equality"))}
    for expected in ("yes", "no"):
        first, again, later, _ = worker.ask(first_of[expected], 9)
        assert first.says == expected
        assert all(answer is None or answer.agrees_with(first) for answer in (again, later))
    worker.close()


SIGNATURE = r"signature \(.*expected \(output, reference\)"


@pytest.mark.parametrize(
    ("evaluator", "claim", "error", "says"),
    [
        (JsonEquality, "json_equality", InvalidOptionError, "is a class"),
        (5, "json_equality", InvalidOptionError, "or a callable"),
        (lambda output: True, "json_equality", InvalidOptionError, SIGNATURE),
        (lambda one, two, three: True, "json_equality", InvalidOptionError, SIGNATURE),
        (lambda *, text: True, "json_equality", InvalidOptionError, SIGNATURE),
        (RIGHT, 5, UnknownNameError, "5"),
        (awaited, None, UnknownNameError, "name what"),
    ],
)
def test_a_wrong_call_is_an_error(evaluator, claim, error, says):
    with pytest.raises(error, match=says):
        check(evaluator, claim)


@small
def test_findings_are_a_sequence_and_a_text():
    found = check(lambda output, reference: True, "json_equality")
    assert isinstance(found[0], Finding)
    text = str(found)
    assert text.startswith(f"<lambda> as json_equality: {len(found)} findings in 98 cases")
    assert all(len(line) <= 120 for line in text.splitlines())
    half = next(finding for finding in found if finding.case.startswith("half a pair"))
    assert (half.expected, half.got, half.reference) == ("no", "yes: True", "'\"?\"'")
    assert str(check(RIGHT)).startswith("json_equality as json_equality: no finding in 98 cases")
    assert list_claims() == ["json_equality", "json_match", "json_schema", "json_validity"]


# --- whatever an evaluator does ------------------------------------------------------------------

FORKS = pytest.mark.skipif(not CAN_ISOLATE, reason="a thread cannot be given up")


def calls_itself(output, reference):
    return calls_itself(output, reference)


UNCLEAR = [math.nan, math.inf, 7, "yes", 10**400, {"score": "high"}, object()]


@small
@pytest.mark.parametrize(
    ("evaluator", "kind", "isolate"),
    [
        (lambda output, reference: 1 / 0, "raised", False),  # in a thread that goes on, too
        (lambda output, reference: sys.exit(3), "raised", False),
        (calls_itself, "raised", False),
        (lambda output, reference: None, "nothing", False),
        (lambda output, reference: {"score": None}, "nothing", False),
        *((lambda output, reference, value=value: value, "unclear", True) for value in UNCLEAR),
    ],
)
def test_a_missing_answer_is_a_finding(evaluator, kind, isolate):
    found = check(evaluator, "json_equality", isolate=isolate)
    assert found.tried == found.cases
    assert kinds(found) == {kind}
    assert "the same text" in cases(found, kind)


def sleeps(output, reference):
    time.sleep(20)


def holds_the_gil(output, reference):
    return bool(re.match(r"(\w+\s?)+$", "a" * 60 + "!"))


@pytest.mark.parametrize(
    ("evaluator", "isolate"),
    [
        pytest.param(sleeps, True, marks=FORKS),
        (sleeps, False),
        pytest.param(holds_the_gil, True, marks=FORKS),
    ],
)
def test_a_slow_evaluator_is_abandoned(evaluator, isolate):
    with at_most(10, time.monotonic):
        found = check_evaluator(evaluator, "json_equality", limit=0.05, isolate=isolate)
    assert (found.tried, kinds(found)) == (3, {"slow"})
    assert "3 of 98 cases" in next(each.got for each in found if each.case == "all cases")
    assert not multiprocessing.active_children()


@small
def test_cases_beyond_the_time_limit_are_reported():
    def takes_its_time(output, reference):
        time.sleep(0.04)
        return RIGHT(output, reference)

    found = check_evaluator(takes_its_time, "json_equality", seconds=1)
    assert 1 < found.tried < found.cases
    assert [(each.case, each.kind) for each in found] == [("all cases", "slow")]
    assert f"of {found.cases} cases" in str(found)


def test_quadratic_time_is_a_finding():
    def quadratic(output):
        brackets = output.count("[")
        for _ in range(brackets**2 // 500 if brackets != 100_000 else 0):
            pass
        return JsonValidity()(output)

    found = check_evaluator(quadratic, "json_validity", limit=9)
    if not cases(found, "cost"):  # a machine that stands still for the small sizes hides the growth
        raise TooSlowError(str(found))
    assert cases(found, "cost") == {"brackets that never close"}


@FORKS
@small
def test_crashes_and_prints_stay_in_another_process(capfd):
    def reads_nowhere(output, reference):
        print("noise")  # noqa: T201
        os.write(2, b"more noise")
        if output == "null":
            ctypes.string_at(0)
        if output == "false":
            os._exit(0)
        return RIGHT(output, reference)

    found = check_evaluator(reads_nowhere, "json_equality")
    assert {(each.case, each.kind) for each in found} == {("null", "died"), ("false", "died")}
    assert found.tried == found.cases
    assert capfd.readouterr() == ("", "")


def flips(output, reference, calls=itertools.count()):  # noqa: B008 - it counts all calls
    right = RIGHT(output, reference)
    return not right.passed if next(calls) % 2 else right


FLATTERED = LlamaIndexs(lambda result: result, flattered="[1, 2]")


@small
@pytest.mark.parametrize(("evaluator", "kind"), [(flips, "unsteady"), (FLATTERED, "async")])
def test_an_unsteady_answer_is_a_finding(evaluator, kind):
    assert {"a missing item", "items in another order"} <= cases(check(evaluator, "json_equality"), kind)  # fmt: skip
