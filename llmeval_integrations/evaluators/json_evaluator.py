"""The base class of evaluators that check a JSON value."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_validity import defect_result
from llmeval_integrations.evaluators.read import read
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing


class JsonEvaluator(Evaluator):
    """Checks the JSON value of an output.

    Subclasses implement `check_value`. From messages, responses and states it gets the parsed
    answer, or else the value of the model's last text. An output that is not JSON has the score
    `worst`, and its defect is the label. An empty output (`empty`) and a refusal (`refused`) are
    not JSON either. A subclass may have `parsing` as an option.

    >>> @dataclass(frozen=True)
    ... class HasTotal(JsonEvaluator):
    ...     def check_value(self, value, sample):
    ...         return Result(float("total" in value), "total" in value)
    """

    parsing: Parsing = "markdown"
    """How much text may surround the JSON."""

    worst: ClassVar[float] = 0.0
    """The score of an output that is not JSON."""

    def check(self, sample: Sample) -> Result:
        value = read(sample, "output", self.parsing)
        if type(value) is Defect:
            return defect_result(value, self.worst)
        return self.check_value(value, sample)

    @abstractmethod
    def check_value(self, value: Any, sample: Sample) -> Result:
        """Check one value; the only method that a subclass has to implement."""
