"""The results of a test, and how a test fails by them."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest


class Evaluation(NamedTuple):
    """The result of one evaluator in a test, in types that can be sent between processes."""

    evaluator: str
    score: float | None
    passed: bool | None
    label: str | None
    reason: str | None


EVALUATIONS: Final = pytest.StashKey[list[Evaluation]]()
"""The key under which a test stores its evaluations."""


class EvaluationFailure(AssertionError):  # noqa: N818 - pytest's term for the end of a test
    """An output did not pass."""

    __module__ = "builtins"  # else the module's name fills pytest's short summary

    def __init__(self, message: str, line: str, *, undecided: bool) -> None:
        super().__init__(message)
        self.line = line
        """The message in one line."""
        self.undecided = undecided
        """Whether an evaluator gave no score or no verdict; no pass rate allows for this."""
