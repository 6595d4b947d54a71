"""Read an output as text, and the base class of evaluators that do."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import msgspec

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.messages.read import read_answer


def to_text(output: Any) -> str:
    """Return a text itself, bytes decoded, a JSON value as compact JSON, other values as repr."""
    if isinstance(output, str):
        return str.__str__(output)  # an enum or another subclass may have its own `__str__`
    if isinstance(output, (bytes, bytearray)):
        return output.decode(errors="replace")
    value = parse(output, "lenient")
    return quote(output) if isinstance(value, Defect) else canonical(value)


def to_storable_text(value: Any) -> str:
    """Return the text of a value as `to_text` does, with halves of surrogate pairs escaped."""
    text = to_text(value)
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


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
        output = sample.output
        if type(output) is str and output:
            return self.check_text(output, sample)
        value, label = read_answer(output)
        result = self.check_text(to_text(value), sample)
        return result if label is None else msgspec.structs.replace(result, label=label)

    @abstractmethod
    def check_text(self, text: str, sample: Sample) -> Result:
        """Check one text; the only method that a subclass has to implement."""
