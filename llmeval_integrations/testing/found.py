"""What a test found."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest


class Found(NamedTuple):
    """What one evaluator found in a test, in types that every process can send."""

    evaluator: str
    score: float | None
    passed: bool | None
    label: str | None
    reason: str | None


FOUND: Final = pytest.StashKey[list[Found]]()
"""Where a test keeps what its evaluators found."""


class EvaluationFailure(AssertionError):  # noqa: N818 - as pytest calls what a test ends with
    """An output did not pass."""

    def __init__(self, message: str, short: str) -> None:
        super().__init__(message)
        self.short = short
        """The same in a few words."""
