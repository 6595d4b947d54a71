"""What an evaluator says."""

from __future__ import annotations

from typing import Any

import msgspec

from llmeval_integrations.core.feedback import MAX_FEEDBACK, word_feedback


class Result(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """One evaluator's answer about one sample: scored, or unscored with a reason."""

    score: float | None
    """The figure; its range is the evaluator's own. None where there is none: then the
    result is unscored, unless it is `answered` all the same."""

    passed: bool | None = None
    """Whether the output is good enough; None where that is not said."""

    label: str | None = None
    """A short name of what was found, such as a defect, to count over a run."""

    reason: str | None = None
    """Why, in words for a person."""

    metadata: dict[str, Any] = {}
    """Details, by name."""

    answered: bool = False
    """Whether a result without a score is an answer all the same, as a label out of a list is."""

    @classmethod
    def unscored(cls, reason: str, *, label: str | None = None, **metadata: Any) -> Result:
        """Make a result without a score: the evaluator could not tell, and says why."""
        return cls(None, None, label, reason, metadata)

    @property
    def scored(self) -> bool:
        """Whether there is a score at all."""
        return self.score is not None

    @property
    def is_unscored(self) -> bool:
        """Whether the evaluator could not tell: there is neither a score nor another answer."""
        return self.score is None and not self.answered

    def feedback(self, most: int = MAX_FEEDBACK) -> str:
        """Word what is wrong for the model that wrote the output, to ask it once more.

        Every finding stands in a line of its own, with its place and what is expected there. The
        text is empty where the output passed, or where the evaluator could not tell.

        Example:
            >>> print(JsonMatch()('{"a": 1}', '{"a": 2}').feedback())
            The answer was not accepted:
            - /a: 1 is wrong, expected 2

        Args:
            most: The most characters; findings beyond it are counted.
        """
        return word_feedback(self.reason, self.metadata, most) if self.passed is False else ""

    def assert_passes(self) -> Result:
        """Return the result if it passed; raise AssertionError with the reason if it did not."""
        if self.passed:
            return self
        state = "unscored" if self.is_unscored else "no verdict" if self.answered else "failed"
        raise AssertionError(f"{state}: {self.reason or f'score {self.score}'}")
