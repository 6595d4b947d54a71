"""What a judge says of an output: its reasoning, a verdict, and how sure it is."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, Final, TypeAlias

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.replies.objects import Members, find, plain_name
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.judges.replies.reader import NoStatementError, Reader, Reading
from llmeval_integrations.judges.replies.vocabulary import REASONS, VERDICT_NAMES, Vocabulary
from llmeval_integrations.llm.reasoning import strip_reasoning

_log = logging.getLogger(__name__)


class _Word(str, Enum):
    """A word out of a few; `Verdict("pass")` is as good as `Verdict("Pass")`."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        said = value.strip().casefold() if isinstance(value, str) else None
        for member in cls:
            if member.value.casefold() == said:
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
    """Why; empty where the judge gave no reasons."""

    verdict: Any
    """Pass or Fail; one of the words or a number where `parse_judgement` was asked for these."""

    confidence: Confidence | None = None
    """High, Medium or Low; None where the judge did not say, or said it in other words."""

    inconsistent: bool = False
    """Whether the reasoning comes to another verdict."""

    def __post_init__(self) -> None:
        if str(self.verdict).strip().casefold() in ("pass", "fail"):
            msgspec.structs.force_setattr(self, "verdict", Verdict(self.verdict))
        if self.confidence is not None:
            msgspec.structs.force_setattr(self, "confidence", Confidence(self.confidence))

    @classmethod
    def of(cls, reading: Reading) -> Judgement:
        """Return what a reply says as a judgement."""
        # half a surrogate pair, which JSON can escape, could be written nowhere
        reasoning = reading.reasoning.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return cls(reasoning, reading.value, reading.confidence, reading.inconsistent)


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

Method: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""Looks for a judgement in a text: gives its parts by name, or None where it finds none."""


def parse_judgement(
    reply: Any,
    required_keys: Sequence[str] = ("verdict",),
    *,
    words: Sequence[str] | None = None,
    scale: tuple[float, float] | None = None,
    methods: Sequence[Method] = (),
    ignoring: Sequence[str] = (),
    fence: str = "",
) -> Judgement:
    """Read a judgement from a judge's raw reply, or from a mapping.

    What it states has to agree, outside of its thinking and of what it quotes. Replies of other
    libraries are read by `words` or `scale`:

    >>> parse_judgement("Assistant A is better. [[A]]", words=("A", "B", "C")).verdict
    'A'

    Args:
        reply: The text, a mapping, or a pydantic model.
        required_keys: What has to be there; "decision" calls the verdict by another name.
        words: The verdicts, where they are others than Pass and Fail.
        scale: The lowest and the highest number, where the verdict is one.
        methods: Parsers of one's own, each tried where the reply states no verdict.
        ignoring: Texts that the reply may quote.
        fence: The mark in the tags around foreign text, `<output MARK>` and `</output MARK>`.

    Raises UnreadableJudgementError, where it does not say one verdict for sure or lacks what is
    required, and InvalidOptionError.
    """
    names = [plain_name(key) for key in _as_tuple("required_keys", required_keys, str)]
    quotations = Quotations(_as_tuple("ignoring", ignoring, str), fence)
    tried = _as_tuple("methods", methods, Callable)
    reader = Reader(_vocabulary(names, words, scale), CONFIDENCE, quotations)
    try:
        reading = _read(reply, reader, tried)
        _check_names(names, reading, reader.vocabulary.name, reply)
    except UnreadableJudgementError as error:
        raise UnreadableJudgementError(f"Unreadable judgement, {error}: {quote(reply)}") from None
    return Judgement.of(reading)


def _read(reply: Any, reader: Reader, methods: Sequence[Method]) -> Reading:
    if not isinstance(reply, str):
        return reader.read_members(_members(reply))
    try:
        return reader.read(reply)
    except NoStatementError:
        for method in methods:
            try:
                found = method(strip_reasoning(reply))
            except Exception as error:  # noqa: BLE001 - how a method says that it found nothing
                _log.info("%r reads no judgement: %r", method, error)
                continue
            if isinstance(found, Mapping):
                return reader.read_members(_members(found))
        raise


def _check_names(names: Sequence[str], reading: Reading, verdict: str, reply: Any) -> None:
    """Raise where something that is required is not there."""
    words = reply if isinstance(reply, str) else "\n".join(f"{name}:" for name in _members(reply))
    for name in names:
        if name in REASONS:
            is_there = bool(reading.reasoning)
        elif name in (CONFIDENCE.name, *CONFIDENCE.aliases):
            is_there = reading.confidence is not None
        else:
            label = re.escape(name).replace("\\ ", r"[\s_-]")
            is_there = name == verdict or bool(re.search(rf"(?i)\b{label}\W{{0,6}}[:=>]", words))
        if not is_there:
            raise UnreadableJudgementError(f"it has no {name}")


def _vocabulary(
    names: Sequence[str], words: Sequence[str] | None, scale: tuple[float, float] | None
) -> Vocabulary:
    name = next((each for each in names if each in VERDICT_NAMES), VERDICT.name)
    aliases = tuple(each for each in (VERDICT.name, *VERDICT_NAMES) if each != name)
    if scale is not None:
        is_pair = (
            isinstance(scale, (tuple, list)) and len(scale) == 2 and all(map(is_number, scale))
        )
        if words is not None or not is_pair:
            raise InvalidOptionError(f"scale={quote(scale)} is not a pair (lowest, highest)")
        return Vocabulary(name, scale=(float(scale[0]), float(scale[1])), aliases=aliases)
    if words is not None:
        given = _as_tuple("words", words, str)
        return Vocabulary(name, tuple((word.casefold(), word) for word in given), aliases=aliases)
    return VERDICT if name == VERDICT.name else replace(VERDICT, name=name, aliases=aliases)


def _as_tuple(name: str, given: Any, kind: Any) -> tuple[Any, ...]:
    """Return an argument of several things as a tuple; one alone is taken for several."""
    things = (given,) if isinstance(given, kind) else given
    if not isinstance(things, Sequence) or not all(isinstance(each, kind) for each in things):
        raise InvalidOptionError(f"{name}={quote(given)} is not a list of {kind.__name__}")
    return tuple(things)


def _members(reply: Any) -> Members:
    try:
        given = reply.model_dump() if hasattr(type(reply), "model_dump") else reply
        return find(dict(given), lambda _: True)[0]
    except Exception as error:
        raise UnreadableJudgementError("it is neither a text nor a mapping") from error
