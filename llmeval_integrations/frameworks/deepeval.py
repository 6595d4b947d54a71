"""Our evaluators for DeepEval: a metric of `assert_test` and `evaluate`.

    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.deepeval import DeepEvalMetric
    from deepeval import assert_test
    from deepeval.test_case import LLMTestCase

    def test_list():
        case = LLMTestCase(input="A list?", actual_output="[1]", expected_output="[1.0]")
        assert_test(case, [DeepEvalMetric(JsonEquality())])

Importing this sets DEEPEVAL_TELEMETRY_OPT_OUT, unless the environment has a word on it. What a key
of Confident AI's sends there is the user's own doing.
"""

from __future__ import annotations

import os
from typing import Any

from llmeval_integrations.core.errors import InputError, MissingDependencyError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text import to_storable_text
from llmeval_integrations.frameworks._drop_ins import Wrapper
from llmeval_integrations.frameworks._samples import sample_of
from llmeval_integrations.judges.evaluator import JudgedEvaluator

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
try:
    from deepeval.errors import MissingTestCaseParamsError
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase
except ModuleNotFoundError as error:
    if error.name != "deepeval":
        raise
    raise MissingDependencyError.of("deepeval", "deepeval") from error


class MissingParameterError(MissingFieldError, MissingTestCaseParamsError):  # type: ignore[misc]
    """A test case lacks a field."""


class DeepEvalMetric(Wrapper, BaseMetric):  # type: ignore[misc]
    """One of our evaluators as a metric, which is awaited unless `run_async=False`.

    `score` is a float, `reason` the reason and `success` the evaluator's own verdict. DeepEval
    wants a number beside it as `threshold`: that of the evaluator where it has one, else 1; it
    decides nothing. Label and metadata are in the verbose logs, as JSON. An unscored result has no
    score but an `error`: `assert_test` fails with the reason, no mean has it, and DeepEval's pass
    rate counts it as not passed. A bad call raises one of our errors, a missing field one that is
    DeepEval's too, for its `skip_on_missing_params`.

    Output, reference and input are the actual and expected output and the input, contexts the
    `retrieval_context`, else the `context`, variables of prompts the case's metadata, the schema
    their `schema`.
    """

    success: bool | None

    def __init__(self, evaluator: Evaluator, *, name: str | None = None) -> None:
        super().__init__(evaluator)
        self.name = name or evaluator.name  # DeepEval copies what is called like an argument
        own: Any = getattr(evaluator, "threshold", None)
        self.threshold = float(own) if is_number(own) else 1.0

    @property
    def __name__(self) -> str:
        """What it is called: as the evaluator, unless told otherwise."""
        return self.name

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Evaluate a test case."""
        return self._say(self.evaluator.evaluate(self._sample(test_case)))

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Evaluate a test case, and await what has to be waited for."""
        return self._say(await self.evaluator.aevaluate(self._sample(test_case)))

    def is_successful(self) -> bool | None:
        """Return the verdict; False where there was an error, as DeepEval counts it."""
        return self.success if self.error is None else False

    def _sample(self, case: LLMTestCase) -> Sample:
        for said in ("score", "reason", "error"):
            setattr(self, said, None)  # an error leaves nothing of another case behind
        self.success = False
        if not isinstance(case, LLMTestCase):
            raise InputError(f"{self.evaluator.name}: {quote(case)} is not an LLMTestCase")
        contexts = case.context if case.retrieval_context is None else case.retrieval_context
        try:
            sample = sample_of(
                self.evaluator,
                case.actual_output,
                reference=case.expected_output,
                input=case.input,
                contexts=contexts and [getattr(text, "context", text) for text in contexts],
                schema=(case.metadata or {}).get("schema"),
                variables=case.metadata,
                id=case.name,
            )
            for field in self.evaluator.needs:
                sample.require(field, self.evaluator.name)
        except MissingFieldError as error:
            raise MissingParameterError(str(error)) from error
        return sample

    def _say(self, result: Result) -> float | None:
        """Say the result as DeepEval's metrics do, which is by what they are afterwards."""
        self.score = None if result.score is None else float(result.score)
        self.success = result.passed
        self.reason = None if result.reason is None else to_storable_text(result.reason)
        self.error = (self.reason or "unscored") if result.is_unscored else None
        self.verbose_logs = to_storable_text({"label": result.label, "metadata": result.metadata})
        judged = isinstance(self.evaluator, JudgedEvaluator)
        account = result.metadata.get("judge", {}) if judged else {}
        self.evaluation_model = account.get("model")
        self.input_tokens = account.get("input_tokens")
        self.output_tokens = account.get("output_tokens")
        return self.score
