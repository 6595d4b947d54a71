"""Our evaluators for LangSmith: its `RunEvaluator`, and the function of openevals and agentevals.

    from langsmith import evaluate
    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.langsmith import LangSmithEvaluator

    equal = LangSmithEvaluator(JsonEquality(), output="answer")
    equal(outputs={"answer": "[1]", "cost": 3}, reference_outputs="[1.0]")["score"]  # 1.0

    experiment = evaluate(
        my_chain, data=examples, evaluators=[equal], upload_results=False, client=client
    )

Even with `upload_results=False`, LangSmith sends the inputs and outputs of `aevaluate`'s target.
`Client(tracing_sampling_rate=0)` prevents this.
"""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.frameworks._base import Keys, Wrapper, optional

with optional("langsmith", "langsmith", "langsmith"):
    from langsmith.evaluation import EvaluationResult, RunEvaluator
    from langsmith.schemas import Example, Run


class LangSmithEvaluator(Wrapper, RunEvaluator):  # type: ignore[misc]
    """One of our evaluators for `evaluate` and `aevaluate`.

    Feedback contains the name as `key`, the reason as `comment`, the label as `value`, and `passed`
    in `metadata`. An unscored result has the score None. A bad call, or a run that failed, raises
    one of our errors; LangSmith turns it into feedback without a score, with the error as comment.

    Args:
        name: The key of the feedback, by default the evaluator's name.
        keys: `output` and `contexts` are keys of `outputs`, `reference` of `reference_outputs`,
            `input` of `inputs`, `schema` of either of the last two. The key "" selects the whole
            mapping. The only value of a mapping needs no key.
    """

    def __init__(self, evaluator: Evaluator, *, name: str | None = None, **keys: Any) -> None:
        super().__init__(evaluator, name=name)
        self.keys = Keys(**keys)

    @property
    def feedback_keys(self) -> list[str]:
        """The key of all feedback, including errors."""
        return [self.name]

    def __call__(
        self, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **further: Any
    ) -> dict[str, Any]:
        """Evaluate as a function of openevals does.

        The argument `context` contains the contexts. All other further arguments, and the inputs,
        become variables of a judge's prompt.
        """
        sample = self.keys.sample(self.evaluator, inputs, outputs, reference_outputs, **further)
        return self._feedback(self.evaluator.evaluate(sample))

    def evaluate_run(self, run: Run, example: Example | None = None, *_: Any, **__: Any) -> Any:
        """Evaluate the outputs of a run."""
        return EvaluationResult(**self(*_split(run, example)))

    async def aevaluate_run(
        self, run: Run, example: Example | None = None, *_: Any, **__: Any
    ) -> EvaluationResult:
        """Evaluate the outputs of a run asynchronously."""
        sample = self.keys.sample(self.evaluator, *_split(run, example))
        return EvaluationResult(**self._feedback(await self.evaluator.aevaluate(sample)))

    def _feedback(self, result: Result) -> dict[str, Any]:
        return {
            "key": self.name,
            "score": result.score,
            "value": result.label,
            "comment": result.reason,
            "metadata": {**result.metadata, "passed": result.passed},
        }


def _split(run: Run, example: Example | None) -> tuple[Any, Any, Any]:
    """Return the inputs, the outputs and the expected outputs; raise if the run failed."""
    if run.error is not None:
        raise InputError(f"the run failed, so there is no output: {run.error}")
    if example is None:
        return run.inputs, run.outputs, None
    return example.inputs, run.outputs, example.outputs
