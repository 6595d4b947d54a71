"""The base class of all evaluators."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, ClassVar, Protocol

from llmeval_integrations.core.options import check_choice, read_rules
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample, as_sample

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(name: str) -> str:
    """Write the name of a class in snake case."""
    return _WORD_START.sub("_", name).lower()


class SnakeName:
    """The name of a class in snake case, unless an object sets its own name."""

    def __get__(self, thing: object, kind: type) -> str:
        return snake_case(kind.__name__)


class Breakdown(Protocol):
    """Adds up details from the metadata of a run's results, such as figures of single fields."""

    def add(self, sample: Any, metadata: Mapping[str, Any], /) -> None:
        """Add one result; `sample` is the sample's id."""

    def summary(self) -> dict[str, Any]:
        """Return the figures by name, to be added to the evaluator's summary."""


def _wrap_for_llama_index(evaluator: Evaluator) -> Any:
    # Imported by name, because the core does not depend on frameworks.
    room = import_module("llmeval_integrations.frameworks.llama_index")
    return room.LlamaIndexEvaluator(evaluator)


class Evaluator(ABC):
    """Turns a sample into a result.

    Subclasses are frozen dataclasses. Their fields are their options, and they implement one
    method, `check`. An option that is annotated as a bool, a Literal, or with a type of
    `core.options`, such as `ZeroToOne`, is checked when an evaluator is built. A subclass with a
    `__post_init__` of its own calls this one first.
    """

    name: str = SnakeName()  # type: ignore[assignment]
    """The name in the catalog: the class name in snake case."""

    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names in the catalog."""

    needs: ClassVar[tuple[str, ...]] = ()
    """The fields of a sample that are required, besides the output."""

    lower_is_better: ClassVar[bool] = False
    """Whether a lower score is better, as for a distance."""

    is_judge: ClassVar[bool] = False
    """Whether it asks a model."""

    def __post_init__(self) -> None:
        choices, checks = read_rules(type(self))
        for option, allowed in choices.items():
            value = getattr(self, option)
            if (type(value), value) not in allowed:
                check_choice(self, option, [value for _, value in allowed])
        for check in checks:
            check(self)

    @abstractmethod
    def check(self, sample: Sample) -> Result:
        """Evaluate one sample; the only method that a subclass has to implement."""

    def breakdown(self) -> Breakdown | None:
        """Return an object that adds up details of a run, or None if there are none."""
        return None

    def check_many(self, samples: list[Sample]) -> list[Result]:
        """Evaluate many samples. Subclasses may override it if whole columns are faster."""
        try:
            return [self.check(sample) for sample in samples]
        except RecursionError:  # of one of them, which `evaluate` answers
            return [self.evaluate(sample) for sample in samples]

    def evaluate(self, sample: Sample | Mapping[str, Any]) -> Result:
        """Evaluate one sample."""
        try:
            return self.check(sample if type(sample) is Sample else as_sample(sample))
        except RecursionError:  # the caller's stack is nearly full
            return Result.unscored("Nested too deeply to be compared", label="too_deep")

    async def aevaluate(
        self, sample: Sample | Mapping[str, Any] | None = None, **fields: Any
    ) -> Result:
        """Evaluate one sample in a coroutine.

        LlamaIndex's `BatchEvalRunner` passes the fields of a response by name instead, and gets its
        own kind of result.
        """
        if "response" in fields:
            result: Result = await _wrap_for_llama_index(self).aevaluate(**fields)
            return result
        if fields:
            raise TypeError(f"aevaluate() has no argument {next(iter(fields))!r}; pass a sample")
        return await self.acheck(as_sample(sample or {}))

    async def acheck(self, sample: Sample) -> Result:
        """Evaluate one sample in a coroutine. Subclasses that wait for something override it."""
        return self.evaluate(sample)

    async def aevaluate_response(self, **fields: Any) -> Any:
        """Evaluate a response of LlamaIndex, for its `BatchEvalRunner`."""
        return await _wrap_for_llama_index(self).aevaluate_response(**fields)

    def evaluate_many(self, samples: Iterable[Sample | Mapping[str, Any]]) -> list[Result]:
        """Evaluate samples in order; raise an error at the first bad call."""
        return self.check_many([as_sample(sample) for sample in samples])

    def __call__(
        self,
        output: Any,
        reference: Any = MISSING,
        input: Any = MISSING,
        *,
        contexts: Any = MISSING,
        schema: Any = MISSING,
        variables: Any = MISSING,
        id: Any = MISSING,
        group: Any = MISSING,
        retrieved: Any = MISSING,
        relevant: Any = MISSING,
        output_b: Any = MISSING,
    ) -> Result:
        """Evaluate one output, with the other fields of its sample."""
        # fmt: off
        return self.evaluate(Sample(
            output, reference, input, contexts, schema, variables, id, group, retrieved, relevant,
            output_b,
        ))
        # fmt: on

    def assert_passes(self, output: Any, reference: Any = MISSING, **fields: Any) -> Result:
        """Evaluate one output; raise AssertionError with the reason if it does not pass."""
        return self(output, reference, **fields).assert_passes()
