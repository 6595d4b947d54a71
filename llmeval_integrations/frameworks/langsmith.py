"""Our evaluators for LangSmith: its `RunEvaluator`, and the function of openevals and agentevals.

    from langsmith import evaluate
    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.langsmith import LangSmithEvaluator

    equal = LangSmithEvaluator(JsonEquality(), output="answer")
    equal(outputs={"answer": "[1]", "cost": 3}, reference_outputs="[1.0]")["score"]  # 1.0

    experiment = evaluate(
        my_chain, data=examples, evaluators=[equal], upload_results=False, client=client
    )

With `upload_results=False` LangSmith still sends what `aevaluate`'s target is given and gives; a
`Client(tracing_sampling_rate=0)` keeps that back.
"""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.frameworks._base import Keys, Wrapper, optional

with optional("langsmith", "langsmith", "langsmith"):
    from langsmith.evaluation import EvaluationResult, RunEvaluator
    from langsmith.schemas import Example, Run


class LangSmithEvaluator(Wrapper, RunEvaluator):  # type: ignore[misc]
    """One of our evaluators for `evaluate`, and for `aevaluate`, which awaits it.

    Feedback has the name as `key`, the reason as `comment`, the label as `value`, and in `metadata`
    also `passed`. An unscored result has the score None. A bad call raises one of our errors, of
    which LangSmith makes feedback without a score whose comment is the error.

    Args:
        name: The key of the feedback, the evaluator's own name unless given.
        keys: `output` and `contexts`, keys of `outputs`; `reference`, one of `reference_outputs`;
            `input`, one of `inputs`; `schema`, one of either. "" is the mapping itself; the only
            value of a mapping needs no key.
    """

    def __init__(self, evaluator: Evaluator, *, name: str | None = None, **keys: Any) -> None:
        super().__init__(evaluator, name=name)
        self.keys = Keys(**keys)

    @property
    def feedback_keys(self) -> list[str]:
        """The name under which feedback is filed, errors too."""
        return [self.name]

    def __call__(
        self, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **further: Any
    ) -> dict[str, Any]:
        """Evaluate as a function of openevals does.

        Of further arguments `context` is the contexts; the others, and the inputs by their names,
        are variables of a judge's prompt.
        """
        sample = self.keys.sample(self.evaluator, inputs, outputs, reference_outputs, **further)
        return self._feedback(self.evaluator.evaluate(sample))

    async def acall(
        self, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **further: Any
    ) -> dict[str, Any]:
        """Evaluate as an asynchronous function of openevals does."""
        sample = self.keys.sample(self.evaluator, inputs, outputs, reference_outputs, **further)
        return self._feedback(await self.evaluator.aevaluate(sample))

    def evaluate_run(self, run: Run, example: Example | None = None, *_: Any, **__: Any) -> Any:
        """Evaluate what a run gave."""
        return EvaluationResult(**self(**_fields(run, example)))

    async def aevaluate_run(
        self, run: Run, example: Example | None = None, *_: Any, **__: Any
    ) -> EvaluationResult:
        """Evaluate what a run gave, and await what has to be waited for."""
        return EvaluationResult(**await self.acall(**_fields(run, example)))

    def _feedback(self, result: Result) -> dict[str, Any]:
        return {
            "key": self.name,
            "score": result.score,
            "value": result.label,
            "comment": result.reason,
            "metadata": {**result.metadata, "passed": result.passed},
        }


def _fields(run: Run, example: Example | None) -> dict[str, Any]:
    inputs, references = (example.inputs, example.outputs) if example else (run.inputs, None)
    return {"inputs": inputs, "outputs": run.outputs, "reference_outputs": references}
