"""What a test found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

import pytest


class Found(NamedTuple):
    """What one evaluator found in a test, in types that every process can send."""

    evaluator: str
    setup: tuple[str, ...]
    score: float | None
    passed: bool | None
    label: str | None
    reason: str | None


Sent: TypeAlias = tuple[str, tuple[str, ...], float | None, bool | None]
"""What goes along with a test's report: the evaluator, how it is set up, its score and verdict."""

FOUND: Final = pytest.StashKey[list[Found]]()
"""Where a test keeps what its evaluators found."""


def properties(found: Iterable[Found]) -> Iterator[tuple[str, float | bool | str]]:
    """Yield what was found as JUnit's properties: `llmeval.json_match.score`, …

    What it says the second time in the same test is `llmeval.json_match.2.score`.
    """
    times: Counter[str] = Counter()
    for evaluator, _, *values in found:
        times[evaluator] += 1
        time = f".{times[evaluator]}" if times[evaluator] > 1 else ""
        for key, value in zip(Found._fields[2:], values):
            if value is not None:
                yield f"llmeval.{evaluator}{time}.{key}", value


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
