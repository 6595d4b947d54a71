"""The result of an evaluator."""

from __future__ import annotations

from typing import Any

import msgspec

from llmeval_integrations.core.feedback import MAX_FEEDBACK, word_feedback
from llmeval_integrations.core.quote import make_printable


class Result(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """What an evaluator says about a sample: scored, or unscored with a reason."""

    score: float | None
    """The score; its range depends on the evaluator. If it is None, the result is unscored, unless
    it is `answered`."""

    passed: bool | None = None
    """Whether the output passes; None if the evaluator does not decide that."""

    label: str | None = None
    """A short name of the finding, such as a defect. A run counts labels."""

    reason: str | None = None
    """The reason, for people to read."""

    metadata: dict[str, Any] = {}
    """Details, by name."""

    answered: bool = False
    """Whether a result without a score is an answer, such as a label from a list."""

    @classmethod
    def unscored(cls, reason: str, *, label: str | None = None, **metadata: Any) -> Result:
        """Return a result without a score, for a sample that cannot be evaluated."""
        return cls(None, None, label, reason, metadata)

    @property
    def scored(self) -> bool:
        """Whether there is a score."""
        return self.score is not None

    @property
    def is_unscored(self) -> bool:
        """Whether there is neither a score nor another answer."""
        return self.score is None and not self.answered

    def feedback(self, most: int = MAX_FEEDBACK) -> str:
        """Describe what is wrong for the model that wrote the output, so that it can try again.

        Each finding has its own line, with its place and what is expected there. The text is empty
        if the output passed or if the result is unscored.

        Example:
            >>> print(JsonMatch()('{"a": 1}', '{"a": 2}').feedback())
            The answer was not accepted:
            - /a: 1 is wrong, expected 2

        Args:
            most: The longest text in characters. Findings that do not fit are counted.
        """
        return word_feedback(self.reason, self.metadata, most) if self.passed is False else ""

    def assert_passes(self) -> Result:
        """Return the result if it passed; otherwise raise AssertionError with the reason."""
        if self.passed:
            return self
        state = "unscored" if self.is_unscored else "no verdict" if self.answered else "failed"
        reason = make_printable(self.reason or f"score {self.score}")
        raise AssertionError(f"{state}: {reason}")
