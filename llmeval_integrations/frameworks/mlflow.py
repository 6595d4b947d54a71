"""Our evaluators for MLflow: a `Scorer` that `mlflow.genai.evaluate` runs.

    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.mlflow import MlflowScorer
    import mlflow

    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    data = [{"inputs": {"question": "?"}, "outputs": "[1]", "expectations": {"answer": "[1.0]"}}]
    evaluation = mlflow.genai.evaluate(data=data, scorers=[MlflowScorer(JsonEquality())])
    assert evaluation.metrics["json_equality/mean"] == 1.0

Importing this sets MLFLOW_DISABLE_TELEMETRY, unless the environment has a word on it.
"""

from __future__ import annotations

import os
from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError, MissingDependencyError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.evaluators.text import to_storable_text
from llmeval_integrations.frameworks._drop_ins import Wrapper
from llmeval_integrations.frameworks._samples import Keys
from llmeval_integrations.judges.evaluator import JudgedEvaluator

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
try:
    from mlflow.entities import AssessmentError, AssessmentSource, AssessmentSourceType, Feedback
    from mlflow.genai.scorers import Scorer
    from mlflow.telemetry import set_telemetry_client
except ModuleNotFoundError as error:
    if error.name != "mlflow":
        raise
    raise MissingDependencyError.of("mlflow", "mlflow") from error

# MLflow asks the environment when it is imported, which may have been before.
set_telemetry_client()


class MlflowScorer(Wrapper, Scorer):  # type: ignore[misc]
    """One of our evaluators as a `Scorer`.

    The score is the feedback's value, the reason its rationale; label, `passed` and what else the
    result says are its metadata, as texts. With `value="passed"` that is the value, so that means
    are pass rates and MLflow's `evaluation.passed` has its True or False, and the score metadata.
    An unscored result is an error entry, its code the label, and is left out of the means; so is a
    bad call, whose error MLflow catches. Judges block: MLflow runs scorers in threads, and none
    that is asynchronous.

    `output`, `reference` and `input` are keys of `outputs`, `expectations` and `inputs`,
    `contexts` one of `outputs`, `schema` one of `expectations` or `inputs`; "" is the mapping
    itself. Without a key the only value of a mapping is meant, and what is not a mapping is the
    value. Of several outputs or expectations
    none is guessed (InputError, where the evaluator looks at them); several inputs are one mapping.
    """

    evaluator: Any = None
    keys: Any = None
    value: str = "score"

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        value: str = "score",
        output: str | None = None,
        reference: str | None = None,
        input: str | None = None,
        contexts: str | None = None,
        schema: str | None = None,
        **options: Any,
    ) -> None:
        options.setdefault("name", getattr(evaluator, "name", ""))
        Scorer.__init__(self, **options)
        Wrapper.__init__(self, evaluator)
        if value not in ("score", "passed"):
            raise InvalidOptionError(f"value={quote(value)} is not 'score' or 'passed'")
        self.value = value
        self.keys = Keys(output, reference, input, contexts, schema)

    def __call__(
        self, *, inputs: Any = None, outputs: Any = None, expectations: Any = None
    ) -> Feedback:
        """Evaluate one row."""
        sample = self.keys.sample(self.evaluator, inputs, outputs, expectations)
        return self._feedback(self.evaluator.evaluate(sample))

    def _feedback(self, result: Result) -> Feedback:
        judged = isinstance(self.evaluator, JudgedEvaluator)
        kind = AssessmentSourceType.LLM_JUDGE if judged else AssessmentSourceType.CODE
        further = "passed" if self.value == "score" else "score"
        said = {"label": result.label, further: getattr(result, further), **result.metadata}
        return Feedback(
            name=self.name,
            value=getattr(result, self.value),
            error=_error(result) if result.is_unscored else None,
            source=AssessmentSource(source_type=kind, source_id=self.evaluator.name),
            rationale=None if result.reason is None else to_storable_text(result.reason),
            metadata={
                to_storable_text(key): to_storable_text(said[key])
                for key in said
                if said[key] is not None
            },
        )


def _error(result: Result) -> AssessmentError:
    code, message = (to_storable_text(text or "unscored") for text in (result.label, result.reason))
    return AssessmentError(error_code=code, error_message=message)
