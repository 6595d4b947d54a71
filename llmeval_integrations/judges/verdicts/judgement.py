"""What a judge says of an output: its reasoning, a verdict, and how sure it is."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote


class _Word(str, Enum):
    """A word out of a few; `Verdict("pass")` is as good as `Verdict("Pass")`."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if isinstance(value, str):
            for member in cls:
                if member.value.casefold() == value.strip().casefold():
                    return member
        words = ", ".join(member.value for member in cls)
        raise InvalidOptionError(f"{cls.__name__} {quote(value)} is not one of {words}")

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, specification: str) -> str:  # Python 3.10 to 3.12 differ here
        return format(str(self.value), specification)


class Verdict(_Word):
    """Whether an output passes."""

    PASS = "Pass"  # noqa: S105 - a verdict
    FAIL = "Fail"


class Confidence(_Word):
    """How sure a judge is."""

    HIGH = "High"
    MEDIUM = "Medium"
    LOW = "Low"


class Judgement(msgspec.Struct, frozen=True):
    """One judgement. Words are taken in any case; a wrong one raises InvalidOptionError."""

    reasoning: str
    """Why; empty where the judge was not asked for reasons and gave none."""

    verdict: Verdict
    """Pass or Fail."""

    confidence: Confidence | None = None
    """High, Medium or Low; None where the judge was not asked how sure it is and did not say."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "verdict", Verdict(self.verdict))
        if self.confidence is not None:
            msgspec.structs.force_setattr(self, "confidence", Confidence(self.confidence))
