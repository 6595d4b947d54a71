"""Our evaluators for pydantic_evals: an `Evaluator` of its datasets.

    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.pydantic_evals import PydanticEvaluator
    from pydantic_evals import Case, Dataset

    dataset = Dataset(
        name="lists",
        cases=[Case(name="one", inputs="A list, please.", expected_output="[1.0]")],
        evaluators=[PydanticEvaluator(JsonEquality())],
    )
    report = dataset.evaluate_sync(lambda question: "[1]")
    report.cases[0].scores["json_equality"].value  # 1.0

Scores stand in the report under the evaluator's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmeval_integrations.core.evaluator import Evaluator as OurEvaluator
from llmeval_integrations.frameworks._base import UnscoredError, Wrapper, make_sample, optional

with optional("pydantic_evals", "pydantic-evals", "pydantic-evals"):
    from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

__all__ = ["PydanticEvaluator", "UnscoredError"]


@dataclass(repr=False)
class PydanticEvaluator(Wrapper, Evaluator[Any, Any, Any]):  # type: ignore[misc]
    """One of our evaluators as an `Evaluator`, which is awaited.

    The score stands under the evaluator's name, with the reason, what passed is the assertion
    NAME_passed, and the label, where there is one, NAME_label. An unscored result is an
    UnscoredError and a bad call its own error among the case's `evaluator_failures`: no mean has
    them. A label that is an answer without a score is a label under the evaluator's name. The
    case's metadata are variables of prompts, their `contexts` the contexts, their `schema` the
    schema. A data set in a file has the evaluator's repr, which is not read back.
    """

    evaluator: OurEvaluator

    def __post_init__(self) -> None:
        Wrapper.__init__(self, self.evaluator)

    def get_default_evaluation_name(self) -> str:
        """Return the name of the evaluator."""
        return self.evaluator.name

    def build_serialization_arguments(self) -> dict[str, Any]:
        """Say in a report what was evaluated with: its repr, which shows no keys."""
        return {"evaluator": repr(self.evaluator)}

    async def evaluate(
        self, ctx: EvaluatorContext[Any, Any, Any]
    ) -> dict[str, bool | int | float | str | EvaluationReason]:
        """Evaluate what a task gave for one case."""
        sample = make_sample(
            self.evaluator,
            ctx.output,
            ctx.metadata,
            reference=ctx.expected_output,
            input=ctx.inputs,
            id=ctx.name,
        )
        name, result = self.name, await self.evaluator.aevaluate(sample)
        if result.score is None and result.answered and result.label is not None:
            return {name: EvaluationReason(result.label, result.reason)}
        found: dict[str, Any] = {name: EvaluationReason(self.require_figure(result), result.reason)}
        if result.passed is not None:
            found[f"{name}_passed"] = bool(result.passed)
        if result.label is not None:
            found[f"{name}_label"] = result.label
        return found
