"""What evaluators that look at a JSON value have in common."""

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
    """Looks at the JSON value of an output.

    Subclasses write `check_value`. Of messages, responses and states it is given the parsed answer,
    else the value of the last text of the model. An output that is not JSON has the score `worst`
    and its defect as the label; so has a model that gave nothing (`empty`) or refused (`refused`).
    A subclass may have `parsing` as an option.

    >>> @dataclass(frozen=True)
    ... class HasTotal(JsonEvaluator):
    ...     def check_value(self, value, sample):
    ...         return Result(float("total" in value), "total" in value)
    """

    parsing: Parsing = "markdown"
    """How much may stand around the JSON."""

    worst: ClassVar[float] = 0.0
    """The score of an output that is not JSON."""

    def check(self, sample: Sample) -> Result:
        value = read(sample, "output", self.parsing)
        if type(value) is Defect:
            return defect_result(value, self.worst)
        return self.check_value(value, sample)

    @abstractmethod
    def check_value(self, value: Any, sample: Sample) -> Result:
        """Look at one value; the one method that such an evaluator writes."""
