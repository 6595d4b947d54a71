"""Our evaluators for DSPy: a metric of `Evaluate` and of optimisers, GEPA's feedback with it.

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

DSPy maximises: where less is better, as with distances, take `value="passed"`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llmeval_integrations.core.errors import EvalError, InvalidOptionError, MissingDependencyError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.frameworks._drop_ins import Wrapper
from llmeval_integrations.frameworks._samples import Keys

try:
    from dspy import Example, Prediction
    from dspy.teleprompt.gepa.gepa_utils import ScoreWithFeedback
except ModuleNotFoundError as error:
    if error.name != "dspy":
        raise
    raise MissingDependencyError.of("dspy", "dspy") from error


class UnscoredError(EvalError):
    """There is no score, and DSPy has no other word for that than a failure."""


class DspyMetric(Wrapper):
    """One of our evaluators as a metric.

    `Evaluate` gets the score; an optimiser that collects demonstrations, and hands over a trace,
    whether the output passed; GEPA, where it asks about a predictor, the score with the reason as
    feedback.

    An unscored result raises UnscoredError, a bad call one of our errors. DSPy logs them, collects
    no demonstration and ends after `max_errors`; until then `Evaluate` and GEPA count
    `failure_score`, which is 0: with `Evaluate(failure_score=math.nan)` the score is NaN instead,
    and `results` tell which rows have none.

    `output` is a field of the prediction, `contexts` another; `reference` and `input` are fields of
    the example, outside and among its inputs, `schema` either. Without a name the output is the
    field that is called like the reference, so that reasoning beside it is no matter, else the only
    field is meant, and of several outputs or references none is guessed (InputError, where the
    evaluator looks at them); several inputs are one mapping. Inputs are variables of a judge's
    prompt. `name` is what the metric is called, as the evaluator unless given.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        name: str | None = None,
        value: str = "score",
        output: str | None = None,
        reference: str | None = None,
        input: str | None = None,
        contexts: str | None = None,
        schema: str | None = None,
    ) -> None:
        super().__init__(evaluator)
        if value not in ("score", "passed"):
            raise InvalidOptionError(f"value={quote(value)} is not 'score' or 'passed'")
        self.value = value
        self.keys = Keys(output, reference, input, contexts, schema)
        self.__name__ = name or evaluator.name

    def __call__(
        self,
        gold: Example,
        pred: Prediction,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,  # noqa: ARG002 - GEPA's signature
    ) -> float | bool | ScoreWithFeedback:
        """Evaluate what a program gave for an example."""
        outputs, labels = pred.toDict(), gold.labels().toDict()
        keys, [label, *others] = self.keys, [*labels] or [None]
        same = keys.reference or (None if others else label)
        if keys.output is None and same in outputs:
            keys = replace(keys, output=same)
        sample = keys.sample(self.evaluator, gold.inputs().toDict(), outputs, labels)
        result = self.evaluator.evaluate(sample)
        score = self._score(result)
        if pred_name is not None:  # an object of any score is true where a verdict is wanted
            return ScoreWithFeedback(score=score, feedback=self._feedback(result, score))
        if trace is None:
            return score
        return bool(score if result.passed is None else result.passed)

    def _score(self, result: Result) -> float:
        score = getattr(result, self.value)
        if score is None:
            label = f" ({result.label})" if result.label else ""
            raise UnscoredError(f"{self.__name__} is unscored{label}: {result.reason}")
        return float(score)

    def _feedback(self, result: Result, score: float) -> str:
        verdict = {True: "passed", False: "failed", None: "was scored"}[result.passed]
        label = f" ({result.label})" if result.label else ""
        reason = f": {result.reason}" if result.reason else ""
        return f"{self.__name__} {verdict} with a score of {score}{label}{reason}"
