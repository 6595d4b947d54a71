"""What is the combined score of several evaluators?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, cast

from msgspec.structs import asdict

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import Finite, is_number, option_error
from llmeval_integrations.core.quote import free_name, quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample

Parts: TypeAlias = Mapping[Evaluator, float] | Sequence[tuple[Evaluator, float]]
"""Evaluators with their weights."""


@dataclass(frozen=True)
class WeightedSum(Evaluator):
    """What is the combined score of several evaluators?

    Score: the sum of their scores, each times its weight. True counts as 1 and False as 0. The
    result passes if no part fails. With `threshold`, it passes if the score is at least that. If
    no part passes or fails, neither does the sum. The label is the name and label of the first part
    that fails, and the reason is the sum as a formula. Metadata: `parts`, their results by name.

    If a part is unscored, so is the sum. If a part asks a model, the sum is a judge, too.
    """

    parts: Parts
    """The evaluators with their weights: a mapping, or a list of pairs. On the command line and in
    YAML: `parts: [[json_validity, 1], [{length_penalty: {max_length: 80}}, 0.5]]`."""

    threshold: Finite | None = None
    """The lowest score that passes; with None, no part may fail."""

    def __post_init__(self) -> None:
        if isinstance(self.parts, str) or not isinstance(self.parts, (Mapping, Sequence)):
            raise option_error(
                self, "parts", "a mapping from evaluators to weights, or a list of pairs"
            )
        given = self.parts.items() if isinstance(self.parts, Mapping) else self.parts
        pairs = tuple(map(self._check_pair, given))
        if not pairs:
            raise option_error(self, "parts", "at least one evaluator with its weight")
        super().__post_init__()
        needs = dict.fromkeys(field for part, _ in pairs for field in part.needs)
        # Each part makes a lower sum better; a negative weight reverses a part.
        is_lower = all(part.lower_is_better is (weight > 0) for part, weight in pairs)
        vars(self).update(
            parts=pairs,
            needs=tuple(needs),
            lower_is_better=is_lower and self.threshold is None,
        )
        if any(part.is_judge for part, _ in pairs):
            # The class depends on the parts, so that a sum without judges imports no judge.
            from llmeval_integrations.judges.ensembles import JudgedSum

            if type(self) not in (WeightedSum, JudgedSum):  # whose own methods would be lost
                words = "evaluators without a judge in a class of your own"
                raise option_error(self, "parts", words)
            object.__setattr__(self, "__class__", JudgedSum)

    def _check_pair(self, pair: Any) -> tuple[Evaluator, float]:
        try:
            part, weight = pair
        except (TypeError, ValueError):
            raise option_error(self, "parts", "pairs of an evaluator and its weight") from None
        if not isinstance(part, Evaluator):
            raise InvalidOptionError(f"{self.name}: {quote(part)} is not an evaluator")
        if isinstance(weight, Real) and not isinstance(weight, int):
            weight = float(weight)
        if not is_number(weight):
            raise InvalidOptionError(
                f"{self.name}: {quote(weight)}, the weight of {part.name}, is not a finite number"
            )
        return part, weight

    def pairs(self) -> Sequence[tuple[Evaluator, float]]:
        """Return the evaluators with their weights."""
        return cast("Sequence[tuple[Evaluator, float]]", self.parts)  # since `__post_init__`

    def check(self, sample: Sample) -> Result:
        return self.combine([part.check(sample) for part, _ in self.pairs()])

    def check_many(self, samples: list[Sample]) -> list[Result]:
        columns = [part.check_many(samples) for part, _ in self.pairs()]
        return [self.combine(results) for results in zip(*columns, strict=True)]

    def combine(self, results: Sequence[Result]) -> Result:
        """Combine the results of the parts into one."""
        parts: list[_Part] = []
        for (part, weight), result in zip(self.pairs(), results):
            name = free_name(part.name, [each.name for each in parts])
            parts.append(_Part(name, result, weight))
        metadata = {"parts": {part.name: asdict(part.result) for part in parts}}
        for name, result, _ in parts:
            if not result.scored:
                label = f"{name}: {result.label or 'unscored'}"
                return Result(None, None, label, f"{name}: {result.reason}", metadata)
        score = sum(part.weight * float(part.result.score or 0) for part in parts)
        formula = " + ".join(
            f"{part.weight:g} * {part.name} {float(part.result.score or 0):.4g}" for part in parts
        )
        reason = f"{formula} = {score:.4g}"
        verdicts = [part.result.passed for part in parts if part.result.passed is not None]
        passed = all(verdicts) if verdicts else None
        if self.threshold is not None:
            passed = score >= self.threshold
        failed = [part for part in parts if part.result.passed not in (True, None)]
        if passed or not failed:
            return Result(score, passed, None, reason, metadata)
        label = f"{failed[0].name}: {failed[0].result.label or 'failed'}"
        return Result(score, passed, label, reason, metadata)


class _Part(NamedTuple):
    """The result of a part, with a unique name and the part's weight."""

    name: str
    result: Result
    weight: float
