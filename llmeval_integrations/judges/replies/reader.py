"""One reader for all judges: what a reply states, or that it states nothing for sure.

An object with the mark that the request asked for is the judge's own, whatever stands around it.
Without one every place counts that states `name: word`, in whatever dress. What repeats a text that
was shown counts for nothing, and all that is left has to agree. A reply whose judge rewords what
it was shown cannot be told from its own words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.replies.answer import (
    blank,
    find_answer,
    find_reasons,
    is_marked,
    reasons_of,
)
from llmeval_integrations.judges.replies.objects import (
    Members,
    find,
    objects,
    repair,
)
from llmeval_integrations.judges.replies.phrases import (
    CONCLUSION,
    CONDITION,
    COPY,
    DENIAL,
    OPENING,
    POLITENESS,
    REASONING,
    RETRACTION,
    is_introduced,
)
from llmeval_integrations.judges.replies.quotations import Quotations, decode, letters
from llmeval_integrations.judges.replies.vocabulary import Statement, Vocabulary

_LINE_START: Final = re.compile(
    r"(?:^|[\n>])(?:[^\w\n|>\"'“«(]{0,8}"
    r"|[\s*_#-]*\w* ?(?:final|overall|my|the|so|therefore,?)\s)\Z",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<[^<>]*>?")
_MORE: Final = r" it(?: is)?| verdict| with \w+ confidence"
_LAST_WORDS: Final = 60
"""Characters of the reasons in which they come to a conclusion."""
_NEXT: Final = 6
"""Letters before a label that tell a copy of its place."""
_BESIDE: Final = 40
"""Characters before a word among which it is looked at."""


class NoStatementError(UnreadableJudgementError):
    """The reply states nothing, for sure or not."""


class Reading(NamedTuple):
    """What a reply says."""

    value: Any
    """The answer."""

    reasoning: str
    """The reasons; empty where there are none."""

    confidence: Any
    """How sure the judge is; None where it does not say so clearly."""

    inconsistent: bool = False
    """Whether the reasons come to another answer."""


class _Claim(NamedTuple):
    """What an object states."""

    statement: Statement
    members: Members
    """The object."""

    marked: bool
    """Whether it, or the object around it, carries the mark."""


class Reader:
    """Reads one kind of answer out of replies to one request."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        confidence: Vocabulary | None = None,
        quotations: Quotations | None = None,
        mark: str = "",
    ) -> None:
        self.vocabulary = vocabulary
        self.confidence = confidence
        self.quotations = quotations or Quotations()
        self.mark = mark

    def read(self, reply: str) -> Reading:
        """Return what a reply says; raises UnreadableJudgementError."""
        text = find_answer(reply, self.mark, self.decides)
        claims = list(self._claims(text))
        marked = [each for each in claims if each.marked]
        if marked:
            return self._agree([each.statement for each in marked], marked, text)
        rest = decode(blank(text, [each.statement for each in claims]))
        own = [each for each in claims if self._is_own(each, text)]
        stated = [*(each.statement for each in own), *self._find_statements(rest, own)]
        if not stated and (claims or any(self.vocabulary.statements(rest))):
            raise NoStatementError("it only repeats a text that was shown")
        claims, text = own, text if own else rest
        reading = self._agree(stated, claims, text)
        ends = [each.statement.end for each in claims] or [each.end for each in stated]
        self._check_tail(text[max(ends) :], reading.value)
        return reading

    def read_members(self, members: Members) -> Reading:
        """Return what an object says that is known to be an answer."""
        claims = [_Claim(each, members, marked=False) for each in self._read_members(members, 0, 0)]
        own = [each for each in claims if not self._repeats(each)]
        if claims and not own:
            raise UnreadableJudgementError("it only repeats a text that was shown")
        return self._agree([each.statement for each in own], own, "")

    def decides(self, text: str) -> bool:
        """Whether an object of the judge's own stands in a text, or its answer before all else."""
        return any(each.start == 0 for each in self.vocabulary.lone(text)) or any(
            each.marked or self._is_own(each, text) for each in self._claims(text)
        )

    # --- where answers stand ---------------------------------------------------------------------

    def _claims(self, text: str) -> Iterator[_Claim]:
        """Yield what objects state, by the answer's name, else by another."""
        found = objects(text) or repair(text)
        for fits in (self._has_name, self._has_alias, self._has_flag):
            holders = [(each, find(each.members, fits)) for each in found]
            for (start, end, members), inner in holders:
                marked = any(is_marked(each, self.mark) for each in (members, *inner))
                if len(inner) > 1:
                    several = Statement(None, "several answers in one", start, end)
                    yield _Claim(several, members, marked)
                elif inner:
                    for statement in self._read_members(inner[0], start, end):
                        yield _Claim(statement, inner[0], marked)
            if any(inner for _, inner in holders):
                return

    def _has_name(self, members: Members) -> bool:
        return self.vocabulary.name in members

    def _has_flag(self, members: Members) -> bool:
        return bool(self._flags(members))

    def _has_alias(self, members: Members) -> bool:
        return any(
            name in members and self.vocabulary.read(members[name]) is not None
            for name in self.vocabulary.aliases
        )

    def _read_members(self, members: Members, start: int, end: int) -> Iterator[Statement]:
        """Yield all that an object states of the answer; what is called like it has to agree."""
        for name in (self.vocabulary.name, *self.vocabulary.aliases):
            if name not in members:
                continue
            value = self.vocabulary.read(members[name])
            if value is None and name != self.vocabulary.name:
                continue
            yield Statement(value, f"{name} {members[name]}", start, end)
        for value, source in self._flags(members):
            yield Statement(value, source, start, end)
        reasoning = reasons_of(members)
        if re.fullmatch(r"\s*(?:\W{2,}|<[^<>]*>|\[[^\[\]]*\])\s*", reasoning):
            yield Statement(None, f"a form that is not filled in ({reasoning})", start, end)

    def _flags(self, members: Members) -> list[tuple[Any, str]]:
        """List what members such as `passed: true` state."""
        found = []
        for name, value in members.items():
            flag = re.fullmatch(r"(?:is |has |did )?(\w+)", name)
            meaning = (
                flag and self.vocabulary.meaning(flag[1]) if not self.vocabulary.scale else None
            )
            said = str(value).casefold()
            if meaning is None or said not in ("true", "false", "yes", "no"):
                continue
            values = dict.fromkeys(value for _, value in self.vocabulary.words)
            others = [each for each in values if each != meaning]
            if len(others) == 1:
                is_so = said in ("true", "yes")
                found.append((meaning if is_so else others[0], f"{name} {said}"))
        return found

    def _find_statements(self, text: str, claims: Sequence[_Claim]) -> list[Statement]:
        """List what the text itself states, outside of its objects."""
        for by_alias in (False, True):
            if by_alias and claims:
                continue
            found = [
                each
                for each in self.vocabulary.statements(text, by_alias=by_alias)
                if not is_introduced(text, each.start)
            ]
            own: list[Statement] = []
            foreign: list[Statement] = []
            for each in found:
                (foreign if self.quotations.hold(each.source) else own).append(each)
            if found:
                return [*self._drop_examples(own, text), *self._labels(foreign, text)]
        return [each for each in self.vocabulary.lone(text) if not self._is_copy(each, text)]

    # --- whose answers they are ------------------------------------------------------------------

    def _is_own(self, each: _Claim, text: str) -> bool:
        return not is_introduced(text, each.statement.start) and not self._repeats(each)

    def _repeats(self, each: _Claim) -> bool:
        reasoning, source = reasons_of(each.members), each.statement.source
        return self.quotations.repeat(source, reasoning) or (
            bool(re.search(r"[:,]\s*\Z", reasoning)) and self.quotations.hold(source)
        )

    def _is_copy(self, each: Statement, text: str) -> bool:
        """Whether a lone word was shown, with its brackets or with what stands before it."""
        around = text[max(0, each.start - _BESIDE) : each.end]
        if letters(around) == letters(each.source):
            return each.source[-1:] in "]}" and self.quotations.hold_raw(each.source)
        return self.quotations.hold(around)

    def _drop_examples(self, own: Sequence[Statement], text: str) -> list[Statement]:
        reasons = REASONING.search(text)
        reasoning = reasons["text"] if reasons else ""
        return [each for each in own if not self.quotations.repeat(each.source, reasoning)]

    def _labels(self, foreign: Sequence[Statement], text: str) -> Iterator[Statement]:
        """Yield statements that were shown, too, and are labels beside reasons of the judge's."""
        copy = COPY.search(text) if foreign else None
        reasons = [*REASONING.finditer(text)] if foreign else []
        ends = [found.end("text") for found in reasons]
        own: dict[tuple[str, int], bool] = {}
        for each in foreign:
            place = bisect_right(ends, each.start)
            nearest = min(max(place - 1, 0), len(reasons) - 1)
            if (
                nearest < 0
                or (copy and not copy.start() < reasons[nearest].start() < each.start)
                or not self._begins_line(each, text)
                or (place and OPENING.search(reasons[nearest]["text"][-_BESIDE:]))
            ):
                continue
            key = each.source, nearest
            if key not in own:
                own[key] = not self.quotations.repeat(each.source, reasons[nearest]["text"])
            if own[key]:
                yield each

    def _begins_line(self, each: Statement, text: str) -> bool:
        """Whether a statement stands on a line of its own, below words that were not shown."""
        before = text[max(0, each.start - _BESIDE) : each.start]
        above = letters(re.sub(r"(?i)confidence\W{1,9}\w+\W*\Z", "", _TAG.sub("", before)))[-_NEXT:]
        copied = len(above) == _NEXT and self.quotations.hold(above + each.source)
        return bool(_LINE_START.search(before)) and not copied

    # --- what they come to -----------------------------------------------------------------------

    def _agree(self, stated: Sequence[Statement], claims: Sequence[_Claim], text: str) -> Reading:
        if not stated:
            raise NoStatementError(f"it has no {self.vocabulary.name} of its own")
        values = dict.fromkeys(each.value for each in stated)
        if len(values) > 1 or None in values:
            said = " / ".join(dict.fromkeys(each.source.strip() for each in stated))
            raise UnreadableJudgementError(
                f"its {self.vocabulary.name} is not clear: {quote(said)}"
            )
        value = stated[0].value
        reasoning = reasons_of(claims[0].members) if claims else find_reasons(text, stated)
        inconsistent = self._contradicts(reasoning, value)
        return Reading(value, reasoning, self._read_confidence(claims, text), inconsistent)

    def _read_confidence(self, claims: Sequence[_Claim], text: str) -> Any:
        if self.confidence is None:
            return None
        for name in (self.confidence.name, *self.confidence.aliases):
            if claims and name in claims[0].members:
                return self.confidence.read(claims[0].members[name])
        found = [
            each
            for by_alias in (False, True)
            for each in self.confidence.statements(decode(text), by_alias=by_alias)
            if not is_introduced(text, each.start)
        ]
        own = [each for each in found if not self.quotations.hold(each.source)] or found
        values = dict.fromkeys(each.value for each in own)
        return next(iter(values)) if len(values) == 1 else None

    def _contradicts(self, reasoning: str, value: Any) -> bool:
        """Whether the reasons come to another answer than the one that is given."""
        reasoning = decode(reasoning)
        for each in self.vocabulary.statements(reasoning):
            if each.value not in (None, value) and not self._is_quoted(each, reasoning):
                return True
        if not self.vocabulary.decisive:
            return False
        reasoning = blank(reasoning, [*self.vocabulary.statements(reasoning)])
        last = re.split(r"[.!?\n]\s", reasoning.strip().rstrip(".!"))[-1][-_LAST_WORDS:]
        if re.search(rf"(?i)\b(?:not|no)\b[\w ]{{0,16}}\b{self._word(value)}\w*\W*\Z", last):
            return True
        if re.search(r"\b(?:not|never|would|if)\b|n't|(?<!\w)'|[\"«“]", last, re.IGNORECASE):
            return False
        others = [word for word, each in self.vocabulary.words if each != value]
        words = "|".join(map(re.escape, others))
        return bool(re.search(rf"(?i){CONCLUSION}(?:{words})(?:ure)?(?:{_MORE})?\W*\Z", last))

    def _word(self, value: Any) -> str:
        return re.escape(next(word for word, each in self.vocabulary.words if each == value))

    def _is_quoted(self, each: Statement, text: str) -> bool:
        return is_introduced(text, each.start) or self.quotations.hold(each.source)

    def _check_tail(self, tail: str, value: Any) -> None:
        """Raise where what stands behind the answer takes it back."""
        found = [each.statement for each in self._claims(tail)]
        tail = decode(blank(tail, found))
        for each in [*self.vocabulary.statements(tail)][::-1]:
            tail = tail[: each.start] + " " + tail[each.end :]
        tail = POLITENESS.sub("", REASONING.sub("", tail))
        if self.quotations.hold(tail):
            return
        back = bool(RETRACTION.search(tail))
        if self.vocabulary.decisive:
            others = "|".join(
                re.escape(word) for word, each in self.vocabulary.words if each != value
            )
            affirmed = re.sub(rf"{DENIAL}(?:{others})", "", CONDITION.sub("", tail))
            back = back or bool(re.search(DENIAL + self._word(value), tail))
            back = back or self.vocabulary.mentions_other(affirmed, value)
        if back:
            raise UnreadableJudgementError(f"it goes on to take its {self.vocabulary.name} back")
