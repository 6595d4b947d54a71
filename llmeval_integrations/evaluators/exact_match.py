"""Does the output equal the reference exactly?"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import ClassVar

from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import TextEvaluator, to_text
from llmeval_integrations.messages.read import read_answer
from llmeval_integrations.text.excerpt import cut_around_difference

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NO_DIGITS = str.maketrans("", "", string.digits)


@dataclass(frozen=True)
class ExactMatch(TextEvaluator):
    """Does the output's text equal the reference's text exactly?

    Score: 1.0 or 0.0. Nothing is parsed, and white space counts.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    ignore_case: bool = False
    """Whether upper and lower case are equal."""

    ignore_punctuation: bool = False
    """Whether ASCII punctuation is removed before the comparison."""

    ignore_numbers: bool = False
    """Whether ASCII digits are removed before the comparison."""

    def check_text(self, text: str, sample: Sample) -> Result:
        expected = sample.reference
        if type(expected) is not str:
            expected = to_text(read_answer(sample.require("reference", self.name)).value)
        output, reference = self._prepare(text), self._prepare(expected)
        if output == reference:
            return Result(1.0, True)
        output, reference = cut_around_difference(output, reference, 80)
        return Result(0.0, False, None, f"{output!r} is not {reference!r}")

    def _prepare(self, text: str) -> str:
        if self.ignore_case:
            text = text.lower()
        if self.ignore_punctuation:
            text = text.translate(_NO_PUNCTUATION)
        if self.ignore_numbers:
            text = text.translate(_NO_DIGITS)
        return text
