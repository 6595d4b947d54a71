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


MISSED: Final = "llmeval_missed"
"""What the report of a missed pass rate has: how the terminal calls it."""


class EvaluationFailure(AssertionError):  # noqa: N818 - as pytest calls what a test ends with
    """An output did not pass."""

    __module__ = "builtins"  # else the module's name fills pytest's short summary

    def __init__(self, message: str, short: str, *, undecided: bool) -> None:
        super().__init__(message)
        self.short = short
        """The same in a few words."""
        self.undecided = undecided
        """Whether an evaluator gave no score or no verdict, which no pass rate allows for."""
