"""Judgements on one question or on several, as judges are asked for them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

import msgspec

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.exchange import Form
from llmeval_integrations.judges.replies.answer import find_answer, is_marked
from llmeval_integrations.judges.replies.judgement import (
    CONFIDENCE,
    VERDICT,
    Judgement,
    as_judgement,
)
from llmeval_integrations.judges.replies.objects import Members, find, objects
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.judges.replies.reader import Reader, Reading
from llmeval_integrations.llm.thinking import without_thinking

_KEY: Final = re.compile(r"\W*question[\s_-]?(\d{1,4})\W*", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"(?:^|[\n{,])[^\w\n]{0,8}question[\s_-]?(\d{1,4})\b(?=\W{0,8}[:=>\n])", re.IGNORECASE
)
_SHORT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["Pass", "Fail"]},
        "confidence": {"type": "string", "enum": ["High", "Medium", "Low"]},
    },
    "required": ["verdict", "confidence"],
    "additionalProperties": False,
}
JUDGEMENT_SCHEMA: Final[dict[str, Any]] = {
    **_SHORT,
    "properties": {"reasoning": {"type": "string"}, **_SHORT["properties"]},
    "required": ["reasoning", "verdict", "confidence"],
}
"""The form of a judgement. The reasoning stands first: what a model writes next follows from it."""

_WORDS: Final = (
    '"verdict", either "Pass" or "Fail"; "confidence", one of "High", "Medium" and "Low"'
)

_UNREAD: Final = "That reply cannot be read. Say what it comes to in one JSON object"


class JudgementForm(Form[Judgement]):
    """One judgement."""

    name = "judgement"
    schema = JUDGEMENT_SCHEMA

    def read(self, reply: str, quotations: Quotations, mark: str, before: str | None) -> Judgement:
        reader = Reader(VERDICT, CONFIDENCE, quotations, mark)
        try:
            judgement = as_judgement(reader.read(reply))
        except UnreadableJudgementError as error:
            raise UnreadableJudgementError(
                f"Unreadable judgement, {error}: {quote(reply)}"
            ) from None
        if before is None:
            return judgement
        return msgspec.structs.replace(judgement, reasoning=without_thinking(before).strip())

    def again(self, error: Exception) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 - it sees it
        return f"{_UNREAD} with two keys: {_WORDS}.", _SHORT


Answer: TypeAlias = Judgement | UnreadableJudgementError
"""What one question has in a reply: its judgement, or why there is none."""


class PartlyReadError(UnreadableJudgementError):
    """Some of the judgements in a reply are not clear."""

    def __init__(self, message: str, answers: Sequence[Answer] = ()) -> None:
        super().__init__(message)
        self.answers = answers
        """What each question has, in their order."""


class JudgementsForm(Form[list[Judgement]]):
    """A judgement on each of several questions, under `question_1`, `question_2` and so on.

    A list of judgements with numbers would let a model repeat one and leave out another.
    """

    name = "judgements"

    def __init__(self, count: int) -> None:
        self._names = [f"question_{number}" for number in range(1, count + 1)]
        self.schema = self._schema_of(JUDGEMENT_SCHEMA)

    def read(
        self, reply: str, quotations: Quotations, mark: str, before: str | None
    ) -> list[Judgement]:
        """Read a judgement on each question, in their order.

        Raises UnreadableJudgementError, and PartlyReadError where it is clear at least which
        question has which.
        """
        answers = self._answers(reply, quotations, mark)
        if before is not None:
            with suppress(UnreadableJudgementError):
                earlier = self._answers(before, quotations, mark)
                answers = [*map(_add_reasons, answers, earlier)]
        judgements = [each for each in answers if isinstance(each, Judgement)]
        if len(judgements) < len(answers):
            unread = next(each for each in answers if not isinstance(each, Judgement))
            message = f"Unreadable judgements, {unread}: {quote(reply)}"
            raise PartlyReadError(message, answers)
        return judgements

    def _answers(self, reply: str, quotations: Quotations, mark: str) -> list[Answer]:
        text = find_answer(reply, mark, lambda before: bool(_find_objects(before)))
        found = _find_objects(text)
        marked = [each for each in found if is_marked(each, mark)]
        reader = Reader(VERDICT, CONFIDENCE, Quotations() if marked else quotations)
        parts: dict[int, list[Any]] = defaultdict(list)
        for said in [*map(_read_numbers, marked or found)] or [_read_labels(text)]:
            numbers = sorted(number for number, _ in said)
            if not numbers or numbers != sorted({*numbers} & {*range(1, len(self._names) + 1)}):
                raise UnreadableJudgementError(
                    f"expected {self._names[0]} to {self._names[-1]}, once each: {quote(reply)}"
                )
            for number, value in said:
                parts[number].append(value)
        return [_answer(name, parts[number], reader) for number, name in enumerate(self._names, 1)]

    def again(self, error: Exception) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 - it sees it
        wording = (
            f"{_UNREAD} with the keys {self._names[0]} to {self._names[-1]}, under each an object "
            f"with two keys: {_WORDS}."
        )
        return wording, self._schema_of(_SHORT)

    def _schema_of(self, judgement: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": dict.fromkeys(self._names, judgement),
            "required": self._names,
            "additionalProperties": False,
        }


class _Text(str):
    """What a reply that is no JSON says of one question."""

    __slots__ = ()


def _find_objects(text: str) -> list[Members]:
    return [
        inner
        for _, _, members in objects(text)
        for inner in find(members, lambda each: bool(_read_numbers(each)))
    ]


def _read_numbers(members: Members) -> list[tuple[int, Any]]:
    keys = [(_KEY.fullmatch(key), value) for key, value in members.pairs]
    return [(int(key[1]), value) for key, value in keys if key]


def _read_labels(text: str) -> list[tuple[int, Any]]:
    labels = [*_LABEL.finditer(text)]
    ends = [*(label.start() for label in labels[1:]), len(text)]
    return [(int(label[1]), _Text(text[label.end() : end])) for label, end in zip(labels, ends)]


def _answer(name: str, values: list[Any], reader: Reader) -> Answer:
    """Return what a reply says of one question; where it says it twice, both have to agree."""
    try:
        judgements = [as_judgement(_reading(name, value, reader)) for value in values]
    except UnreadableJudgementError as error:
        return error
    if len({each.verdict for each in judgements}) != 1:
        what = "answered in two ways" if judgements else "missing"
        return UnreadableJudgementError(f"{name} is {what}")
    return judgements[0]


def _reading(name: str, value: Any, reader: Reader) -> Reading:
    if isinstance(value, _Text):
        return reader.read(value)
    if isinstance(value, Members):
        return reader.read_members(value)
    verdict = VERDICT.read(value)
    if verdict is None or reader.quotations.hold(f"{name} {value}"):
        raise UnreadableJudgementError(f"{name} is {quote(value)}")
    return Reading(verdict, "", None)


def _add_reasons(answer: Answer, earlier: Answer) -> Answer:
    if isinstance(answer, Judgement) and isinstance(earlier, Judgement):
        return msgspec.structs.replace(answer, reasoning=earlier.reasoning)
    return answer
