"""Gathering what an answer says of its judgement: in objects, under labels, beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.judges.verdicts.evidence import Evidence
from llmeval_integrations.judges.verdicts.introductions import introduced, pointed_at
from llmeval_integrations.judges.verdicts.judgement import Verdict
from llmeval_integrations.judges.verdicts.objects import FoundObject, Members, find_objects
from llmeval_integrations.judges.verdicts.parts import Parts, plain_name
from llmeval_integrations.judges.verdicts.quotations import Quotations
from llmeval_integrations.judges.verdicts.spans import MASK, cut
from llmeval_integrations.judges.verdicts.statements import (
    RELATED,
    Statement,
    find_bare_verdicts,
    find_statements,
    with_labels_for_tags,
)
from llmeval_integrations.judges.verdicts.words import (
    TAKEN_BACK,
    UNDONE,
    claims,
    leanings,
    mentions,
    read_word,
)
from llmeval_integrations.llm.thinking import closes_thinking

T = TypeVar("T")

_MOST = 100
_LONGEST_REST = 100_000  # characters; an honest reply does not go on for as long after its verdict
# The opening brace may have stood in the prompt, for the model to go on from there.
_WITHOUT_BRACE = re.compile(r"\s*[\"']([\w -]{1,60})[\"']\s*:")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
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
        for key, value in found.members.pairs:
            if isinstance(value, str):
                self._take_stances(value, only_own=True)
                if self._parts.is_remark(plain_name(key)) and TAKEN_BACK.search(value):
                    self.evidence.lean(set(Verdict), value)
        nested = set(self._nested_verdicts(found.members))
        if len(nested) == 1:
            self.evidence.lean(nested, f"{next(iter(nested))} inside")

    def _nested_verdicts(self, members: Members) -> Iterator[Verdict]:
        """Yield the verdicts on single criteria: where all are the same, so is the one on all."""
        for value in members.values():
            for item in value if isinstance(value, list) else (value,):
                if not isinstance(item, Mapping) or self.quotations.hold_members(item):
                    continue
                for key, word in item.items():
                    if plain_name(key) == self._parts.verdict and isinstance(word, str):
                        yield from leanings(word)

    def take_answer(self, answer: str) -> None:
        """Take the objects and labels that are the judge's own, and how all else leans."""
        opening = _WITHOUT_BRACE.match(answer)
        if opening and plain_name(opening[1]) in self._parts.labels:
            answer = "{" + answer
        found_objects = list(_few(filter(self._may_judge, find_objects(answer))))
        objects = [found for found in found_objects if not found.cut]
        rest = cut(
            answer,
            _between([(found.start, found.end) for found in objects], len(answer)),
            same_length=True,
        )
        rest = self._without_comments(rest, max((found.end for found in objects), default=0))
        rest = with_labels_for_tags(rest, self._parts.labels)
        statements = find_statements(rest, self._parts.labels)
        repeated = self.quotations.repeated(rest, statements)
        places = {item.label for item in repeated}
        own = [item for item in statements if item.label not in places]
        stated = self._take_verdicts(own, rest)
        self._take_other_parts(own, rest)
        judged = []
        for found in objects:
            if self._is_own(found, answer):
                self.take_object(found, answer)
                judged.append(found.end)
        ends = [*stated, *judged]
        for item in () if stated else self._shown_verdicts(own, rest):
            if judged:
                self.evidence.lean(leanings(item.head), item.head)
            else:
                ends.append(self._take_verdict(item))
        self._take_all_else(_without(repeated, rest), ends, statements)
        if len(found_objects) > len(objects):
            self._take_cut(answer[found_objects[-1].start :])

    def _without_comments(self, text: str, judged: int) -> str:
        """Write MASK over comments of HTML that are quoted, or that say nothing of a judgement.

        One behind the last verdict may take it back in any words; `judged` is where the last object
        ends.
        """
        if "<!--" not in text:
            return text
        stated = find_statements(text, self._parts.labels)
        last = max([judged, *(item.label for item in stated if self._is_stated_verdict(item))])
        spans = []
        for comment in _COMMENT.finditer(text):
            says = (
                comment.start() >= last
                or MASK in comment[0]  # perhaps a judgement that is found already
                or mentions(comment[0], Verdict)
                or find_statements(comment[0], self._parts.labels)
            )
            if says and not self.quotations.show(comment[0]):
                raise UnreadableJudgementError("it has a comment of HTML")
            spans.append(comment.span())
        return cut(text, _between(spans, len(text)), same_length=True)

    def _may_judge(self, found: FoundObject) -> bool:
        """Whether an object is a judgement, or was to become one where it is cut."""
        if not found.cut:
            return self.judges(found)
        labels = self._parts.labels
        if any(plain_name(key) in labels for key in found.members):
            return True
        if found.cut_name is None:
            return False
        return any(name.startswith(plain_name(found.cut_name)) for name in labels)

    def _take_cut(self, source: str) -> None:
        """Take a judgement of which the end is lost: it may be any."""
        if not self.quotations.show(source):
            self.evidence.lean(set(Verdict), "a judgement that breaks off")

    def _take_all_else(self, text: str, ends: list[int], statements: Sequence[Statement]) -> None:
        """Take lines that are a verdict, and what follows what was said of the verdict."""
        for verdict in find_bare_verdicts(text):
            self.evidence.lean({verdict}, verdict.value)
        if not ends:
            return
        start = max(ends)
        if len(text) - start > _LONGEST_REST:
            raise UnreadableJudgementError(
                f"more than {_LONGEST_REST} characters follow its verdict"
            )
        if taken_back := TAKEN_BACK.search(text, start):
            self.evidence.lean(set(Verdict), taken_back[0].strip())
        if closes_thinking(text[start:]):
            self.evidence.lean(set(Verdict), "what may be thinking")
        behind = [item for item in statements if item.begin >= start]
        for begin, end in self._tails(start, behind, len(text)):
            if tail := text[begin:end].strip():
                self._take_tail(tail)
        for item in behind:
            if self._is_unclear(item, text):
                self.evidence.lean(set(Verdict), item.text.strip())
        if statements and self._is_verdict_cut(statements[-1]):
            self.evidence.lean(set(Verdict), statements[-1].text)

    def _tails(
        self, start: int, statements: Sequence[Statement], length: int
    ) -> Iterator[tuple[int, int]]:
        """Yield what stands behind the verdict and is no part; all behind a reasoning is its."""
        ends = [*(item.begin for item in statements), length]
        yield start, ends[0]
        for item, end in zip(statements, ends[1:]):
            is_level = item.name == self._parts.confidence and item.manner in ("own", "concluding")
            if item.closed:
                yield item.end, end
            elif is_level:
                yield item.head_end, end

    def _take_tail(self, tail: str) -> None:
        """Take words behind the last verdict, which may undo it."""
        self.evidence.lean(claims(tail), tail)
        if undone := UNDONE.search(tail):
            self.evidence.lean(set(Verdict), undone[0].strip())

    def _is_unclear(self, statement: Statement, text: str) -> bool:
        """Whether a label of the judge's own for its verdict says something and names none."""
        return (
            self._is_stated_verdict(statement)
            and any(map(str.isalpha, statement.head))
            and not leanings(statement.head)
            and not self.quotations.show(text[statement.label : statement.told_end])
            and not introduced(text, statement.label, label=True)
        )

    def _is_own(self, found: FoundObject, answer: str) -> bool:
        """Whether an object is not a quotation; one that only seems to be must not disagree."""
        if self.quotations.hold_object(found, answer[found.start : found.end]):
            return False
        if not introduced(answer, found.start):
            return True
        for key, value in found.members.pairs:
            if plain_name(key) == self._parts.verdict and isinstance(value, str):
                self.evidence.lean(leanings(value), value)
        return False

    def _is_stated_verdict(self, statement: Statement) -> bool:
        """Whether it is under a label for the verdict, where a judge's own would stand."""
        return statement.name == self._parts.verdict and statement.manner == "own"

    def _is_about_verdict(self, statement: Statement) -> bool:
        return statement.name in (self._parts.verdict, RELATED)

    def _take_verdicts(self, statements: Sequence[Statement], text: str) -> list[int]:
        """Take what is stated of the verdict and stands in no text that was shown.

        Gives where the verdicts end that are the judge's own.
        """
        reasonings = [item.text for item in self._reasonings(statements)]
        ends = []
        for item in _few(filter(self._is_about_verdict, statements)):
            source = text[item.label : item.told_end]
            if self.quotations.show(source) or self.quotations.repeat_reasons(source, reasonings):
                continue
            if self._is_own_verdict(item, text):
                ends.append(self._take_verdict(item))
            else:
                self.evidence.lean(leanings(item.head), item.head)
        return ends

    def _shown_verdicts(self, statements: Sequence[Statement], text: str) -> list[Statement]:
        """Return verdicts that a text states too, and that may be the judge's own all the same.

        They are where a reasoning is, and no words before them point at them.
        """
        if all(self.quotations.show(item.text) for item in self._reasonings(statements)):
            return []
        return [
            item
            for item in filter(self._is_about_verdict, statements)
            if self._is_own_verdict(item, text)
            and self.quotations.show(text[item.label : item.told_end])
            and not pointed_at(text, item.begin)
        ]

    def _reasonings(self, statements: Sequence[Statement]) -> list[Statement]:
        return [item for item in statements if item.name == self._parts.reasoning]

    def _is_own_verdict(self, statement: Statement, text: str) -> bool:
        """Whether a verdict is clear, where a judge's own would stand, and not introduced."""
        return (
            self._is_stated_verdict(statement)
            and read_word(statement.head, Verdict) is not None
            and not introduced(text, statement.label, label=True)
        )

    def _take_verdict(self, statement: Statement) -> int:
        """Take the judge's own verdict; give where it ends."""
        self.evidence.add([(statement.name, statement.head)])
        if level := _WITH_LEVEL.search(statement.head):
            self.evidence.add([(self._parts.confidence, level[1])])
        return statement.head_end

    def _is_verdict_cut(self, statement: Statement) -> bool:
        """Whether a statement, the last one, ends within the word for its verdict, or before it."""
        word = statement.text.strip(" \t\n*_`\"'").casefold()
        is_part = any(verdict.value.casefold().startswith(word) for verdict in Verdict)
        return self._is_stated_verdict(statement) and is_part and not read_word(word, Verdict)

    def _take_other_parts(self, statements: Sequence[Statement], text: str) -> None:
        """Take the other parts: under labels that open a line or a sentence, else in passing."""
        others = [item for item in statements if self._is_other_part(item, text)]
        for name in {item.name for item in others}:
            stated = [item for item in others if item.name == name]
            own = [item for item in stated if item.manner == "own"]
            unseen = [item for item in own if not self._shows(item, text)]
            for item in unseen or own or stated:
                value = item.head if name == self._parts.confidence else item.text
                self.evidence.add([(name, value.strip().lstrip("*_ "))])

    def _is_other_part(self, statement: Statement, text: str) -> bool:
        """Whether a statement is another part than the verdict and is the judge's own."""
        if self._is_about_verdict(statement) or statement.manner == "key":
            return False
        is_own, is_reasoning = statement.manner == "own", statement.name == self._parts.reasoning
        if not is_own and pointed_at(text, statement.begin):
            return False
        if not (is_own and is_reasoning) and introduced(text, statement.label, label=True):
            return False
        return not is_reasoning or not self._shows(statement, text)

    def _shows(self, statement: Statement, text: str) -> bool:
        """Whether all of a statement stands in a text that was shown."""
        return self.quotations.show(text[statement.label : statement.end])

    def _take_stances(self, text: str, *, only_own: bool = False) -> None:
        """Take what the source of an object, or a text in it, states of the verdict."""
        text = with_labels_for_tags(text, self._parts.labels)
        stated = filter(self._is_about_verdict, find_statements(text, self._parts.labels))
        for item in _few(stated):
            is_passing = item.manner in ("passing", "key")
            if only_own and (is_passing or introduced(text, item.label, label=True)):
                continue
            if not self.quotations.show(text[item.label : item.told_end]):
                self.evidence.lean(leanings(item.head), item.head)


def _few(found: Iterable[T]) -> Iterator[T]:
    """Pass on what was found; raises where it is more than a judge would write."""
    for count, one in enumerate(found):
        if count == _MOST:
            raise UnreadableJudgementError(f"it states more than {_MOST} verdicts")
        yield one


def _without(statements: Sequence[Statement], text: str) -> str:
    """Write MASK over statements, up to where their first lines end."""
    if not statements:
        return text
    spans = [(item.label, item.head_end) for item in statements]
    return cut(text, _between(spans, len(text)), same_length=True)


def _between(spans: Sequence[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    """Return what stands around spans."""
    starts = [0, *(span[1] for span in spans)]
    return list(zip(starts, [*(span[0] for span in spans), end]))
