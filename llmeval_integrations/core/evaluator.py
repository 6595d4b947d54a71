"""What every evaluator is."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, ClassVar, Protocol, TypeVar

from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample, as_sample

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(name: str) -> str:
    """Write the name of a class in snake case."""
    return _WORD_START.sub("_", name).lower()


class SnakeName:
    """A class's name in snake case, unless the object sets its own."""

    def __get__(self, thing: object, kind: type) -> str:
        return snake_case(kind.__name__)


class Breakdown(Protocol):
    """Adds up, over a run, what an evaluator's metadata say in detail, such as of single fields."""

    def add(self, sample: Any, metadata: Mapping[str, Any], /) -> None:
        """Count one result in; `sample` is the sample's id."""

    def summary(self) -> dict[str, Any]:
        """Return the figures, by names that stand beside those of all evaluators."""


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _serve_llama_index(method: _Method) -> _Method:
    """Have `aevaluate` answer LlamaIndex's `BatchEvalRunner`, which hands on fields by name."""

    @wraps(method)
    async def aevaluate(self: Any, *sample: Any, **fields: Any) -> Any:
        if sample or "sample" in fields:
            return await method(self, *sample, **fields)
        return await _wrap_for_llama_index(self).aevaluate(**fields)

    return aevaluate  # type: ignore[return-value]


def _wrap_for_llama_index(evaluator: Evaluator) -> Any:
    # By name: the core knows no framework until one calls it.
    room = import_module("llmeval_integrations.frameworks.llama_index")
    return room.LlamaIndexEvaluator(evaluator)


class Evaluator(ABC):
    """Turns a sample into a result.

    Subclasses are frozen dataclasses: their fields are their options, checked in
    `__post_init__`, and they write one method, `check`.
    """

    name: str = SnakeName()  # type: ignore[assignment]
    """The class name in snake case, which is also its name in the catalog."""

    aliases: ClassVar[tuple[str, ...]] = ()
    """Further names in the catalog."""

    needs: ClassVar[tuple[str, ...]] = ()
    """The sample's fields without which there is no answer, beside the output."""

    lower_is_better: ClassVar[bool] = False
    """Whether a lower score is a better one, as of a distance."""

    is_judge: ClassVar[bool] = False
    """Whether it asks a model."""

    @abstractmethod
    def check(self, sample: Sample) -> Result:
        """Look at one sample; the one method that an evaluator writes."""

    def breakdown(self) -> Breakdown | None:
        """Make what adds up the details of a run's results, None where there is nothing to add."""
        return None

    def check_many(self, samples: list[Sample]) -> list[Result]:
        """Look at many samples; to be written anew where whole columns are faster."""
        try:
            return [self.check(sample) for sample in samples]
        except RecursionError:  # of one of them, which `evaluate` answers
            return [self.evaluate(sample) for sample in samples]

    def evaluate(self, sample: Sample | Mapping[str, Any]) -> Result:
        """Evaluate one sample."""
        try:
            return self.check(sample if type(sample) is Sample else as_sample(sample))
        except RecursionError:  # the caller left no room on the stack
            return Result.unscored("Nested too deeply to be compared", label="too_deep")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "aevaluate" in vars(cls):
            cls.aevaluate = _serve_llama_index(cls.aevaluate)  # type: ignore[method-assign]

    @_serve_llama_index
    async def aevaluate(self, sample: Sample | Mapping[str, Any]) -> Result:
        """Evaluate one sample without blocking the event loop for longer than the check itself."""
        return self.evaluate(sample)

    async def aevaluate_response(self, **fields: Any) -> Any:
        """Evaluate a response of LlamaIndex's, for its `BatchEvalRunner`."""
        return await _wrap_for_llama_index(self).aevaluate_response(**fields)

    def evaluate_many(self, samples: Iterable[Sample | Mapping[str, Any]]) -> list[Result]:
        """Evaluate samples in order; the first bad call raises."""
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
        """Evaluate one output given by itself."""
        # fmt: off
        return self.evaluate(Sample(
            output, reference, input, contexts, schema, variables, id, group, retrieved, relevant,
            output_b,
        ))
        # fmt: on

    def assert_passes(self, output: Any, reference: Any = MISSING, **fields: Any) -> Result:
        """Evaluate one output; raise AssertionError with the reason unless it passes."""
        return self(output, reference, **fields).assert_passes()
