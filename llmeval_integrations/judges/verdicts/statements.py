"""Finding what a text states under labels: "**Verdict:** Pass", a heading, "my verdict is Fail"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal

import msgspec

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.judges.verdicts.judgement import Verdict
from llmeval_integrations.judges.verdicts.spans import MASK
from llmeval_integrations.judges.verdicts.words import QUOTES, first_mention

_MOST = 2_000
_BLANK = r"[^\S\n]"  # white space within a line; French puts a hard space before a colon
_QUOTE = re.escape(QUOTES.replace("`", ""))
_LEAD_WORDS = (
    r"(?:(?:so|thus|therefore|hence|and|finally|in conclusion|conclusion|correction|my|the|our"
    r"|final|overall)[\s,:]{1,3}){0,4}"
)
# A judge's own label opens a line or a sentence. Markdown, numbers and symbols may stand before
# it, but no ">", which quotes, and no "~", which strikes out.
_OPENING = re.compile(
    rf"(?:\A|[\n({MASK}]|[.!?;|)\]][\"'”»)*_]{{0,3}}{_BLANK})"
    rf"[^\w\n{_QUOTE}<>~]{{0,12}}(?:\d{{1,2}}[.):](?:{_BLANK}|[*_]){{0,4}})?"
    rf"{_LEAD_WORDS}[*_`]{{0,3}}\Z",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"(?:[ _-]level)?[*_`\\{_QUOTE}\])}}]{{0,4}}{_BLANK}{{0,4}}"
    rf"(?:[(\[][^()\[\]\n]{{0,60}}[)\]][*_`]{{0,3}}{_BLANK}{{0,4}})?"
    r"(?:(?P<mark>[:：=|]{1,2}>?|[-–—]>|→|⇒|[-–—](?=\s))"
    rf"|(?P<heading>{_BLANK}{{0,40}}\n)"
    r"|(?:(?P<is>is)|was|of|as|to|be|remains|stays|stands|becomes"
    r"|(?:should|would|must|will|can|has to|ought to)(?: only)? be):?"
    rf"(?=[\s*_`{_QUOTE}:]{{1,4}}(?:\w{{1,20}}[\s*_{_QUOTE}]{{1,4}}){{0,3}}"
    r"(?:pass|fail|high|medium|low)))",
    re.IGNORECASE,
)
_CONCLUDING = re.compile(
    rf"\b(?:my|correct|right|final|overall|so|thus|therefore|hence)[ \t]"
    rf"[^.!?\n{_QUOTE}]{{0,30}}\Z",
    re.IGNORECASE,
)
_SOMETHING = re.compile(rf"[^\s*_#={MASK}-]")
_BARE: Final = {
    verdict: re.compile(
        rf"^[ \t*_`#(\[\"]{{0,8}}{verdict.value}(?:ed)?[ \t*_`)\].!\"]{{0,8}}$",
        re.IGNORECASE | re.MULTILINE,
    )
    for verdict in Verdict
}
RELATED: Final = "related"
"""The name of a statement under a label that means much the same as a verdict's."""

_RELATED_LABEL = (
    r"(?:final|overall)[ \t]+(?:answer|result|decision|judge?ment|assessment|conclusion|rating"
    r"|evaluation|outcome|grade|score)"
)

Manner = Literal["own", "concluding", "passing", "key"]

_END: Final = "\x03"
"""Stands where a tag closed what a label states."""


