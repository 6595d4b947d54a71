"""What an evaluator's result says, whatever its shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from llmeval_integrations.conformance.case import Says
from llmeval_integrations.core.printable import one_line
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result


class Answer(NamedTuple):
    """One result, in plain values that go from one process to another."""

    says: Says
    """What it says."""

    score: float | None = None
    """The figure, where it gives one."""

    text: str = ""
    """The result as it was, for a person."""

    def agrees_with(self, other: Answer) -> bool:
        """Whether another call said the same."""
        return (self.says, self.score) == (other.says, other.score)


def read_answer(result: Any) -> Answer:
    """Read a boolean, a number from 0 to 1, a mapping or an object with a score or a verdict.

    Only 1 is a yes; None is not a score. Booleans and numbers may be another library's, as numpy's.
    """
    says, score = _read_result(result)
    return Answer(says, score, one_line(quote(result)))


def read_verdict(result: Any) -> Answer:
    """Read Pass or Fail, also as a boolean, a member of an enumeration, or what has a `verdict`."""
    verdict = result
    if isinstance(result, Mapping):
        verdict = result.get("verdict")
    elif hasattr(result, "verdict"):
        verdict = result.verdict
    text = one_line(quote(result))
    if isinstance(verdict, Enum):
        verdict = verdict.value
    if verdict is None:
        return Answer("nothing", None, text)
    if (truth := _read_truth(verdict)) is not None:
        return Answer("Pass" if truth else "Fail", None, text)
    words: dict[str, Says] = {"pass": "Pass", "fail": "Fail"}
    return Answer(words.get(str(verdict).strip().casefold(), "unclear"), None, text)


def _read_result(result: Any) -> tuple[Says, float | None]:
    if result is None:
        return "nothing", None
    if isinstance(result, Result):
        return _decide(result.passed, result.score)
    if isinstance(result, Mapping):
        passed = result.get("passed", result.get("passing"))
        return _decide(passed, result["score"]) if "score" in result else _decide(passed, None)
    if getattr(result, "invalid_result", False):
        return "nothing", None
    if hasattr(result, "score"):
        return _decide(getattr(result, "passed", getattr(result, "passing", None)), result.score)
    return _decide(None, result)


def _decide(passed: Any, score: Any) -> tuple[Says, float | None]:
    """Go by the verdict where there is one, else by the score."""
    number = _read_number(score)
    if (truth := _read_truth(passed)) is not None:
        return ("yes" if truth else "no"), number
    if score is None:
        return "nothing", None
    if number is None or not 0 <= number <= 1:
        return "unclear", None
    return ("yes" if number == 1 else "no"), number


def _read_truth(value: Any) -> bool | None:
    """Return a truth value, numpy's or 1 and 0 among them; None for anything else."""
    number = _read_number(value)
    return bool(number) if number in (0, 1) else None


def _read_number(score: Any) -> float | None:
    """Return a finite number, another library's among them; None for anything else."""
    if isinstance(score, str) or not hasattr(score, "__float__"):
        return None
    try:
        number = float(score)
    except Exception:  # noqa: BLE001 - what is not a number may fail in any way
        return None
    return number if math.isfinite(number) else None
