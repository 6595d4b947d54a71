"""Is the output too short or too long?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from llmeval_integrations.core.options import option_error
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import TextEvaluator


@dataclass(frozen=True)
class LengthPenalty(TextEvaluator):
    """Is the output too short or too long?

    Score: 0.0 within the bounds, or below 0: each character beyond a bound costs `penalty_rate`.
    The result passes if the score is 0. A value that is not text is measured as its JSON. An empty
    output is unscored.

    Metadata: `length` in characters, `min_length`, `max_length` and `penalty`.
    """

    min_length: Annotated[int, Meta(ge=0)] = 10
    """The fewest characters without a penalty."""

    max_length: Annotated[int, Meta(ge=0)] = 1000
    """The most characters without a penalty."""

    penalty_rate: Annotated[float, Meta(ge=0, le=1e100)] = 0.01
    """The penalty for each character beyond a bound."""

    max_penalty: Annotated[float, Meta(ge=-1e100, le=0)] | None = None
    """The lowest possible score, which is at most 0; None sets no limit."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_length > self.max_length:
            expected = f"at most max_length={self.max_length}; the defaults are 10 and 1000"
            raise option_error(self, "min_length", expected)

    def check_text(self, text: str, sample: Sample) -> Result:  # noqa: ARG002
        if not text:
            return Result.unscored("The output is empty")
        least, most, length = self.min_length, self.max_length, len(text)
        label, beyond = None, 0
        if least <= length <= most:
            reason = f"Length acceptable: {least} <= {length} <= {most}"
        elif length < least:
            label, beyond, reason = "too_short", least - length, f"Too short: {length} < {least}"
        else:
            label, beyond, reason = "too_long", length - most, f"Too long: {length} > {most}"
        penalty = 0.0 - beyond * self.penalty_rate  # never -0.0
        if self.max_penalty is not None:
            penalty = max(penalty, self.max_penalty)
        metadata = {"length": length, "min_length": least, "max_length": most, "penalty": penalty}
        return Result(penalty, penalty == 0, label, reason, metadata)
