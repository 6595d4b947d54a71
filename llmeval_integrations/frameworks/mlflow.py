"""Our evaluators for MLflow: a `Scorer` that `mlflow.genai.evaluate` runs.

    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.mlflow import MlflowScorer
    import mlflow

    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    data = [{"inputs": {"question": "?"}, "outputs": "[1]", "expectations": {"answer": "[1.0]"}}]
    evaluation = mlflow.genai.evaluate(data=data, scorers=[MlflowScorer(JsonEquality())])
    assert evaluation.metrics["json_equality/mean"] == 1.0

Importing this module sets MLFLOW_DISABLE_TELEMETRY, unless the environment already sets it.
"""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

from llmeval_integrations.core.catalog import check_options
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.evaluators.text_evaluator import to_storable_text
from llmeval_integrations.frameworks._base import Keys, Wrapper, optional, to_optional_text

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
with optional("mlflow", "mlflow", "mlflow"):
    from mlflow.entities import AssessmentError, AssessmentSource, AssessmentSourceType, Feedback
    from mlflow.genai.scorers import Scorer
    from mlflow.telemetry import set_telemetry_client

# MLflow reads the environment at its import, which may have been earlier.
set_telemetry_client()


class MlflowScorer(Wrapper, Scorer):  # type: ignore[misc]
    """One of our evaluators as a `Scorer`.

    The reason becomes the rationale of the feedback. The label, `passed` and the result's metadata
    become its metadata, as texts. An unscored result or a bad call becomes an error, which no mean
    counts.

    Args:
        value: The feedback's value: "score", or "passed", so that means are pass rates.
        options: The options of a Scorer, and the keys: `output` and `contexts` of `outputs`,
            `reference` of `expectations`, `input` of `inputs`, `schema` of either of the last two.
            The key "" selects the whole mapping. The only value of a mapping needs no key.
    """

    evaluator: Any = None
    keys: Any = None
    value: str = "score"

    def __init__(self, evaluator: Evaluator, *, value: str = "score", **options: Any) -> None:
        keys = {key.name: options.pop(key.name, None) for key in fields(Keys)}
        check_options("MlflowScorer", options, [*keys, *Scorer.model_fields])  # it ignores unknown
        options.setdefault("name", getattr(evaluator, "name", ""))
        Scorer.__init__(self, **options)
        Wrapper.__init__(self, evaluator, name=options["name"], value=value)
        self.keys = Keys(**keys)

    def __call__(
        self, *, inputs: Any = None, outputs: Any = None, expectations: Any = None
    ) -> Feedback:
        """Evaluate one row."""
        sample = self.keys.sample(self.evaluator, inputs, outputs, expectations)
        return self._feedback(self.evaluator.evaluate(sample))

    def _feedback(self, result: Result) -> Feedback:
        further = "passed" if self.value == "score" else "score"
        details = {"label": result.label, further: getattr(result, further), **result.metadata}
        texts = {key: each for key, each in details.items() if each is not None}
        reason, error = to_optional_text(result.reason), None
        if result.is_unscored:
            code = to_storable_text(result.label or "unscored")
            error = AssessmentError(error_code=code, error_message=reason or "unscored")
        kinds = AssessmentSourceType
        kind = kinds.LLM_JUDGE if self.evaluator.is_judge else kinds.CODE
        return Feedback(
            name=self.name,
            value=self.figure(result),
            error=error,
            source=AssessmentSource(source_type=kind, source_id=self.evaluator.name),
            rationale=reason,
            metadata={to_storable_text(key): to_storable_text(one) for key, one in texts.items()},
        )
