"""Our evaluators for DeepEval: a metric of `assert_test` and `evaluate`.

    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.deepeval import DeepEvalMetric
    from deepeval import assert_test
    from deepeval.test_case import LLMTestCase

    def test_list():
        case = LLMTestCase(input="A list?", actual_output="[1]", expected_output="[1.0]")
        assert_test(case, [DeepEvalMetric(JsonEquality())])

Importing this module sets DEEPEVAL_TELEMETRY_OPT_OUT, unless the environment already sets it.
"""

from __future__ import annotations

import os
from typing import Any

from llmeval_integrations.core.errors import MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import to_storable_text
from llmeval_integrations.frameworks._base import Wrapper, make_sample, optional, to_optional_text
from llmeval_integrations.messages.read import Messages
from llmeval_integrations.messages.reply import Reply

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
with optional("deepeval", "deepeval", "deepeval"):
    from deepeval.errors import MissingTestCaseParamsError
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase, ToolCall


class MissingParameterError(MissingFieldError, MissingTestCaseParamsError):  # type: ignore[misc]
    """A test case lacks a field; with `skip_on_missing_params`, DeepEval skips the metric."""


class DeepEvalMetric(Wrapper, BaseMetric):  # type: ignore[misc]
    """One of our evaluators as a metric, which is asynchronous unless `run_async=False`.

    `success` is the evaluator's verdict. `threshold` is the evaluator's, or else 1, and decides
    nothing. The verbose logs contain the label and the metadata as JSON. An unscored result has an
    `error` and no score, and DeepEval counts it as not passed. A bad call raises one of our errors.
    The contexts are the `retrieval_context`, or else the `context`. Evaluators of tool calls read
    `tools_called` and `expected_tools` if the case has them. Its metadata may contain a `schema`.
    `name` is another name, and with `value="passed"` the score is 1 or 0.
    """

    def __init__(self, evaluator: Evaluator, **options: Any) -> None:
        super().__init__(evaluator, **options)
        own: Any = getattr(evaluator, "threshold", None)
        self.threshold = float(own) if is_number(own) else 1.0

    @property
    def __name__(self) -> str:
        """The name of the metric, by default the evaluator's name."""
        return self.name

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Evaluate a test case."""
        return self._keep(self.evaluator.evaluate(self._sample(test_case)))

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Evaluate a test case asynchronously."""
        return self._keep(await self.evaluator.aevaluate(self._sample(test_case)))

    def is_successful(self) -> bool | None:
        """Return the verdict; False after an error, as in DeepEval."""
        return self.success if self.error is None else False

    def _sample(self, case: LLMTestCase) -> Sample:
        contexts = case.context if case.retrieval_context is None else case.retrieval_context
        try:
            return make_sample(
                self.evaluator,
                _add_calls(case.actual_output or "", case.tools_called),
                case.metadata,
                reference=_add_calls(case.expected_output, case.expected_tools),
                input=case.input,
                contexts=contexts and [getattr(text, "context", text) for text in contexts],
                id=case.name,
            )
        except MissingFieldError as error:
            raise MissingParameterError(str(error)) from error

    def _keep(self, result: Result) -> float | None:
        """Store the result in the attributes that DeepEval reads after the call."""
        self.score = self.number(result)
        self.success = result.passed
        self.reason = to_optional_text(result.reason)
        self.error = (self.reason or "unscored") if result.is_unscored else None
        self.verbose_logs = to_storable_text({"label": result.label, "metadata": result.metadata})
        account = result.metadata.get("judge", {}) if self.evaluator.is_judge else {}
        self.evaluation_model = account.get("model")
        return self.score


def _add_calls(text: str | None, calls: list[ToolCall] | None) -> Any:
    """Return a text with the calls beside it, which only evaluators of tool calls read."""
    if calls is None:
        return text
    found = [{"name": call.name, "arguments": call.input_parameters} for call in calls]
    return found if text is None else Messages(Reply(text), ({"tool_calls": found},))
