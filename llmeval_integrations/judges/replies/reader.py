"""One reader for all judges: what a reply states, or that it states nothing for sure.

An object with the mark that the request asked for is the judge's own, whatever stands around it.
Without one every place counts that states `name: word`, in whatever dress. What repeats a text that
was shown counts for nothing, and all that is left has to agree. A reply whose judge rewords what
it was shown cannot be told from its own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.replies.objects import Members, find, objects
from llmeval_integrations.judges.replies.phrases import (
    CONCLUSION,
    CONDITION,
    DENIAL,
    REASONING,
    RETRACTION,
    is_introduced,
)
from llmeval_integrations.judges.replies.quotations import Quotations, decode, letters
from llmeval_integrations.judges.replies.vocabulary import REASONS, Statement, Vocabulary
from llmeval_integrations.llm.reasoning import strip_reasoning

_LINE_START: Final = re.compile(
    r"(?:^|[\n>])(?:[^\w\n|>\"'“«(]{0,8}|[\s*_#-]*\w* ?(?:final|overall|my|the|so)\s)\Z",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<[^<>]*>?")
_FORM: Final = re.compile(r"\s*(?:\W{2,}|<[^<>]*>|\[[^\[\]]*\])\s*")
_SENTENCE: Final = re.compile(r"[.!?。！？)]\s*\Z")
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
    reasoning: str
    confidence: Any = None  # None where the judge does not say clearly how sure it is
    inconsistent: bool = False  # whether the reasons come to another answer


class _Claim(NamedTuple):
    """What an object states."""

    statement: Statement
    members: Members
    marked: bool


def find_answer(reply: str, mark: str, decides: Callable[[str], bool]) -> str:
    """Return a reply without its thinking, and without what is copied with its fence."""
    text = strip_reasoning(reply.strip(" \t\r\n\ufeff"), decides)
    if not mark:
        return text
    return re.sub(rf"<(\w+) {mark}>.*?(?:</\1 {mark}>|\Z)", " ~~~ ", text, flags=re.DOTALL)


def is_marked(members: Members, mark: str) -> bool:
    """Whether an object carries the mark that was asked for."""
    return bool(mark) and isinstance(members.get("mark"), str) and mark in members["mark"]


@dataclass
class Reader:
    """Reads one kind of answer out of replies to one request."""

    vocabulary: Vocabulary
    confidence: Vocabulary | None = None
    quotations: Quotations = field(default_factory=Quotations)

    def read(self, reply: str) -> Reading:
        """Return what a reply says; raises UnreadableJudgementError."""
        text = find_answer(reply, self.quotations.mark, self._decides)
        claims = [*self._claims(text)]
        if marked := [each for each in claims if each.marked]:
            return self._agree([each.statement for each in marked], marked, text)
        rest = decode(_blank(text, [each.statement for each in claims]))
        own = [each for each in claims if self._is_own(each, text)]
        stated = [*(each.statement for each in own), *self._find_labels(rest, own)]
        if not stated and (claims or any(self.vocabulary.statements(rest))):
            raise NoStatementError("it only repeats a text that was shown")
        text = text if own else rest
        reading = self._agree(stated, own, text)
        ends = [each.statement.end for each in own] or [each.end for each in stated]
        self._check_tail(text[max(ends) :], reading.value)
        return reading

    def read_members(self, members: Members) -> Reading:
        """Return what an object says that is known to be an answer."""
        claims = [_Claim(each, members, marked=False) for each in self._state(members, 0, 0)]
        own = [each for each in claims if not self._repeats(each)]
        if claims and not own:
            raise UnreadableJudgementError("it only repeats a text that was shown")
        return self._agree([each.statement for each in own], own, "")

    def _decides(self, text: str) -> bool:
        """Whether an object of the judge's own stands in a text, or its answer before all else."""
        return any(each.start == 0 for each in self.vocabulary.lone(text)) or any(
            each.marked or self._is_own(each, text) for each in self._claims(text)
        )

    def _claims(self, text: str) -> Iterator[_Claim]:
        """Yield what objects state, by the answer's name, else by another."""
        found = objects(text)
        name, aliases = self.vocabulary.name, self.vocabulary.aliases
        for fits in (
            lambda members: name in members,
            lambda members: any(
                self.vocabulary.read(members.get(each)) is not None for each in aliases
            ),
            lambda members: bool(self._flags(members)),
        ):
            holders = [(each, find(each.members, fits)) for each in found]
            for (start, end, members), inner in holders:
                marked = any(is_marked(each, self.quotations.mark) for each in (members, *inner))
                several = [Statement(None, "several answers in one", start, end)]
                for each in inner[:1]:
                    stated = several if len(inner) > 1 else self._state(each, start, end)
                    yield from (_Claim(statement, each, marked) for statement in stated)
            if any(inner for _, inner in holders):
                return

    def _state(self, members: Members, start: int, end: int) -> Iterator[Statement]:
        """Yield all that an object states of the answer; what is called like it has to agree."""
        for name in (self.vocabulary.name, *self.vocabulary.aliases):
            value = self.vocabulary.read(members.get(name))
            if value is not None or (name == self.vocabulary.name and name in members):
                yield Statement(value, f"{name} {members[name]}", start, end)
        for value, source in self._flags(members):
            yield Statement(value, source, start, end)
        if _FORM.fullmatch(reasons := reasons_of(members)):
            yield Statement(None, f"a form that is not filled in ({reasons})", start, end)

    def _flags(self, members: Members) -> Iterator[tuple[Any, str]]:
        """Yield what members such as `passed: true` state."""
        values = dict.fromkeys(self.vocabulary.values.values())
        for name, value in members.items() if len(values) == 2 else ():
            meaning = self.vocabulary.values.get(re.sub(r"^(?:is|has|did) ", "", name))
            said = str(value).casefold()
            if meaning is not None and said in ("true", "false", "yes", "no"):
                agrees = said in ("true", "yes")
                yield next(each for each in values if (each == meaning) is agrees), f"{name} {said}"

    def _find_labels(self, text: str, claims: Sequence[_Claim]) -> list[Statement]:
        """List what the text itself states, outside of its objects."""
        for by_alias in (False,) if claims else (False, True):
            found = [
                each
                for each in self.vocabulary.statements(text, by_alias=by_alias)
                if not is_introduced(text, each.start)
            ]
            if found:
                reasons = [*REASONING.finditer(text)]
                return [each for each in found if self._is_own_label(each, text, reasons)]
        return [each for each in self.vocabulary.lone(text) if not self._is_copy(each, text)]

    def _is_own(self, each: _Claim, text: str) -> bool:
        return not is_introduced(text, each.statement.start) and not self._repeats(each)

    def _repeats(self, each: _Claim) -> bool:
        reasoning, source = reasons_of(each.members), each.statement.source
        return self.quotations.repeat(source, reasoning) or (
            bool(re.search(r"[:,]\s*\Z", reasoning)) and self.quotations.hold(source)
        )

    def _is_own_label(self, each: Statement, text: str, reasons: Sequence[re.Match[str]]) -> bool:
        """Whether a label was not shown, or begins a line behind reasons that were not."""
        if not self.quotations.hold(each.source):
            return True
        before = [found["text"] for found in reasons if found.end("text") <= each.start]
        if not before and not re.search(r"\w", text[: each.start]):
            before = [found["text"] for found in reasons[:1]]
        begins_line = _LINE_START.search(text[max(0, each.start - _BESIDE) : each.start])
        if not before or not begins_line or not _SENTENCE.search(before[-1]):
            return False
        return not (self._is_copy(each, text) or self.quotations.repeat(each.source, before[-1]))

    def _is_copy(self, each: Statement, text: str) -> bool:
        """Whether the words before a statement were shown with it."""
        above = letters(_TAG.sub("", text[max(0, each.start - _BESIDE) : each.start]))[-_NEXT:]
        return bool(above) and self.quotations.hold(above + each.source)

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
        reasoning = reasons_of(claims[0].members) if claims else _find_reasons(text, stated)
        inconsistent = self._contradicts(decode(reasoning), value)
        if self.quotations.mark:  # the writer may see the reasons, and never the mark
            reasoning = reasoning.replace(self.quotations.mark, "")
        return Reading(value, reasoning, self._read_confidence(claims, text), inconsistent)

    def _read_confidence(self, claims: Sequence[_Claim], text: str) -> Any:
        if self.confidence is None:
            return None
        for name in (self.confidence.name, *self.confidence.aliases):
            if claims and name in claims[0].members:
                return self.confidence.read(claims[0].members[name])
        values = {
            each.value
            for by_alias in (False, True)
            for each in self.confidence.statements(decode(text), by_alias=by_alias)
            if not is_introduced(text, each.start)
        }
        return values.pop() if len(values) == 1 else None

    def _contradicts(self, reasoning: str, value: Any) -> bool:
        """Whether the reasons come to another answer than the one that is given."""
        stated = [*self.vocabulary.statements(reasoning)]
        if any(
            each.value not in (None, value)
            and not is_introduced(reasoning, each.start)
            and not self.quotations.hold(each.source)
            for each in stated
        ):
            return True
        last = re.split(r"[.!?\n]\s", _blank(reasoning, stated).strip().rstrip(".!"))[-1]
        last = last[-_LAST_WORDS:]
        if not self.vocabulary.decisive:
            return False
        if re.search(rf"(?i)\b(?:not|no)\b[\w ]{{0,16}}\b{self._word(value)}\w*\W*\Z", last):
            return True
        if re.search(r"\b(?:not|never|would|if)\b|n't|(?<!\w)'|[\"«“]", last, re.IGNORECASE):
            return False
        more = r"(?:ure)?(?: it(?: is)?| verdict| with \w+ confidence)?"
        end = rf"(?i){CONCLUSION}(?:{self.vocabulary.others(value)}){more}\W*\Z"
        return bool(re.search(end, last))

    def _word(self, value: Any) -> str:
        return re.escape(next(word for word, each in self.vocabulary.words if each == value))

    def _check_tail(self, tail: str, value: Any) -> None:
        """Raise where what stands behind the answer takes it back."""
        tail = decode(_blank(tail, [each.statement for each in self._claims(tail)]))
        tail = _blank(tail, [*self.vocabulary.statements(tail)])
        tail = REASONING.sub("", tail)
        back = bool(RETRACTION.search(tail))
        if self.vocabulary.decisive:
            others = self.vocabulary.others(value)
            affirmed = re.sub(rf"{DENIAL}(?:{others})", "", CONDITION.sub("", tail))
            back = back or bool(re.search(DENIAL + self._word(value), tail))
            back = back or self.vocabulary.mentions_other(affirmed, value)
        if back:
            raise UnreadableJudgementError(f"it goes on to take its {self.vocabulary.name} back")


def reasons_of(members: Members) -> str:
    """Return the reasons that an object gives, as text."""
    value = next((members[name] for name in REASONS if members.get(name) is not None), "")
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _blank(text: str, found: Sequence[Statement]) -> str:
    """Return a text with blanks in place of what was found in it."""
    for each in found:
        text = f"{text[: each.start]}{' ' * (each.end - each.start)}{text[each.end :]}"
    return text


def _find_reasons(text: str, stated: Sequence[Statement]) -> str:
    """Return the reasons that stand under a label, else all that stands beside the answer."""
    found = REASONING.search(text)
    if found and found["text"].strip():
        return found["text"].strip(" \t\r\n\"'`*_|,")
    return _blank(text, stated).strip()
