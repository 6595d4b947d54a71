"""What an evaluator's result says, whatever its shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from llmeval_integrations.conformance.case import Says
from llmeval_integrations.core.printable import one_line
from llmeval_integrations.core.quoting import quote

_WORDS: Final[dict[str, Says]] = {"pass": "Pass", "fail": "Fail"}


class Answer(NamedTuple):
    """One result, in plain values that go from one process to another."""

    says: Says
    score: float | None = None
    text: str = ""

    def __str__(self) -> str:
        return f"{self.says}: {self.text}"

    def agrees_with(self, other: Answer) -> bool:
        """Whether another call said the same."""
        return (self.says, self.score) == (other.says, other.score)


def read_score(result: Any) -> Answer:
    """Read a boolean, a number from 0 to 1, a mapping or an object with a score or a verdict.

    Only 1 is a yes. Booleans and numbers may be another library's, as NumPy's.
    """
    passed, score = None, result
    if isinstance(result, Mapping) or hasattr(result, "score"):
        passed = _get(result, "passed", _get(result, "passing"))
        score = _get(result, "score")
    text, number, truth = one_line(quote(result)), _read_number(score), _read_number(passed)
    if truth in (0, 1):
        return Answer("yes" if truth else "no", number, text)
    if score is None or getattr(result, "invalid_result", False):  # LlamaIndex's
        return Answer("nothing", None, text)
    if number is None or not 0 <= number <= 1:
        return Answer("unclear", None, text)
    return Answer("yes" if number == 1 else "no", number, text)


def read_verdict(result: Any) -> Answer:
    """Read Pass or Fail, also as a boolean, a member of an enumeration, or what has a `verdict`."""
    verdict = _get(result, "verdict", None if isinstance(result, Mapping) else result)
    if isinstance(verdict, Enum):
        verdict = verdict.value
    text, number = one_line(quote(result)), _read_number(verdict)
    if verdict is None:
        return Answer("nothing", None, text)
    if number in (0, 1):
        return Answer("Pass" if number else "Fail", None, text)
    return Answer(_WORDS.get(str(verdict).strip().casefold(), "unclear"), None, text)


def _get(result: Any, name: str, default: Any = None) -> Any:
    """Return a member of a mapping or an attribute of an object."""
    if isinstance(result, Mapping):
        return result.get(name, default)
    return getattr(result, name, default)


def _read_number(value: Any) -> float | None:
    """Return a finite number or a truth value, another library's among them; None for others."""
    if isinstance(value, str) or not hasattr(value, "__float__"):
        return None
    try:
        number = float(value)
    except Exception:  # noqa: BLE001 - what is not a number may fail in any way
        return None
    return number if math.isfinite(number) else None
