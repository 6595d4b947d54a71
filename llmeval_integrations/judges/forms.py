"""The forms in which judges answer, and how replies in them are read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.objects import Members, Quotations, find, objects, plain_name
from llmeval_integrations.judges.reader import Reader, reasons_of
from llmeval_integrations.judges.vocabulary import VERDICT, Judgement, Vocabulary, alternation
from llmeval_integrations.llm.reply import strip_reasoning

T = TypeVar("T")
Schema: TypeAlias = dict[str, Any]
"""A JSON Schema."""

_REASONING: Final[Schema] = {"reasoning": {"type": "string"}}
_WORDS: Final[Schema] = {
    "verdict": {"type": "string", "enum": ["Pass", "Fail"]},
    "confidence": {"type": "string", "enum": ["High", "Medium", "Low"]},
}
_COPY: Final = "it only repeats a text that was shown"
_AGAIN: Final = "That reply cannot be read. Say what it comes to in one JSON object with the keys"


def object_schema(**properties: Any) -> Schema:
    """Return the schema of an object that has these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _ask_for_words(keys: str, words: Schema) -> str:
    """Ask for the words alone: the judge sees its reasons in the reply that it is shown."""
    values = (
        f'"{name}", one of {", ".join(map(quote, each["enum"]))}' for name, each in words.items()
    )
    return f"{_AGAIN} {keys}{'; '.join(values)}."


class Form(Generic[T]):
    """The form of the answers to one question: an object that a function converts, or refuses."""

    wording = ""
    """What the end of the prompt says about the form."""

    def __init__(
        self,
        name: str,
        schema: Schema | None,
        build: Callable[..., T],
        *,
        repeats: bool = False,
        again: tuple[str, Schema] | None = None,
    ) -> None:
        """Set the form.

        Args:
            name: The name of the answer in a request.
            schema: The JSON Schema of the answer; None for free text.
            build: Converts an object, or the text; raises an error for others.
            repeats: Whether an answer may repeat a text that was shown.
            again: The request that follows an unreadable reply, and the schema of its answer;
                without it, the request names the mistake.
        """
        self.name, self.schema, self._again = name, schema, again
        self._build, self._repeats = build, repeats
        self._fields = {plain_name(key): key for key in (schema or {}).get("properties", {})}

    def follow_up(self, error: Exception) -> tuple[str, Schema | None]:
        """Return the request that follows an unreadable reply, and the schema of its answer."""
        mistake = f"That reply cannot be used: {error}. Answer in the form asked for."
        return self._again or (mistake, self.schema)

    def read(self, reply: str, quotations: Quotations, first: str = "") -> T:  # noqa: ARG002
        """Read a reply; raises UnreadableJudgementError.

        `first` is the first reply, if this one is the answer to `follow_up`.
        """
        if self.schema is None:
            return self._build(reply.replace(quotations.mark, ""))
        text = strip_reasoning(reply, lambda part: bool(self._list_objects(part)))
        found = self._list_objects(text)
        if not found:
            others = [each for _, _, each in objects(text)] or [{}]
            raise UnreadableJudgementError(self._name_mistake(others[0]))
        if marked := [each for each in found if quotations.mark_is_in(each)]:
            found, quotations = marked, Quotations(mark=quotations.mark)
        answers = []
        for each in found:
            with suppress(UnreadableJudgementError):  # a copy
                answers.append(self._read_object(each, quotations))
        if not answers:
            raise UnreadableJudgementError(_COPY)
        if any(each != answers[0] for each in answers):
            raise UnreadableJudgementError("it has several answers")
        return answers[0]

    def _list_objects(self, text: str) -> list[Members]:
        """List the objects of a reply that have this form, or the object that its labels make."""

        def fits(members: Members) -> bool:
            return not self._name_mistake(members)

        name, *others = self._fields
        listed = f'{{"{name}": {text[text.find("[") : text.rfind("]") + 1]}}}'
        # a model may write its only list without the object around it
        for whole in [text] if others else [text, listed]:
            found = [inner for _, _, each in objects(whole) for inner in find(each, fits)]
            if found or text.startswith("{"):
                return found
        heading = rf"^\W*({alternation(self._fields)})\b\W*?[:=>\n]\W*"
        labels = re.findall(rf"(?ims){heading}(.+?)\s*(?={heading}|\Z)", text)
        return find({name: value.strip(" \t*_") for name, value, _ in labels}, fits)

    def _name_mistake(self, members: Members) -> str:
        """Return why an object has another form; an empty text if it has this one."""
        if not self._fields.keys() & map(plain_name, members):  # with defaults, any object fits
            return f"it has no object with {', '.join(map(repr, self._fields.values()))}"
        try:
            self._read_object(members, Quotations())
        except (ValueError, TypeError, LookupError) as error:
            return str(error) or type(error).__name__
        return ""

    def _read_object(self, members: Members, quotations: Quotations) -> T:
        """Return the answer in an object; raises an error for another form, and for a copy."""
        if quotations.mark:  # which nobody may see in an answer
            members = json.loads(json.dumps(members).replace(quotations.mark, ""))
        given = self._rename_keys(members)
        if "mark" not in self._fields:
            given.pop("mark", None)
        return self._build_answer(given, quotations)

    def _rename_keys(self, members: Members) -> Members:
        """Return an object with the keys of the schema, such as `question_1` for `Question 1`."""
        return {self._fields.get(plain_name(key), key): each for key, each in members.items()}

    def _build_answer(self, given: Members, quotations: Quotations) -> T:
        known = {key: each for key, each in given.items() if key in self._fields.values()}
        if not self._repeats and quotations.hold_all(known):
            raise UnreadableJudgementError(_COPY)
        return self._build(given)


