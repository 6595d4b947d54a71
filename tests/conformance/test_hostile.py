"""The check reports whatever an evaluator does, and ends in time."""

import asyncio
import ctypes
import itertools
import json
import math
import multiprocessing
import os
import re
import time

import pytest
from pace import PATIENT, at_most

from llmeval_integrations import JsonEquality, JsonSchema
from llmeval_integrations.conformance import check_evaluator
from llmeval_integrations.conformance.claims import json_schema
from llmeval_integrations.conformance.worker import CAN_ISOLATE

pytestmark = [
    pytest.mark.once,
    pytest.mark.usefixtures("few_sizes"),
]  # test_checking would notice an import that leaks

FORKS = pytest.mark.skipif(not CAN_ISOLATE, reason="a thread cannot be given up")
ISOLATED = pytest.param(True, marks=FORKS)


def raises(error):
    def evaluate(_output, _reference):
        raise error

    return evaluate


def calls_itself(output, reference):
    return calls_itself(output, reference)


def returns(value):
    return lambda output, reference: value


@pytest.mark.parametrize(
    ("evaluator", "kind"),
    [
        *((raises(error), "raised") for error in (KeyError("odd"), SystemExit(3))),
        (calls_itself, "raised"),
        *((returns(value), "nothing") for value in (None, {"score": None})),
        *(
            (returns(value), "unclear")
            for value in (math.nan, math.inf, 7, "yes", 10**400, {"score": "high"}, object())
        ),
    ],
)
def test_a_missing_answer_is_a_finding(evaluator, kind):
    isolate = kind != "raised"  # in a thread that goes on, too
    found = check_evaluator(evaluator, "json_equality", isolate=isolate, **PATIENT)
    assert found.tried == found.cases
    same = next(finding for finding in found if finding.case == "the same text")
    assert same.kind == kind
    assert {finding.kind for finding in found} == {kind}


@pytest.mark.parametrize("isolate", [ISOLATED, False])
def test_a_slow_evaluator_is_abandoned(isolate):
    with at_most(10, time.monotonic):
        found = check_evaluator(
            lambda output, reference: time.sleep(20), "json_equality", limit=0.05, isolate=isolate
        )
    assert (found.tried, {finding.kind for finding in found}) == (3, {"slow"})
    assert "3 of 93 cases" in next(each.got for each in found if each.case == "all cases")


def test_cases_beyond_the_time_limit_are_reported():
    def takes_its_time(output, reference):
        time.sleep(0.04)
        return JsonEquality()(output, reference)

    found = check_evaluator(takes_its_time, "json_equality", seconds=1)
    assert 1 < found.tried < found.cases
    assert [(each.case, each.kind) for each in found] == [("all cases", "slow")]
    assert f"of {found.cases} cases" in str(found)


@FORKS
def test_an_evaluator_that_holds_the_gil_is_abandoned():
    def matches(output, reference):
        return bool(re.match(r"(\w+\s?)+$", "a" * 60 + "!"))

    found = check_evaluator(matches, "json_equality", limit=0.05)
    assert {finding.kind for finding in found} == {"slow"}
    assert not multiprocessing.active_children()


@FORKS
def test_crashes_and_prints_stay_in_another_process(capfd):
    def reads_nowhere(output, reference):
        print("noise")  # noqa: T201
        os.write(2, b"more noise")
        if output == "null":
            ctypes.string_at(0)
        if output == "false":
            os._exit(0)
        return JsonEquality()(output, reference)

    found = check_evaluator(reads_nowhere, "json_equality")
    assert {(each.case, each.kind) for each in found} == {("null", "died"), ("false", "died")}
    assert found.tried == found.cases
    assert capfd.readouterr() == ("", "")


class TwoFaced:
    """Shaped like LlamaIndex's; awaited it takes whatever is there for right."""

    def evaluate(self, query=None, response=None, contexts=None, reference=None, **_):
        return JsonEquality()(response, reference)

    async def aevaluate(self, query=None, response=None, contexts=None, reference=None, **_):
        await asyncio.sleep(0)
        result = JsonEquality()(response, reference)
        return True if response == "[1, 2]" else result


def flips(output, reference, calls=itertools.count()):  # noqa: B008 - it counts all calls
    right = JsonEquality()(output, reference)
    return not right.passed if next(calls) % 2 else right


@pytest.mark.parametrize(("evaluator", "kind"), [(flips, "unsteady"), (TwoFaced(), "async")])
def test_an_unsteady_answer_is_a_finding(evaluator, kind):
    found = check_evaluator(evaluator, "json_equality", **PATIENT)
    assert {"a missing item", "items in another order"} <= {
        each.case for each in found if each.kind == kind
    }


def test_a_changed_reference_is_a_finding():
    before = json.dumps([case.reference for case in json_schema.CASES])

    def changes(output, schema):
        result = JsonSchema()(output, schema)
        if isinstance(schema, dict):
            schema.pop("type", None)
            schema["title"] = "seen"
        return result

    found = check_evaluator(changes, "json_schema", **PATIENT)
    assert "changed" in {finding.kind for finding in found}
    assert json.dumps([case.reference for case in json_schema.CASES]) == before
    assert not check_evaluator(JsonSchema())