class Statement(msgspec.Struct, frozen=True):
    """A label and what follows it."""

    name: str
    """Which label, as the caller knows it, or RELATED."""

    manner: Manner
    """`own`: the label opens a line or a sentence. `key`: it stands in quotation marks, as a key of
    an object does. `concluding`: it stands elsewhere, behind "so the" or "my". `passing`: the
    rest."""

    begin: int
    """Where the label begins, the marks before it included."""

    label: int
    """Where the label itself begins."""

    start: int
    """Where what it states begins."""

    text: str
    """What it states."""

    closed: bool = False
    """Whether a tag ends it."""

    @property
    def head(self) -> str:
        """The first line that says something."""
        return next((line for line in self.text.split("\n") if _SOMETHING.search(line)), "").strip()

    @property
    def head_start(self) -> int:
        """Where that line begins."""
        return self.start + self.text.index(self.head)

    @property
    def head_end(self) -> int:
        """Where that line ends."""
        return self.head_start + len(self.head)

    @property
    def told_end(self) -> int:
        """Where the first word for a verdict in that line ends, or else the line."""
        mentioned = first_mention(self.head)
        return self.head_start + mentioned if mentioned else self.head_end

    @property
    def end(self) -> int:
        """Where all that it states ends."""
        return self.start + len(self.text)


def with_labels_for_tags(text: str, labels: Iterable[str]) -> str:
    """Write `<verdict>` as a label on a line of its own, other tags as blank; lengths stay."""
    return _tags(tuple(labels)).sub(_as_label, text)


def find_statements(text: str, labels: Mapping[str, str]) -> list[Statement]:
    """Find what a text, in which labels stand for tags, states under labels, in its order.

    `labels` gives each label, in small letters, the name that statements bear. Raises
    UnreadableJudgementError where there are thousands of labels.
    """
    found: list[Statement] = []
    for count, word in enumerate(_pattern(tuple(labels)).finditer(text)):
        if count > _MOST:
            raise UnreadableJudgementError(f"more than {_MOST} labels")
        closing = _CLOSING.match(text, word.end())
        if not closing:
            continue
        begin, manner = _before(text, word.start())
        if closing["heading"] and manner != "own":
            continue
        if not closing["mark"] and not closing["heading"] and not closing["is"]:
            manner = "passing"  # "my verdict would be Pass" is not a verdict yet
        name = labels.get(_spaced(word["name"] or ""), RELATED)
        found.append(Statement(name, manner, begin, word.start(), closing.end(), ""))
    ends = [item.begin for item in found[1:]] + [len(text)]
    return [_up_to(end, item, text) for item, end in zip(found, ends)]


def _up_to(end: int, statement: Statement, text: str) -> Statement:
    stated, closing, _ = text[statement.start : end].partition(_END)
    return msgspec.structs.replace(statement, text=stated, closed=bool(closing))


def find_bare_verdicts(text: str) -> set[Verdict]:
    """Find lines that are a verdict and nothing else."""
    return {verdict for verdict, line in _BARE.items() if line.search(text)}


def _before(text: str, start: int) -> tuple[int, Manner]:
    """Return where a label begins with what stands before it, and its manner."""
    opening = _OPENING.search(text, max(0, start - 60), start)
    if opening:
        return opening.start(), "own"
    if start and text[start - 1] in QUOTES and text[start - 1] != "`":
        return start - 1, "key"
    concluding = _CONCLUDING.search(text, max(0, start - 50), start)
    return start, "concluding" if concluding else "passing"


@lru_cache(maxsize=32)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    names = _one_of(labels)
    return re.compile(
        rf"(?<![^\W_])(?:(?P<name>{names})|{_RELATED_LABEL})(?![^\W_])", re.IGNORECASE
    )


@lru_cache(maxsize=32)
def _tags(labels: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"<(?P<end>/?)(?P<label>{_one_of(labels)})>|</?(?:b|strong|em|i|p|br|li|h[1-6])\s?/?>",
        re.IGNORECASE,
    )


def _as_label(tag: re.Match[str]) -> str:
    if tag["label"] and not tag["end"]:
        return f"\n{tag['label']}:"
    if tag["label"]:
        return f"\n{_END}".ljust(len(tag[0]))
    return " " * len(tag[0])


def _one_of(labels: tuple[str, ...]) -> str:
    longest_first = sorted(labels, key=len, reverse=True)
    return "|".join(re.escape(label).replace(r"\ ", "[ _-]") for label in longest_first)


def _spaced(label: str) -> str:
    return re.sub(r"[ _-]", " ", label.casefold())
