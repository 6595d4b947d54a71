"""The base class of evaluators that check a text."""

from __future__ import annotations

from abc import abstractmethod

import msgspec

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text import to_text
from llmeval_integrations.messages.read import read_answer


class TextEvaluator(Evaluator):
    """Checks the text of an output.

    Subclasses implement `check_text`. From messages, responses and states it gets the model's last
    text. If the model returned nothing or refused, the text is empty, and the result has the label
    `empty` or `refused`.

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
        """Check one text; the only method that a subclass has to implement."""
