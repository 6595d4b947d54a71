"""The forms in which judges answer, and how replies in them are read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.replies.judgement import CONFIDENCE, VERDICT, Judgement
from llmeval_integrations.judges.replies.objects import Members, find, objects, plain_name
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.judges.replies.reader import Reader, reasons_of
from llmeval_integrations.judges.replies.vocabulary import Vocabulary
from llmeval_integrations.llm.answers import name_of, schema_of
from llmeval_integrations.llm.thoughts import strip_reasoning

T = TypeVar("T")
Schema: TypeAlias = dict[str, Any]
"""A JSON Schema."""

_WRONG: Final = (ValueError, TypeError, KeyError, msgspec.ValidationError)
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
    """The name of the answer in a request."""

    schema: Schema | None
    """The JSON Schema of the answer; None for free text."""

    wording: str = ""
    """What the end of the prompt says about the form."""

    @abstractmethod
    def read(self, reply: str, quotations: Quotations, before: str = "") -> T:
        """Read a reply; raises UnreadableJudgementError.

        `before` is the first reply, if this one is the answer to `follow_up`.
        """

    def follow_up(self, error: Exception) -> tuple[str, Schema | None]:
        """Return the request that follows an unreadable reply, and the schema of its answer."""
        return f"That reply cannot be used: {error}. Answer in the form asked for.", self.schema


class StatementForm(Form[Judgement]):
    """One word out of a few, after its reasons."""

    def __init__(
        self, name: str, vocabulary: Vocabulary, reasons: Schema, words: Schema, wording: str = ""
    ) -> None:
        """`reasons` and `words` are properties of the schema."""
        self.name, self.wording = name, wording
        self.schema = object_schema(**reasons, **words)
        self._vocabulary, self._words = vocabulary, words

    def read(self, reply: str, quotations: Quotations, before: str = "") -> Judgement:
        confidence = CONFIDENCE if CONFIDENCE.name in self._words else None
        try:
            answer = Reader(self._vocabulary, confidence, quotations).read(reply)
        except UnreadableJudgementError as error:
            raise UnreadableJudgementError(
                f"Unreadable {self.name}, {error}: {quote(reply)}"
            ) from None
        if before:
            answer = msgspec.structs.replace(answer, reasoning=strip_reasoning(before).strip())
        return answer

    def follow_up(self, error: Exception) -> tuple[str, Schema]:  # noqa: ARG002 - it sees it
        """Ask for the word alone: the judge sees its reasons in the reply that it is shown."""
        return f"{_AGAIN} {_describe(self._words)}.", object_schema(**self._words)


def _describe(words: Schema) -> str:
    """Return the keys of an answer with the words that may be their values."""
    return "; ".join(
        f'"{name}", one of {", ".join(map(quote, each["enum"]))}' for name, each in words.items()
    )


JUDGEMENT: Final = StatementForm("judgement", VERDICT, _REASONING, _JUDGEMENT)
"""One judgement. The reasoning comes first, so that the verdict follows from it."""


class RecordForm(Form[T]):
    """An object that a function converts, or refuses."""

    def __init__(
        self,
        name: str,
        schema: Schema | None,
        build: Callable[[Members], T],
        *,
        repeats: bool = False,
    ) -> None:
        """Set the form.

        `build` raises ValueError, TypeError, KeyError or msgspec's ValidationError for other
        objects. `repeats` says whether an answer may repeat a text that was shown.
        """
        self.name, self.schema, self._build, self._repeats = name, schema, build, repeats
        self._fields = {plain_name(key): key for key in (schema or {}).get("properties", {})}

    def read(self, reply: str, quotations: Quotations, before: str = "") -> T:  # noqa: ARG002
        text = strip_reasoning(reply, lambda part: bool(self._find(part)))
        found = self._find(text)
        if not found:
            raise self._refuse(text)
        marked = [each for each in found if quotations.mark_is_in(each)]
        own = marked or [each for each in found if not self.is_copy(each, quotations)]
        if not own:
            raise UnreadableJudgementError(f"it only repeats a text that was shown: {quote(text)}")
        answers = [self._build(self._keys(each)) for each in own]
        if any(each != answers[0] for each in answers):
            raise UnreadableJudgementError(f"it has several answers: {quote(text)}")
        return answers[0]

    def _refuse(self, text: str) -> UnreadableJudgementError:
        """Return the error for a reply without such an object."""
        for each in objects(text):
            try:
                self._build(self._keys(each.members))
            except _WRONG as error:
                return UnreadableJudgementError(f"{error}: {quote(text)}")
        keys = ", ".join(map(repr, self._fields.values()))
        return UnreadableJudgementError(f"it has no object with {keys}: {quote(text)}")

    def is_copy(self, members: Members, quotations: Quotations) -> bool:
        """Return whether an object repeats a text that was shown."""
        values = [each for key, each in members.items() if plain_name(key) in self._fields]
        return not self._repeats and quotations.hold_all(_leaves(values))

    def _keys(self, members: Members) -> Members:
        """Return an object with the keys of the schema, and without the mark."""
        given = {self._fields.get(plain_name(key), key): each for key, each in members.items()}
        if "mark" not in self._fields:
            given.pop("mark", None)
        return given

    def _find(self, text: str) -> list[Members]:
        """List the objects of this form; a reply without one may have labels."""
        found = [inner for each in objects(text) for inner in find(each.members, self._fits)]
        if found or text.startswith("{") or not self._fields:
            return found
        label = "|".join(re.escape(name).replace("\\ ", r"[\s_-]") for name in self._fields)
        heading = rf"^\W*({label})\b\W*?[:=>\n]\W*"
        labels = re.findall(rf"(?ims){heading}(.+?)\s*(?={heading}|\Z)", text)
        return find({name: value.strip(" \t*_") for name, value, _ in labels}, self._fits)

    def _fits(self, members: Members) -> bool:
        if not self._fields.keys() & map(plain_name, members):
            return False  # a model whose fields have defaults takes any object
        try:
            self._build(self._keys(members))
        except _WRONG:
            return False
        return True


class JudgementsForm(RecordForm[list[Judgement]]):
    """A judgement on each of several questions, under `question_1`, `question_2` and so on.

    A list of judgements with numbers would let a model repeat one and omit another.
    """

    def __init__(self, count: int) -> None:
        judgement = object_schema(**_REASONING, **_JUDGEMENT)
        self._names = [f"question_{number}" for number in range(1, count + 1)]
        schema = object_schema(**dict.fromkeys(self._names, judgement))
        super().__init__("judgements", schema, lambda given: self._judge(given, Quotations()))

    def follow_up(self, error: Exception) -> tuple[str, Schema]:  # noqa: ARG002 - it sees it
        """Ask for the words alone, as for a single judgement."""
        keys = f"{', '.join(self._names)}, under each an object with the keys"
        schema = object_schema(**dict.fromkeys(self._names, object_schema(**_JUDGEMENT)))
        return f"{_AGAIN} {keys} {_describe(_JUDGEMENT)}.", schema

    def read(self, reply: str, quotations: Quotations, before: str = "") -> list[Judgement]:
        first = objects(before)
        earlier = self._keys(first[0].members) if first else {}
        answers = []
        for name, answer in zip(self._names, super().read(reply, quotations)):
            was = earlier.get(name)
            reasons = answer.reasoning or reasons_of(was if isinstance(was, dict) else {})
            answers.append(msgspec.structs.replace(answer, reasoning=reasons))
        return answers

    def is_copy(self, members: Members, quotations: Quotations) -> bool:
        """Return whether the judgement on one question repeats a text that was shown."""
        try:
            self._judge(self._keys(members), quotations)
        except UnreadableJudgementError:
            return True
        return False

    def _judge(self, given: Members, quotations: Quotations) -> list[Judgement]:
        if {key for key in given if key.startswith("question")} != {*self._names}:
            names = f"{self._names[0]} to {self._names[-1]}"
            raise UnreadableJudgementError(f"expected {names}, once each, got {quote([*given])}")
        reader = Reader(VERDICT, CONFIDENCE, quotations)
        found = []
        for name in self._names:
            value = given[name]
            if isinstance(value, dict):
                found.append(reader.read_members(value))
            elif isinstance(value, str) and not quotations.hold(f"{name} {value}"):
                found.append(reader.read(value))
            else:
                raise UnreadableJudgementError(f"{name} is {quote(value)}")
        return found


class AnswerForm(RecordForm[Any]):
    """An object of a pydantic model's class, or any text."""

    def __init__(self, result_type: Any, *, repeats: bool) -> None:
        build = getattr(result_type, "model_validate", str)
        super().__init__(name_of(result_type), schema_of(result_type), build, repeats=repeats)
        self._type = result_type

    def read(self, reply: str, quotations: Quotations, before: str = "") -> Any:
        return reply if self._type is str else super().read(reply, quotations, before)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = [*value.values()]
    return (
        [leaf for each in value for leaf in _leaves(each)] if isinstance(value, list) else [value]
    )
