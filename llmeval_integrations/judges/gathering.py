"""Gathering what an answer says of its judgement: in objects, under labels, beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from llmeval_integrations.errors import UnreadableJudgementError
from llmeval_integrations.judges.evidence import Evidence
from llmeval_integrations.judges.judgement import Verdict
from llmeval_integrations.judges.objects import FoundObject, find_objects
from llmeval_integrations.judges.parts import Parts, plain_name
from llmeval_integrations.judges.quotations import Quotations
from llmeval_integrations.judges.spans import cut
from llmeval_integrations.judges.statements import (
    RELATED,
    Statement,
    find_bare_verdicts,
    find_statements,
)
from llmeval_integrations.judges.words import (
    TAKEN_BACK,
    UNDONE,
    first_mention,
    leanings,
    mentions,
    read_word,
)

T = TypeVar("T")

_MOST = 100
_LONGEST_REST = 100_000  # characters; an honest reply does not go on for as long after its verdict
# The opening brace may have stood in the prompt, for the model to go on from there.
_WITHOUT_BRACE = re.compile(r"\s*[\"']([\w -]{1,60})[\"']\s*:")
# "Verdict: Fail (high confidence)"
_WITH_LEVEL = re.compile(
    r"\w[*_]{0,3}(?:\s?[(\[]|\s[-–—])\s?(?:with )?(high|medium|low)[ -]confidence\W{0,6}\Z",
    re.IGNORECASE,
)


class Gatherer:
    """Gathers the evidence of one reply."""

    def __init__(self, parts: Parts, quotations: Quotations) -> None:
        self._parts = parts
        self.quotations = quotations
        self.evidence = Evidence(parts)

    def judges(self, found: FoundObject) -> bool:
        """Whether an object has a verdict among its members."""
        return any(plain_name(key) == self._parts.verdict for key in found.members)

    def take_object(self, found: FoundObject, text: str) -> None:
        """Take an object's members, and what stands in them of other verdicts.

        What the texts of a JSON object hold is data, save a verdict that its reasoning states as
        its own. Where an object is read loosely, a text may end elsewhere than it was meant to.
        """
        self.evidence.add(found.members.pairs)
        if not found.sound:
            self._take_stances(text[found.start : found.end])
            return
        for value in found.members.values():
            if isinstance(value, str):
                self._take_stances(value, only_own=True)

    def take_answer(self, answer: str) -> None:
        """Take the objects and labels that are the judge's own, and how all else leans."""
        opening = _WITHOUT_BRACE.match(answer)
        if opening and plain_name(opening[1]) in self._parts.labels:
            answer = "{" + answer
        objects = list(_few(filter(self.judges, find_objects(answer))))
        rest = cut(answer, _around(objects, len(answer)), same_length=True)
        if "<!--" in rest:
            raise UnreadableJudgementError("it has a comment of HTML")
        statements = find_statements(rest, self._parts.labels)
        reasonings = [item.text for item in statements if item.name == self._parts.reasoning]
        stated = filter(self._is_about_verdict, statements)
        ends = [self._take_verdict(item, rest, reasonings) for item in _few(stated)]
        self._take_other_parts(statements)
        for found in objects:
            if self._is_own(found, answer):
                self.take_object(found, answer)
                ends.append(found.end)
        for verdict in find_bare_verdicts(rest):
            self.evidence.lean({verdict}, verdict.value)
        if any(ends):
            self._take_what_follows(rest, max(ends), statements)

    def _is_own(self, found: FoundObject, answer: str) -> bool:
        """Whether an object is no quotation; one that only seems to be must not disagree."""
        if self.quotations.hold_object(found, answer[found.start : found.end]):
            return False
        if not self.quotations.introduced(answer, found.start):
            return True
        for key, value in found.members.pairs:
            if plain_name(key) == self._parts.verdict and isinstance(value, str):
                self.evidence.lean(leanings(value), value)
        return False

    def _is_about_verdict(self, statement: Statement) -> bool:
        return statement.name in (self._parts.verdict, RELATED)

    def _take_verdict(self, statement: Statement, text: str, reasonings: Sequence[str]) -> int:
        """Take what is stated of the verdict; give where that ends if it is the judge's own."""
        head = statement.head
        stance = leanings(head)
        if not stance or self._repeats(statement, text, reasonings):
            return 0
        sure = read_word(head, Verdict) and statement.name != RELATED
        if sure and statement.manner == "own" and not self._introduced(statement, text):
            self.evidence.add([(statement.name, head)])
            if level := _WITH_LEVEL.search(head):
                self.evidence.add([(self._parts.confidence, level[1])])
            return statement.head_end
        self.evidence.lean(stance, head)
        return 0

    def _take_other_parts(self, statements: Sequence[Statement]) -> None:
        """Take the other parts: under labels that open a line or a sentence, else in passing."""
        others = [item for item in statements if not self._is_about_verdict(item)]
        for name in {item.name for item in others}:
            stated = [item for item in others if item.name == name and item.manner != "key"]
            own = [item for item in stated if item.manner == "own"]
            for item in own or stated:
                value = item.head if name == self._parts.confidence else item.text
                self.evidence.add([(name, value.strip().lstrip("*_ "))])

    def _take_what_follows(self, text: str, start: int, statements: Sequence[Statement]) -> None:
        """Take what stands behind the last verdict and may undo it."""
        if len(text) - start > _LONGEST_REST:
            raise UnreadableJudgementError(
                f"more than {_LONGEST_REST} characters follow its verdict"
            )
        end = min((item.begin for item in statements if item.begin >= start), default=len(text))
        self.evidence.lean(mentions(text[start:end], Verdict), text[start:end].strip())
        undone = UNDONE.search(text, start, end) or TAKEN_BACK.search(text, start)
        if undone:
            self.evidence.lean(set(Verdict), undone[0].strip())

    def _take_stances(self, text: str, *, only_own: bool = False) -> None:
        """Take what the source of an object, or a text in it, states of the verdict."""
        stated = filter(self._is_about_verdict, find_statements(text, self._parts.labels))
        for item in _few(stated):
            foreign = item.manner in ("passing", "key") or self._introduced(item, text)
            if not (only_own and foreign) and not self._repeats(item, text, ()):
                self.evidence.lean(leanings(item.head), item.head)

    def _introduced(self, statement: Statement, text: str) -> bool:
        return self.quotations.introduced(text, statement.label, label=True)

    def _repeats(self, statement: Statement, text: str, reasonings: Sequence[str]) -> bool:
        """Whether a stated verdict is quoted, up to its first word for a verdict."""
        end = statement.head_start + first_mention(statement.head)
        return self.quotations.hold_statement(text[statement.label : end], reasonings)


def _few(found: Iterable[T]) -> Iterator[T]:
    """Pass on what was found; raises where it is more than a judge would write."""
    for count, one in enumerate(found):
        if count == _MOST:
            raise UnreadableJudgementError(f"it states more than {_MOST} verdicts")
        yield one


def _around(objects: Sequence[FoundObject], end: int) -> list[tuple[int, int]]:
    """Give the spans around objects."""
    starts = [0, *(found.end for found in objects)]
    return list(zip(starts, [*(found.start for found in objects), end]))
