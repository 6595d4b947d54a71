"""What an evaluator said in a test, and the failure that comes of it."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest


class Evaluation(NamedTuple):
    """What one evaluator said in a test, in types that every process can send."""

    evaluator: str
    score: float | None
    passed: bool | None
    label: str | None
    reason: str | None


EVALUATIONS: Final = pytest.StashKey[list[Evaluation]]()
"""Where a test keeps what its evaluators said."""


class EvaluationFailure(AssertionError):  # noqa: N818 - as pytest calls what a test ends with
    """An output did not pass."""

    __module__ = "builtins"  # else the module's name fills pytest's short summary

    def __init__(self, message: str, line: str, *, undecided: bool) -> None:
        super().__init__(message)
        self.line = line
        """The same in a line."""
        self.undecided = undecided
        """Whether an evaluator gave no score or no verdict, which no pass rate allows for."""
