"""Answers in a type of the caller's, found by what fits the type."""

from __future__ import annotations

import re
from typing import Any, Final

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.exchange import Form
from llmeval_integrations.judges.replies.answer import find_answer, is_marked
from llmeval_integrations.judges.replies.objects import (
    Members,
    find,
    members,
    objects,
    original,
    plain_name,
    repair,
)
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.llm.answers import name_of, read_answer, schema_of

_AROUND: Final = " \t*_"


class AnswerForm(Form[Any]):
    """An object of a pydantic model's class, or any text."""

    def __init__(self, result_type: Any, *, repeats: bool) -> None:
        """`repeats` says whether an answer may repeat a text that was shown."""
        self._type = result_type
        self._repeats = repeats
        self.name = name_of(result_type)
        self.schema = schema_of(result_type)
        self._fields = {
            plain_name(name): field.alias or name
            for name, field in getattr(result_type, "model_fields", {}).items()
        }

    def read(self, reply: str, quotations: Quotations, mark: str, before: str | None) -> Any:  # noqa: ARG002 - the answer is asked for whole
        if self._type is str:
            return reply
        text = find_answer(reply, mark, lambda said: bool(self._answers(said)))
        found = self._answers(text)
        marked = [each for each in found if is_marked(each, mark)]
        own = [each for each in found if not self._is_copy(each, quotations)]
        if found and not (marked or own):
            raise UnreadableJudgementError(f"it only repeats a text that was shown: {quote(text)}")
        if not found:
            return read_answer(self._type, text)
        if any(len(each) < len(each.pairs) for each in found):
            raise UnreadableJudgementError(f"it has a key twice: {quote(text)}")
        answers = [self._parse(each) for each in marked or own]
        if any(each != answers[0] for each in answers):
            raise UnreadableJudgementError(f"it has several answers: {quote(text)}")
        return answers[0]

    def _is_copy(self, answer: Members, quotations: Quotations) -> bool:
        if self._repeats:
            return False
        return quotations.hold_all(
            [leaf for name in answer if name in self._fields for leaf in _leaves(answer[name])]
        )

    def _answers(self, text: str) -> list[Members]:
        """List the objects of this type; a reply without an object may have labels."""
        found = objects(text) or repair(text)
        values = [each.members for each in found]
        if "{" not in text:
            values = [_read_labels(text, [*self._fields])]
        return [inner for value in values for inner in find(value, self._fits)]

    def _fits(self, answer: Members) -> bool:
        if not self._fields.keys() & answer.keys():
            return False  # a model whose fields have defaults takes any object
        try:
            self._parse(answer)
        except (ValueError, TypeError):
            return False
        return True

    def _parse(self, answer: Members) -> Any:
        given = original(answer)
        for name, field in self._fields.items():
            if name in answer and field not in given:
                key = next(key for key, _ in answer.pairs if plain_name(key) == name)
                given[field] = given.pop(key)
        if "mark" not in self._fields:
            given.pop("mark", None)
        return self._type.model_validate(given)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = [*value.values()]
    return (
        [leaf for each in value for leaf in _leaves(each)] if isinstance(value, list) else [value]
    )


def _read_labels(text: str, names: list[str]) -> Members:
    """Return the members that stand under labels, one on a line or on several."""
    label = "|".join(re.escape(name).replace(r"\ ", r"[\s_-]") for name in names) or "(?!)"
    found = re.findall(
        rf"(?ims)^\W*({label})\W*?[:=]\W*(.+?)\s*(?=^\W*(?:{label})\W*?[:=]|\Z)", text
    )
    return members([(name, value.strip(_AROUND)) for name, value in found])
