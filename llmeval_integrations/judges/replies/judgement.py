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

    def __format__(self, format_spec: str) -> str:  # Python 3.10 to 3.12 differ here
        return format(self.value, format_spec)


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


_WORDS: Final[dict[Any, str]] = {
    Verdict.PASS: "pass,passed,passes,bestanden,aprobado,aprovado,réussi,"
    "通过,合格,пройдено,합격,✅,✔",
    Verdict.FAIL: "fail,failed,fails,échec,reprovado,不通过,未通过,不合格,불합격,nicht bestanden,"
    "no aprobado,не пройдено,❌,✗",
    Confidence.HIGH: "high,hoch,alta,高",
    Confidence.MEDIUM: "medium,moderate,mittel,media,中",
    Confidence.LOW: "low,niedrig,baja,低",
}


def _words(kind: type[_Word]) -> tuple[tuple[str, Any], ...]:
    return tuple((word, value) for value in kind for word in _WORDS[value].split(","))


VERDICT: Final = Vocabulary("verdict", _words(Verdict), aliases=VERDICT_NAMES, decisive=True)
CONFIDENCE: Final = Vocabulary(
    "confidence", _words(Confidence), aliases=("certainty", "konfidenz", "置信度")
)
