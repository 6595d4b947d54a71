"""The forms in which judges answer: one judgement, one on each question, a type of the caller's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.exchange import Form
from llmeval_integrations.judges.replies.judgement import CONFIDENCE, VERDICT, Judgement
from llmeval_integrations.judges.replies.objects import (
    Members,
    as_members,
    find,
    objects,
    original,
    plain_name,
)
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.judges.replies.reader import Reader, Reading, find_answer, is_marked
from llmeval_integrations.llm.answers import name_of, read_answer, schema_of
from llmeval_integrations.llm.reasoning import strip_reasoning

T = TypeVar("T")

_VERDICTS: Final = {"type": "string", "enum": ["Pass", "Fail"]}
_LEVELS: Final = {"type": "string", "enum": ["High", "Medium", "Low"]}
_WORDS: Final = (
    '"verdict", either "Pass" or "Fail"; "confidence", one of "High", "Medium" and "Low"'
)
_UNREAD: Final = "That reply cannot be read. Say what it comes to in one JSON object"


def object_schema(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object that has these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


_SHORT: Final = object_schema(verdict=_VERDICTS, confidence=_LEVELS)
JUDGEMENT_SCHEMA: Final = object_schema(
    reasoning={"type": "string"}, verdict=_VERDICTS, confidence=_LEVELS
)
"""The form of a judgement. The reasoning stands first: what a model writes next follows from it."""


class JudgementForm(Form[Judgement]):
    """One judgement."""

    name = "judgement"
    schema = JUDGEMENT_SCHEMA

    def read(self, reply: str, quotations: Quotations, before: str | None) -> Judgement:
        try:
            reading = Reader(VERDICT, CONFIDENCE, quotations).read(reply)
        except UnreadableJudgementError as error:
            raise UnreadableJudgementError(
                f"Unreadable judgement, {error}: {quote(reply)}"
            ) from None
        if before is not None:
            reading = reading._replace(reasoning=strip_reasoning(before).strip())
        return Judgement.of(reading)

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
        self.schema = object_schema(**dict.fromkeys(self._names, JUDGEMENT_SCHEMA))

    def read(self, reply: str, quotations: Quotations, before: str | None) -> list[Judgement]:
        """Read a judgement on each question, in their order.

        Raises UnreadableJudgementError, and PartlyReadError where it is clear at least which
        question has which.
        """
        answers = self._answers(reply, quotations)
        if before is not None:
            with suppress(UnreadableJudgementError):
                earlier = self._answers(before, quotations)
                answers = [*map(_add_reasons, answers, earlier)]
        judgements = [each for each in answers if isinstance(each, Judgement)]
        if len(judgements) < len(answers):
            unread = next(each for each in answers if not isinstance(each, Judgement))
            message = f"Unreadable judgements, {unread}: {quote(reply)}"
            raise PartlyReadError(message, answers)
        return judgements

    def again(self, error: Exception) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 - it sees it
        wording = (
            f"{_UNREAD} with the keys {self._names[0]} to {self._names[-1]}, under each an object "
            f"with two keys: {_WORDS}."
        )
        return wording, object_schema(**dict.fromkeys(self._names, _SHORT))

    def _answers(self, reply: str, quotations: Quotations) -> list[Answer]:
        text = find_answer(reply, quotations.mark, lambda before: bool(self._find(before)))
        found = self._find(text)
        marked = [each for each in found if is_marked(each, quotations.mark)]
        reader = Reader(VERDICT, CONFIDENCE, Quotations() if marked else quotations)
        values: dict[str, list[Any]] = {name: [] for name in self._names}
        for members in marked or found or [_split(text, "question[ _-]?\\d{1,4}")]:
            said = [
                (re.sub(r"\W+|(?=\d)(?<=n)", "_", key.strip('"*_ ').casefold()), value)
                for key, value in members.pairs
            ]
            said = [(name, value) for name, value in said if name.startswith("question_")]
            names = [name for name, _ in said]
            if not names or sorted(names) != sorted({*names} & {*self._names}):
                raise UnreadableJudgementError(
                    f"expected {self._names[0]} to {self._names[-1]}, once each: {quote(reply)}"
                )
            for name, value in said:
                values[name].append(value)
        return [_answer(name, said, reader) for name, said in values.items()]

    def _find(self, text: str) -> list[Members]:
        return [
            inner
            for each in objects(text)
            for inner in find(
                each.members, lambda members: any("question " in key for key in members)
            )
        ]


def _answer(name: str, values: list[Any], reader: Reader) -> Answer:
    """Return what a reply says of one question; where it says it twice, both have to agree."""
    try:
        readings = [_read_part(name, value, reader) for value in values]
    except UnreadableJudgementError as error:
        return error
    if len({each.value for each in readings}) != 1:
        what = "answered in two ways" if readings else "missing"
        return UnreadableJudgementError(f"{name} is {what}")
    return Judgement.of(readings[0])


def _read_part(name: str, value: Any, reader: Reader) -> Reading:
    if isinstance(value, Members):
        return reader.read_members(value)
    verdict = VERDICT.read(value)
    if verdict is None and isinstance(value, str):
        return reader.read(value)
    if verdict is None or reader.quotations.hold(f"{name} {value}"):
        raise UnreadableJudgementError(f"{name} is {quote(value)}")
    return Reading(verdict, "")


def _add_reasons(answer: Answer, earlier: Answer) -> Answer:
    if isinstance(answer, Judgement) and isinstance(earlier, Judgement):
        return msgspec.structs.replace(answer, reasoning=earlier.reasoning)
    return answer


class RecordForm(Form[T]):
    """An object that a function makes something of, or refuses."""

    def __init__(
        self, name: str, schema: dict[str, Any] | None, build: Callable[[dict[str, Any]], T]
    ) -> None:
        """`build` raises ValueError, TypeError or msgspec's ValidationError for other objects."""
        self.name = name
        self.schema = schema
        self._build = build
        self._fields = {plain_name(key): key for key in (schema or {}).get("properties", {})}

    def read(self, reply: str, quotations: Quotations, before: str | None) -> T:  # noqa: ARG002 - the answer is asked for whole
        text = find_answer(reply, quotations.mark, lambda said: bool(self._answers(said)))
        found = self._answers(text)
        marked = [each for each in found if is_marked(each, quotations.mark)]
        own = [each for each in found if not self._is_copy(each, quotations)]
        if found and not (marked or own):
            raise UnreadableJudgementError(f"it only repeats a text that was shown: {quote(text)}")
        if not found:
            return self.refuse(text)
        if any(len(each) < len(each.pairs) for each in found):
            raise UnreadableJudgementError(f"it has a key twice: {quote(text)}")
        answers = [self._parse(each) for each in marked or own]
        if any(each != answers[0] for each in answers):
            raise UnreadableJudgementError(f"it has several answers: {quote(text)}")
        return answers[0]

    def refuse(self, text: str) -> T:
        """Raise UnreadableJudgementError for a reply without such an object."""
        keys = ", ".join(map(repr, self._fields.values()))
        raise UnreadableJudgementError(f"it has no object with {keys}: {quote(text)}")

    def _is_copy(self, answer: Members, quotations: Quotations) -> bool:
        return quotations.hold_all(
            _leaves([answer[name] for name in answer if name in self._fields])
        )

    def _answers(self, text: str) -> list[Members]:
        """List the objects of this form; a reply without an object may have labels."""
        if "{" in text:
            return [inner for each in objects(text) for inner in find(each.members, self._fits)]
        label = "|".join(re.escape(name).replace(r"\ ", r"[\s_-]") for name in self._fields)
        return find(_split(text, label or "(?!)"), self._fits)

    def _fits(self, answer: Members) -> bool:
        if not self._fields.keys() & answer.keys():
            return False  # a model whose fields have defaults takes any object
        try:
            self._parse(answer)
        except (ValueError, TypeError, msgspec.ValidationError):
            return False
        return True

    def _parse(self, answer: Members) -> T:
        given = {
            self._fields.get(plain_name(key), key): original(value) for key, value in answer.pairs
        }
        if "mark" not in self._fields:
            given.pop("mark", None)
        return self._build(given)


class AnswerForm(RecordForm[Any]):
    """An object of a pydantic model's class, or any text."""

    def __init__(self, result_type: Any, *, repeats: bool) -> None:
        """`repeats` says whether an answer may repeat a text that was shown."""
        build = getattr(result_type, "model_validate", str)
        super().__init__(name_of(result_type), schema_of(result_type), build)
        self._type = result_type
        self._repeats = repeats

    def read(self, reply: str, quotations: Quotations, before: str | None) -> Any:
        return reply if self._type is str else super().read(reply, quotations, before)

    def refuse(self, text: str) -> Any:
        return read_answer(self._type, text)

    def _is_copy(self, answer: Members, quotations: Quotations) -> bool:
        return not self._repeats and super()._is_copy(answer, quotations)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = [*value.values()]
    if not isinstance(value, list):
        return [value]
    return [leaf for each in value for leaf in _leaves(each)]


def _split(text: str, label: str) -> Members:
    """Return what stands under each label, as members."""
    found = re.findall(
        rf"(?ims)^\W*({label})\b\W*?[:=>\n]\W*(.+?)\s*(?=^\W*(?:{label})\b\W*?[:=>\n]|\Z)", text
    )
    return as_members([(name, value.strip(" \t*_")) for name, value in found])
