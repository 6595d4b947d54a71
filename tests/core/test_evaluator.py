"""The fields of a sample reach an evaluator, a full stack is no error, and errors form a tree."""

import asyncio
import pickle
import sys
from dataclasses import dataclass
from typing import Literal

import numpy
import pytest

from llmeval_integrations import (
    Evaluator,
    InputError,
    InvalidOptionError,
    JsonValidity,
    Result,
    Sample,
)
from llmeval_integrations.core import errors
from llmeval_integrations.core.options import ZeroToOne


@pytest.mark.parametrize(
    ("thing", "named"),
    [
        ("a text", "'a text'"),
        (None, "None"),
        ({}, "needs an output"),
        ({"output": 1, "prediction": 2}, "prediction"),
        ([10**5000], "got"),
        ("long " * 10**6, "long"),
    ],
    ids=["text", "None", "empty", "unknown", "list", "long"],
)
def test_what_is_no_sample_is_an_error_however_it_is_given(thing, named):
    for call in (JsonValidity().evaluate, lambda sample: JsonValidity().evaluate_many([sample])):
        with pytest.raises(InputError, match=named) as raised:
            call(thing)
        assert len(str(raised.value)) < 600
    with pytest.raises(InputError):
        asyncio.run(JsonValidity().aevaluate(thing))


@dataclass(frozen=True)
class Checked(Evaluator):
    strict: bool = False
    level: Literal["low", "high"] | None = None
    share: ZeroToOne | None = None

    def check(self, sample: Sample) -> Result:
        return Result(1, True)


@dataclass(frozen=True)
class Unresolved(Checked):
    other: "imported.for_a_type_checker" = None  # noqa: F821


def test_options_of_own_evaluators_are_checked_by_their_annotations():
    assert (built := Checked(share=numpy.float32(0.5)).share) == 0.5
    assert type(built) is float
    for options in (
        {"strict": 1},
        {"level": "High"},
        {"level": True},
        {"share": 1.1},
        {"share": True},
    ):
        [(name, value)] = options.items()
        with pytest.raises(InvalidOptionError, match=f"checked: {name}={value!r} is not "):
            Checked(**options)
    assert Unresolved("yes").strict == "yes"  # what cannot be resolved is not checked


def test_every_field_of_a_sample_reaches_the_evaluator():
    @dataclass(frozen=True)
    class Echo(Evaluator):
        def check(self, sample: Sample) -> Result:
            return Result(1, True, metadata={"sample": sample})

    fields = {"input": 3, "contexts": 4, "schema": 5, "variables": 6, "id": 7, "group": 8}
    expected = Sample(1, 2, **fields)
    assert Echo()(1, 2, **fields).metadata["sample"] == expected
    assert Echo().assert_passes(1, 2, **fields).metadata["sample"] == expected


# --- recursion ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descending(Evaluator):
    """Does the stack hold as many frames as the output says?"""

    def check(self, sample: Sample) -> Result:
        return Result(self._descend(sample.output), True)

    def _descend(self, levels: int) -> int:
        return 1 + self._descend(levels - 1) if levels else 0


def test_what_the_stack_has_no_room_for_is_unscored_and_the_others_are_not():
    too_deep = Descending()(sys.getrecursionlimit() * 2)
    assert (too_deep.scored, too_deep.passed, too_deep.label) == (False, None, "too_deep")
    for results in (
        Descending().evaluate_many({"output": levels} for levels in (3, 10**5, 4)),
        [asyncio.run(Descending().aevaluate({"output": levels})) for levels in (3, 10**5, 4)],
    ):
        assert [result.score for result in results] == [3, None, 4]


# --- errors ------------------------------------------------------------------------------------

TREE = {
    ValueError: "InvalidOption MissingField InvalidReference InvalidSchema RegexTimeout Input UnreadableJudgement",
    LookupError: "UnknownName",
    RuntimeError: "Judge Client CutReply RefusedReply RejectedAnswer",
    ImportError: "MissingDependency",
}  # fmt: skip


def test_every_error_is_ours_and_a_builtin_and_survives_pickling():
    kinds = {f"{name}Error": kind for kind, names in TREE.items() for name in names.split()}
    classes = {
        name: one for name, one in vars(errors).items() if str(one).startswith("<class 'llmeval")
    }
    assert classes.keys() - {"EvalError"} == kinds.keys()
    for name, kind in kinds.items():
        error = classes[name]("what is wrong")
        assert isinstance(error, errors.EvalError)
        assert isinstance(error, kind)
        twin = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert (type(twin), str(twin)) == (type(error), str(error))


def test_a_missing_package_is_worded_in_one_way():
    error = errors.MissingDependencyError.of("openai", "openai")
    assert str(error) == "openai is not installed; run: pip install 'llmeval-integrations[openai]'"
