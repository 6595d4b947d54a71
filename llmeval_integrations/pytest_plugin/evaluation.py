"""What a test and the summary of its session exchange."""

from __future__ import annotations

from typing import Final, TypeAlias

import pytest

Evaluation: TypeAlias = tuple[str, "float | None", "bool | None"]
"""An evaluator's name, score and verdict: plain values, which xdist sends between processes."""

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
