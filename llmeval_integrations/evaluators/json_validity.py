"""Is the output JSON, and is it an object?"""

from __future__ import annotations

from dataclasses import dataclass

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_evaluator import defect_result, read, read_defect
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.messages.read import read_answer


@dataclass(frozen=True)
class JsonValidity(Evaluator):
    """Does the output parse as JSON?

    Score: 1.0 or 0.0. If the output is not JSON, the label names the defect, and the reason
    describes it. Metadata: `offset`, `line` and `column` of the defect, and `message`, the message
    of Python's own parser. LangChain's drop-in returns that message.
    """

    parsing: Parsing = "markdown"
    """How much text may surround the JSON; truncated text is invalid in every mode."""

    def check(self, sample: Sample) -> Result:
        defect = read_defect(sample, self.parsing)
        return (
            Result(1.0, True, None, "Valid JSON") if defect is None else defect_result(defect, 0.0)
        )


@dataclass(frozen=True)
class JsonObject(Evaluator):
    """Does the output parse as a JSON object, and not as an array, a string or a number?

    Score: 1.0 or 0.0. Metadata: `response`, the output; `format`, the Python type of the parsed
    value, or None if it is not JSON; `json_response_result`, "pass" or "fail".
    """

    parsing: Parsing = "strict"
    """How much text may surround the JSON."""

    def check(self, sample: Sample) -> Result:
        value = read(sample, "output", self.parsing)
        output = read_answer(sample.output).value
        details = {"response": output, "format": None, "json_response_result": "fail"}
        if isinstance(value, Defect):
            return defect_result(value, 0.0, **details)
        details["format"] = type(value).__name__
        if isinstance(value, dict):
            details["json_response_result"] = "pass"
            return Result(1.0, True, None, "A JSON object", details)
        reason = f"Expected a JSON object, got {type(value).__name__}"
        return Result(0.0, False, "not_an_object", reason, details)
