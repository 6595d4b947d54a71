"""The forms in which judges answer, and how replies in them are read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.replies.judgement import CONFIDENCE, VERDICT, Judgement
from llmeval_integrations.judges.replies.objects import (
    Members,
    as_members,
    find,
    objects,
    plain_name,
    restore_keys,
)
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.judges.replies.reader import Reader, find_answer, is_marked, reasons_of
from llmeval_integrations.judges.replies.vocabulary import Vocabulary
from llmeval_integrations.llm.answers import name_of, read_answer, schema_of
from llmeval_integrations.llm.thoughts import strip_reasoning

T = TypeVar("T")
Schema: TypeAlias = dict[str, Any]
Unreadable: TypeAlias = UnreadableJudgementError

_REASONING: Final[Schema] = {"reasoning": {"type": "string"}}
_JUDGEMENT: Final[Schema] = {
    "verdict": {"type": "string", "enum": ["Pass", "Fail"]},
    "confidence": {"type": "string", "enum": ["High", "Medium", "Low"]},
}
_AGAIN: Final = "That reply cannot be read. Say what it comes to in one JSON object with the keys"


def object_schema(**properties: Any) -> Schema:
    """Return the schema of an object that has these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


class Form(ABC, Generic[T]):
    """The form of the answers to one question, and how they are read."""

    name: str
    """What the answer is called on the wire."""

    schema: Schema | None
    """The JSON Schema of the answer; None for free text."""

    wording: str = ""
    """What the prompt says of the form at its end."""

    @abstractmethod
    def read(self, reply: str, quotations: Quotations) -> T:
        """Read a reply; raises UnreadableJudgementError."""

    def follow_up(self, error: Exception) -> tuple[str, Schema | None]:
        """Return what a judge is told that gave this error, and the schema of its next answer.

        A verdict is asked for alone: the judge sees its reasons in the reply that it is shown.
        """
        return f"That reply cannot be used: {error}. Answer in the form asked for.", self.schema

    def add_reasons(self, answer: T, reply: str) -> T:  # noqa: ARG002
        """Return a verdict that was asked for alone with the reasons of the reply before it."""
        return answer


def _describe(properties: Mapping[str, Schema]) -> str:
    """Say which words may stand under which keys."""
    return "; ".join(
        f'"{name}", one of {", ".join(map(quote, each["enum"]))}'
        for name, each in properties.items()
    )


class StatementForm(Form[Judgement]):
    """One word out of a few, behind its reasons."""

    def __init__(
        self, name: str, vocabulary: Vocabulary, reasons: Schema, words: Schema, wording: str = ""
    ) -> None:
        """`reasons` and `words` are properties of the schema; the last one has the answer."""
        self.name, self.wording = name, wording
        self.schema = object_schema(**reasons, **words)
        self._vocabulary, self._words = vocabulary, words

    def read(self, reply: str, quotations: Quotations) -> Judgement:
        confidence = CONFIDENCE if CONFIDENCE.name in self._words else None
        try:
            return Reader(self._vocabulary, confidence, quotations).read(reply)
        except Unreadable as error:
            raise Unreadable(f"Unreadable {self.name}, {error}: {quote(reply)}") from None

    def follow_up(self, error: Exception) -> tuple[str, Schema]:  # noqa: ARG002 - it sees it
        return f"{_AGAIN} {_describe(self._words)}.", object_schema(**self._words)

    def add_reasons(self, answer: Judgement, reply: str) -> Judgement:
        return msgspec.structs.replace(answer, reasoning=strip_reasoning(reply).strip())


JUDGEMENT: Final = StatementForm("judgement", VERDICT, _REASONING, _JUDGEMENT)
"""One judgement. The reasoning stands first: what a model writes next follows from it."""