def form_of(result_type: Any, *, repeats: bool = False) -> Form[Any]:
    """Return the form of answers of a type: str, or a pydantic model's class."""
    if result_type is str:
        return Form("str", None, str)
    if not hasattr(result_type, "model_json_schema"):
        raise InvalidOptionError(
            f"result_type={quote(result_type)} is neither str nor a pydantic model's class"
        )
    from pydantic import ValidationError

    def build(value: Any) -> Any:
        try:
            return result_type.model_validate(value)
        except ValidationError as error:
            places = (".".join(map(str, each["loc"])) or "the answer" for each in error.errors())
            mistakes = (f"{place}: {each['msg']}" for place, each in zip(places, error.errors()))
            raise ValueError("; ".join(mistakes)) from error

    schema = result_type.model_json_schema()
    if not schema.get("properties"):  # such as a list; vendors only accept objects
        raise InvalidOptionError(f"result_type={quote(result_type)} is not an object with fields")
    # A name in a call has at most 64 letters, digits and underscores.
    name = re.sub(r"\W", "_", result_type.__name__, flags=re.ASCII)[:64]
    return Form(name, schema, build, repeats=repeats)


class StatementForm(Form[Judgement]):
    """One word out of a few, after its reasons."""

    def __init__(
        self, name: str, vocabulary: Vocabulary, reasons: Schema, words: Schema, wording: str = ""
    ) -> None:
        """`reasons` and `words` are properties of the schema."""
        again = _ask_for_words("", words), object_schema(**words)
        super().__init__(name, object_schema(**reasons, **words), Judgement, again=again)
        self.wording, self._vocabulary = wording, vocabulary

    def read(self, reply: str, quotations: Quotations, first: str = "") -> Judgement:
        answer = Reader(self._vocabulary, quotations).read(reply)
        if first:
            answer = msgspec.structs.replace(answer, reasoning=strip_reasoning(first).strip())
        return answer


class JudgementsForm(Form[list[Judgement]]):
    """A judgement on each of several questions, under `question_1`, `question_2` and so on.

    A list of judgements with numbers would let a model repeat one and omit another.
    """

    def __init__(self, count: int) -> None:
        self._names = [f"question_{number}" for number in range(1, count + 1)]
        judgement, words = object_schema(**_REASONING, **_WORDS), object_schema(**_WORDS)
        keys = f"{', '.join(self._names)}, under each an object with the keys "
        again = _ask_for_words(keys, _WORDS), object_schema(**dict.fromkeys(self._names, words))
        schema = object_schema(**dict.fromkeys(self._names, judgement))
        super().__init__("judgements", schema, list, again=again)

    def read(self, reply: str, quotations: Quotations, first: str = "") -> list[Judgement]:
        answers = super().read(reply, quotations)
        given = [self._rename_keys(each) for _, _, each in objects(first)]
        for number, name in enumerate(self._names):
            was = [inner for each in given for inner in find(each.get(name), bool)]
            if was and not answers[number].reasoning:
                reasons = reasons_of(was[0])
                answers[number] = msgspec.structs.replace(answers[number], reasoning=reasons)
        return answers

    def _build_answer(self, given: Members, quotations: Quotations) -> list[Judgement]:
        if {key for key in given if key.startswith("question")} != {*self._names}:
            names = f"{self._names[0]} to {self._names[-1]}"
            raise UnreadableJudgementError(f"expected {names}, once each, got {quote([*given])}")
        reader = Reader(VERDICT, quotations)
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


JUDGEMENT: Final = StatementForm("judgement", VERDICT, _REASONING, _WORDS)
"""One judgement. The reasoning comes first, so that the verdict follows from it."""
