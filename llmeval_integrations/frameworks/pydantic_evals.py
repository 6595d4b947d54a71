"""Our evaluators for pydantic_evals: an `Evaluator` for its datasets.

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

The report lists scores under the evaluator's name.
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
    """One of our evaluators as an asynchronous `Evaluator`.

    The score and the reason have the evaluator's name. The verdict is the assertion NAME_passed,
    and the label is NAME_label. If a judge answers with a label and no score, the label has the
    evaluator's name. An unscored result or a bad call is an error among the case's
    `evaluator_failures`, and no mean counts it. The case's metadata become variables of prompts.
    Their `contexts` and `schema` also become fields of the sample.
    """

    evaluator: OurEvaluator

    def __post_init__(self) -> None:
        Wrapper.__init__(self, self.evaluator)

    def get_default_evaluation_name(self) -> str:
        """Return the name of the evaluator."""
        return self.evaluator.name

    def build_serialization_arguments(self) -> dict[str, Any]:
        """Return the evaluator's repr for a report; it shows no API keys."""
        return {"evaluator": repr(self.evaluator)}

    async def evaluate(
        self, ctx: EvaluatorContext[Any, Any, Any]
    ) -> dict[str, bool | int | float | str | EvaluationReason]:
        """Evaluate the output of a task for one case."""
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
