"""Our evaluators for DSPy: a metric of `Evaluate` and of optimisers, with feedback for GEPA.

    import math

    import dspy
    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.dspy import DspyMetric

    equal = DspyMetric(JsonEquality())
    row = dspy.Example(question="A list?", answer="[1.0]").with_inputs("question")
    equal(row, dspy.Prediction(answer="[1]"))  # 1.0
    optimiser = dspy.BootstrapFewShot(metric=equal, max_labeled_demos=0)
    better = optimiser.compile(dspy.Predict("question -> answer"), trainset=[row])
    dspy.Evaluate(devset=[row], metric=equal, failure_score=math.nan)(better).score  # 100.0

DSPy maximises. If less is better, as with distances, use `value="passed"`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.frameworks._base import Keys, UnscoredError, Wrapper, optional

with optional("dspy", "dspy", "dspy"):
    from dspy import Example, Prediction
    from dspy.teleprompt.gepa.gepa_utils import ScoreWithFeedback

__all__ = ["DspyMetric", "UnscoredError"]


class DspyMetric(Wrapper):
    """One of our evaluators as a metric.

    `Evaluate` receives the score. An optimiser that passes a trace receives the verdict. GEPA
    receives the score of a predictor, with `result.feedback()`. An unscored result raises
    UnscoredError, and a bad call one of our other errors. DSPy counts both as `failure_score`,
    which is 0 unless you use `Evaluate(failure_score=math.nan)`.

    Args:
        keys: `output` and `contexts` are fields of the prediction. `reference` is a label of the
            example, `input` one of its inputs, and `schema` either. Without a key, the output is
            the field with the reference's name, or else the only field.
    """

    def __init__(
        self, evaluator: Evaluator, *, name: str | None = None, value: str = "score", **keys: Any
    ) -> None:
        super().__init__(evaluator, name=name, value=value)
        self.keys = Keys(**keys)
        self.__name__ = self.name

    def __call__(
        self,
        gold: Example,
        pred: Prediction,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,  # noqa: ARG002 - GEPA's signature
    ) -> float | bool | ScoreWithFeedback:
        """Evaluate the prediction of a program for an example."""
        keys, outputs, labels = self.keys, pred.toDict(), gold.labels().toDict()
        label = keys.reference or (next(iter(labels)) if len(labels) == 1 else None)
        if keys.output is None and label in outputs:
            keys = replace(keys, output=label)
        sample = keys.sample(self.evaluator, gold.inputs().toDict(), outputs, labels)
        result = self.evaluator.evaluate(sample)
        score = self.require_figure(result)
        if pred_name is not None:  # this object is always true, so it cannot be a verdict
            feedback = result.feedback() or result.reason or f"The score is {score}."
            return ScoreWithFeedback(score=score, feedback=feedback)
        if trace is None:
            return score
        return bool(score if result.passed is None else result.passed)
