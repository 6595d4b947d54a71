"""Our evaluators for LangSmith: its `RunEvaluator`, and the function of openevals and agentevals.

    from langsmith import evaluate
    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.langsmith import LangSmithEvaluator

    equal = LangSmithEvaluator(JsonEquality(), output="answer")
    equal(outputs={"answer": "[1]", "cost": 3}, reference_outputs="[1.0]")["score"]  # 1.0

    experiment = evaluate(
        my_chain, data=examples, evaluators=[equal], upload_results=False, client=client
    )

With `upload_results=False` LangSmith (0.14) still sends what the target of `aevaluate` is given
and gives; a client that is `Client(tracing_sampling_rate=0)` keeps that back. We send nothing.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from llmeval_integrations.core.errors import MissingDependencyError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.frameworks._drop_ins import Wrapper
from llmeval_integrations.frameworks._samples import Keys

try:
    from langsmith.evaluation import EvaluationResult, RunEvaluator
    from langsmith.schemas import Example, Run
except ModuleNotFoundError as error:
    if error.name != "langsmith":
        raise
    raise MissingDependencyError.of("langsmith", "langsmith") from error


_GIVEN: Final = (
    "the output is what the run gave, the reference what the example's outputs are; "
    'JSON null is the text "null"'
)


class LangSmithEvaluator(Wrapper, RunEvaluator):  # type: ignore[misc]
    """One of our evaluators for `evaluate`, and for `aevaluate`, which awaits it.

    Feedback has `name`, the evaluator's own unless given, as `key`, `score`, the reason as
    `comment`, the label as `value`, and in `metadata` also `passed`. An unscored result has the
    score None. A bad call raises one of our errors, of which LangSmith makes feedback without a
    score whose comment is the error.

    `output`, `reference` and `input` are keys of `outputs`, `reference_outputs` and `inputs`,
    `contexts` one of `outputs`, `schema` one of `reference_outputs` or `inputs`; "" is the mapping
    itself. Without a key the only value of a mapping is meant, and what is not a mapping is the
    value. Of several outputs or references none
    is guessed (InputError, where the evaluator looks at them); several inputs are one mapping.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        name: str | None = None,
        output: str | None = None,
        reference: str | None = None,
        input: str | None = None,
        contexts: str | None = None,
        schema: str | None = None,
    ) -> None:
        super().__init__(evaluator)
        self.name = name or evaluator.name
        self.keys = Keys(output, reference, input, contexts, schema)

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
        sample = self._sample(inputs, outputs, reference_outputs, **further)
        return self._feedback(self.evaluator.evaluate(sample))

    async def acall(
        self, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **further: Any
    ) -> dict[str, Any]:
        """Evaluate as an asynchronous function of openevals does."""
        sample = self._sample(inputs, outputs, reference_outputs, **further)
        return self._feedback(await self.evaluator.aevaluate(sample))

    def evaluate_run(
        self,
        run: Run,
        example: Example | None = None,
        evaluator_run_id: UUID | None = None,  # noqa: ARG002 - we leave no run behind
    ) -> EvaluationResult:
        """Evaluate what a run gave."""
        return EvaluationResult(**self(**_fields(run, example)))

    async def aevaluate_run(
        self,
        run: Run,
        example: Example | None = None,
        evaluator_run_id: UUID | None = None,  # noqa: ARG002 - we leave no run behind
    ) -> EvaluationResult:
        """Evaluate what a run gave, and await what has to be waited for."""
        return EvaluationResult(**await self.acall(**_fields(run, example)))

    def _sample(
        self, inputs: Any, outputs: Any, references: Any, *, context: Any = None, **further: Any
    ) -> Sample:
        return self.keys.sample(
            self.evaluator,
            inputs,
            outputs,
            references,
            given=_GIVEN,
            contexts=context,
            variables=further,
        )

    def _feedback(self, result: Result) -> dict[str, Any]:
        return {
            "key": self.name,
            "score": result.score,
            "value": result.label,
            "comment": result.reason,
            "metadata": {**result.metadata, "passed": result.passed},
        }


def _fields(run: Run, example: Example | None) -> dict[str, Any]:
    return {
        "inputs": run.inputs if example is None else example.inputs,
        "outputs": run.outputs,
        "reference_outputs": None if example is None else example.outputs,
    }
