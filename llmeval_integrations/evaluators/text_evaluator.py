"""What evaluators that look at a text have in common."""

from __future__ import annotations

from abc import abstractmethod

import msgspec

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text import to_text
from llmeval_integrations.messages.reading import read_answer


class TextEvaluator(Evaluator):
    """Looks at the text of an output.

    Subclasses write `check_text`. Of messages, responses and states it is given the last text of
    the model. A model that gave nothing, or refused, wrote the empty text; the label of the result
    is then `empty` or `refused`.

    >>> @dataclass(frozen=True)
    ... class Polite(TextEvaluator):
    ...     def check_text(self, text, sample):
    ...         return Result(float("please" in text), "please" in text)
    """

    def check(self, sample: Sample) -> Result:
        if type(sample.output) is str and sample.output:
            return self.check_text(sample.output, sample)
        value, label = read_answer(sample.output)
        result = self.check_text(to_text(value), sample)
        return result if label is None else msgspec.structs.replace(result, label=label)

    @abstractmethod
    def check_text(self, text: str, sample: Sample) -> Result:
        """Look at one text; the one method that such an evaluator writes."""
