"""A judge's judgement of an output: its reasoning, verdict and confidence."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.replies.vocabulary import VERDICT_NAMES, Vocabulary


class _Word(str, Enum):
    """One of a few words, in any case: `Verdict("pass")` equals `Verdict("Pass")`."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        said = str(value).strip().casefold()
        if found := [each for each in cls if each.value.casefold() == said]:
            return found[0]
        words = ", ".join(each.value for each in cls)
        raise InvalidOptionError(f"{cls.__name__} {quote(value)} is not one of {words}")

    __str__ = str.__str__


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
    """One judgement. Words are accepted in any case; an unknown one raises InvalidOptionError."""

    reasoning: str
    """The judge's reasons; empty if it gave none."""

    verdict: Any
    """Pass or Fail; a word or a number if `parse_judgement` was given `words` or `scale`."""

    confidence: Confidence | None = None
    """High, Medium or Low; None if the judge gave none of these."""

    inconsistent: bool = False
    """Whether the reasoning concludes with another verdict."""

    def __post_init__(self) -> None:
        if str(self.verdict).strip().casefold() in ("pass", "fail"):
            msgspec.structs.force_setattr(self, "verdict", Verdict(self.verdict))
        if self.confidence is not None:
            msgspec.structs.force_setattr(self, "confidence", Confidence(self.confidence))


_PASSED: Final = (
    "pass passed passes bestanden aprobado aprovado réussi 通过 合格 пройдено 합격 ✅ ✔"
)
_FAILED: Final = "fail failed fails échec reprovado 不通过 未通过 不合格 불합격 ❌ ✗"
_FAILED_IN_TWO_WORDS: Final = ("nicht bestanden", "no aprobado", "не пройдено")

VERDICT: Final = Vocabulary(
    "verdict",
    {
        **dict.fromkeys(_PASSED.split(), Verdict.PASS),
        **dict.fromkeys((*_FAILED.split(), *_FAILED_IN_TWO_WORDS), Verdict.FAIL),
    },
    aliases=VERDICT_NAMES,
    decisive=True,
)
CONFIDENCE: Final = Vocabulary(
    "confidence",
    {
        "high": Confidence.HIGH,
        "medium": Confidence.MEDIUM,
        "moderate": Confidence.MEDIUM,
        "low": Confidence.LOW,
    },
    aliases=("confidence level", "certainty"),
)
