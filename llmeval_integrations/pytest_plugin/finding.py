"""What a test found."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest


class Finding(NamedTuple):
    """What one evaluator found in a test, in types that every process can send."""

    evaluator: str
    setup: str
    """Its options that are not the default ones."""
    score: float | None
    passed: bool | None
    label: str | None
    reason: str | None


FINDINGS: Final = pytest.StashKey[list[Finding]]()
"""Where a test keeps what its evaluators found."""


class EvaluationFailure(AssertionError):  # noqa: N818 - as pytest calls what a test ends with
    """An output did not pass."""

    __module__ = "builtins"  # else the module's name fills pytest's short summary

    def __init__(self, message: str, short: str, *, undecided: bool) -> None:
        super().__init__(message)
        self.short = short
        """The same in a few words."""
        self.undecided = undecided
        """Whether an evaluator gave no score or no verdict, which no pass rate allows for."""