class RecordForm(Form[T]):
    """An object that a function makes something of, or refuses."""

    def __init__(self, name: str, schema: Schema | None, build: Callable[[Schema], T]) -> None:
        """`build` raises ValueError, TypeError or msgspec's ValidationError for other objects."""
        self.name, self.schema, self._build = name, schema, build
        self.fields = {plain_name(key): key for key in (schema or {}).get("properties", {})}

    def read(self, reply: str, quotations: Quotations) -> T:
        text = find_answer(reply, quotations.mark, lambda said: bool(self._find(said)))
        found = self._find(text)
        if not found:
            return self.refuse(text)
        marked = [each for each in found if is_marked(each, quotations.mark)]
        own = marked or [each for each in found if not self.is_copy(each, quotations)]
        if not own:
            raise Unreadable(f"it only repeats a text that was shown: {quote(text)}")
        if any(len(each) < len(each.pairs) for each in found):
            raise Unreadable(f"it has a key twice: {quote(text)}")
        answers = [*map(self.convert, own)]
        if any(each != answers[0] for each in answers):
            raise Unreadable(f"it has several answers: {quote(text)}")
        return answers[0]

    def refuse(self, text: str) -> T:
        """Raise UnreadableJudgementError for a reply without such an object."""
        for each in objects(text):
            try:
                self.convert(each.members)
            except (ValueError, TypeError, KeyError, msgspec.ValidationError) as error:
                raise Unreadable(f"{error}: {quote(text)}") from None
        keys = ", ".join(map(repr, self.fields.values()))
        raise Unreadable(f"it has no object with {keys}: {quote(text)}")

    def is_copy(self, members: Members, quotations: Quotations) -> bool:
        """Whether an object repeats a text that was shown."""
        values = [members[name] for name in members if name in self.fields]
        return quotations.hold_all(_leaves(values))

    def convert(self, members: Members) -> T:
        """Return what an object stands for."""
        pairs = ((self.fields.get(plain_name(key), key), value) for key, value in members.pairs)
        given = {key: restore_keys(value) for key, value in pairs}
        if "mark" not in self.fields:
            given.pop("mark", None)
        return self._build(given)

    def _find(self, text: str) -> list[Members]:
        """List the objects of this form; a reply without one may have labels."""
        found = [inner for each in objects(text) for inner in find(each.members, self._fits)]
        if found or text.startswith("{"):
            return found
        label = "|".join(re.escape(name).replace(r"\ ", r"[\s_-]") for name in self.fields)
        return find(_split(text, label or "(?!)"), self._fits)

    def _has(self, members: Members) -> bool:
        return bool(self.fields.keys() & members.keys())

    def _fits(self, members: Members) -> bool:
        if not self._has(members):
            return False  # a model whose fields have defaults takes any object
        try:
            self.convert(members)
        except (ValueError, TypeError, msgspec.ValidationError):
            return False
        return True


class JudgementsForm(RecordForm[list[Judgement]]):
    """A judgement on each of several questions, under `question_1`, `question_2` and so on.

    A list of judgements with numbers would let a model repeat one and leave out another.
    """

    def __init__(self, count: int) -> None:
        self._names = [f"question_{number}" for number in range(1, count + 1)]
        self._range = f"{self._names[0]} to {self._names[-1]}"
        judgement = object_schema(**_REASONING, **_JUDGEMENT)
        schema = object_schema(**dict.fromkeys(self._names, judgement))
        super().__init__("judgements", schema, lambda _: [])

    def follow_up(self, error: Exception) -> tuple[str, Schema]:  # noqa: ARG002 - it sees it
        keys = f"{self._range}, under each an object with the keys"
        schema = object_schema(**dict.fromkeys(self._names, object_schema(**_JUDGEMENT)))
        return f"{_AGAIN} {keys} {_describe(_JUDGEMENT)}.", schema

    def add_reasons(self, answer: list[Judgement], reply: str) -> list[Judgement]:
        found = [inner for each in objects(reply) for inner in find(each.members, self._has)]
        earlier = found[0] if found else Members()
        reasons = [
            reasons_of(before) if isinstance(before := earlier.get(name), Members) else ""
            for name in self.fields
        ]
        return [
            msgspec.structs.replace(each, reasoning=each.reasoning or reason)
            for each, reason in zip(answer, reasons)
        ]

    def is_copy(self, members: Members, quotations: Quotations) -> bool:
        """Whether the judgement on one question repeats a text that was shown."""
        try:
            self._judge(members, Reader(VERDICT, CONFIDENCE, quotations))
        except Unreadable:
            return True
        return False

    def convert(self, members: Members) -> list[Judgement]:
        return self._judge(members, Reader(VERDICT, CONFIDENCE))

    def _judge(self, members: Members, reader: Reader) -> list[Judgement]:
        names = {key for key in members if re.fullmatch(r"question ?\d+", key)}
        if names != self.fields.keys():
            raise Unreadable(f"expected {self._range}, once each, got {quote(sorted(names))}")
        found = []
        for name in self.fields:
            value = members[name]
            if isinstance(value, Members):
                found.append(reader.read_members(value))
            elif isinstance(value, str) and not reader.quotations.hold(f"{name} {value}"):
                found.append(reader.read(value))
            else:
                raise Unreadable(f"{name} is {quote(value)}")
        return found


class AnswerForm(RecordForm[Any]):
    """An object of a pydantic model's class, or any text."""

    def __init__(self, result_type: Any, *, repeats: bool) -> None:
        """`repeats` says whether an answer may repeat a text that was shown."""
        build = getattr(result_type, "model_validate", str)
        super().__init__(name_of(result_type), schema_of(result_type), build)
        self._type, self._repeats = result_type, repeats

    def read(self, reply: str, quotations: Quotations) -> Any:
        return reply if self._type is str else super().read(reply, quotations)

    def refuse(self, text: str) -> Any:
        return read_answer(self._type, text)

    def is_copy(self, members: Members, quotations: Quotations) -> bool:
        return not self._repeats and super().is_copy(members, quotations)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = [*value.values()]
    return (
        [leaf for each in value for leaf in _leaves(each)] if isinstance(value, list) else [value]
    )


def _split(text: str, label: str) -> Members:
    """Return what stands under each label, as members."""
    found = re.findall(
        rf"(?ims)^\W*({label})\b\W*?[:=>\n]\W*(.+?)\s*(?=^\W*(?:{label})\b\W*?[:=>\n]|\Z)", text
    )
    return as_members([(name, value.strip(" \t*_")) for name, value in found])
