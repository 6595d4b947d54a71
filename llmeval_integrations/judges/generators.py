"""What a model writes outside of any judge: answers, questions for judges, outputs to be judged."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.options import check_count
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.evaluator import ask_in_form
from llmeval_integrations.judges.forms import Form, form_of, object_schema
from llmeval_integrations.llm.client import load_client
from llmeval_integrations.llm.loop import join, start, wait
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.llm.session import Ask, Session


def ask(model: Any, prompt: Any, result_type: Any = str, **settings: Any) -> Any:
    """Ask a model once and return its answer: a text, or an instance of a pydantic model.

    Example:
        class Rating(pydantic.BaseModel):
            stars: int

        ask("openai:gpt-5-mini", "How many stars does the Ritz have?", Rating).stars

    Args:
        model: Whatever `load_client` accepts.
        prompt: A text or a list of messages, which may have images.
        result_type: `str`, or the class of a pydantic model.
        settings: Fields of Request, such as `temperature=0.5`.

    Raises:
        InvalidOptionError: For a wrong argument, and if the model needs a key and has none.
        JudgeError: If there is no answer of that type.
    """
    return wait(start(_answer(model, prompt, result_type, settings)))


async def aask(model: Any, prompt: Any, result_type: Any = str, **settings: Any) -> Any:
    """Ask as `ask` does, without blocking the event loop."""
    return await join(_answer(model, prompt, result_type, settings))


async def _answer(model: Any, prompt: Any, result_type: Any, settings: dict[str, Any]) -> Any:
    form = form_of(result_type)
    client = load_client(model)
    client.check()
    request = Request.of(prompt, schema_name=form.name, **settings)
    return await ask_in_form(Ask(Session(), client), request, form, retries=0)


QuestionType = Literal["binary", "scaled", "multiple_choice"]

_KINDS: Final[dict[str, str]] = {
    "binary": 'answered with Pass or Fail. It ends with what passes, as "(Pass = ...)"',
    "scaled": (
        "answered with a number from 1, the worst, to 5, the best. It ends with what both ends "
        'mean, as "(1 = ..., 5 = ...)"'
    ),
    "multiple_choice": (
        "answered with one of two to six choices, which exclude each other and leave no case out. "
        "The choices stand in a list of their own"
    ),
}
_SYSTEM: Final = """\
You write questions by which a judge checks texts of a language model. A good question asks for \
one thing only, can be answered from the text and the specifications alone, has an answer that two \
careful readers would share, and assumes nothing about what the text says.
"""
_USER: Final = """\
The texts are written to these specifications:

{specifications}
{domain}
Write exactly {count} questions that together cover the specifications, no two about the same \
thing. Each is {kind}.

Reply with one JSON object whose key "questions" holds the list of {count} objects, each with \
the key "question"{choices}.
"""


class Question(str):  # noqa: SLOT000 - it has choices
    """A question, with its choices if it is multiple choice."""

    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuestionGenerator:
    """Writes questions for judges from the specifications of a task."""

    model: Any
    """The model: whatever `load_client` accepts."""

    domain: str | None = None
    """The subject of the texts, such as "product descriptions"."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", load_client(self.model))

    def generate(
        self, specifications: str, num_questions: int, question_type: QuestionType = "binary"
    ) -> list[Question]:
        """Write exactly so many questions; multiple-choice questions have `choices`.

        Raises InvalidOptionError for an unknown type or a number below 1, UnreadableJudgementError
        if the reply is something else than was asked for, and ClientError if there is none.
        """
        if question_type not in _KINDS:
            names = ", ".join(map(repr, _KINDS))
            raise InvalidOptionError(f"question_type={quote(question_type)} is not one of {names}")
        check_count("num_questions", num_questions)
        has_choices = question_type == "multiple_choice"
        user = _USER.format(
            specifications=specifications,
            domain=f"\nThey belong to this domain: {self.domain}\n" if self.domain else "",
            count=num_questions,
            kind=_KINDS[question_type],
            choices=' and the key "choices", a list of texts' if has_choices else "",
        )
        form = _form(num_questions, has_choices=has_choices)
        messages = (Message("system", _SYSTEM), Message("user", user))
        request = Request(messages, schema_name=form.name)
        return wait(start(ask_in_form(Ask(Session(), self.model), request, form)))


class _Item(msgspec.Struct):
    question: str
    choices: list[str] = []


def _form(count: int, *, has_choices: bool) -> Form[list[Question]]:
    """Return the form of so many questions."""

    def build(given: dict[str, Any]) -> list[Question]:
        items = given["questions"] if isinstance(given["questions"], list) else []
        whole = [each if isinstance(each, dict) else {"question": each} for each in items]
        questions = []
        for item in msgspec.convert(whole, list[_Item]):
            question = Question(item.question.strip())
            if has_choices:
                question.choices = tuple(each.strip() for each in item.choices)
                if not 2 <= _count(question.choices) == len(item.choices) <= 6:
                    raise ValueError(f"choices {quote(item.choices)} are not 2 to 6 different ones")
            questions.append(question)
        if not _count(questions) == len(questions) == count:
            raise ValueError(f"expected {count} different questions, got {quote(questions)}")
        return questions

    text = {"type": "string"}
    choices = {"type": "array", "items": text, "minItems": 2, "maxItems": 6}
    question = object_schema(question=text, **({"choices": choices} if has_choices else {}))
    questions = {"type": "array", "items": question, "minItems": count, "maxItems": count}
    return Form("questions", object_schema(questions=questions), build)


def _count(texts: Sequence[str]) -> int:
    """Count the different texts that are not empty, whatever their case and white space."""
    return len({" ".join(text.split()).casefold() for text in texts} - {""})


class GeneratedOutput(msgspec.Struct, frozen=True):
    """One text of a model, to be judged."""

    text: str
    prompt: str
    temperature: float | None
    finish: str
    """The reason why the text ends: "stop", or "length" if it was cut."""


@dataclass(frozen=True)
class OutputGenerator:
    """Lets a model write outputs, as data for evaluations."""

    model: Any
    """The model: whatever `load_client` accepts."""

    role: str | None = None
    """The role that the model is given."""

    temperature: float | None = 0.7
    """The sampling temperature of variations; None leaves it to the client."""

    max_tokens: int | None = None
    """The maximal length of a text, in tokens; None leaves it to the client."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", load_client(self.model))

    def generate_batch(
        self, task: str, num_responses: int, temperature_range: tuple[float, float] = (0.5, 0.9)
    ) -> list[GeneratedOutput]:
        """Write so many texts for one task, at temperatures evenly spread over the range.

        The calls run concurrently. Raises InvalidOptionError for a number below 1 or a temperature
        that is not within 0 to 2, and ClientError for a call that fails.
        """
        check_count("num_responses", num_responses)
        low, high = temperature_range
        step = (high - low) / max(1, num_responses - 1)
        asked = [(task, round(low + number * step, 6)) for number in range(num_responses)]
        return wait(start(self._write(asked)))

    def generate_variations(self, task: str, prompts: Sequence[str]) -> list[GeneratedOutput]:
        """Write one text for each prompt, which is placed before the task.

        The calls run concurrently. Raises InvalidOptionError if `prompts` is a single text, and
        ClientError for a call that fails.
        """
        if isinstance(prompts, str):  # each of its letters would be a call
            raise InvalidOptionError(f"prompts={quote(prompts)} is not a list of texts")
        asked = [(f"{each.strip()}\n\n{task.strip()}", self.temperature) for each in prompts]
        return wait(start(self._write(asked)))

    async def _write(self, asked: Sequence[tuple[str, float | None]]) -> list[GeneratedOutput]:
        ask = Ask(Session(), self.model)
        system = () if self.role is None else (Message("system", self.role),)
        requests = []
        for number, (prompt, temperature) in enumerate(asked):
            settings = {"temperature": temperature, "max_tokens": self.max_tokens}
            messages = (*system, Message("user", prompt))
            requests.append(Request.of(messages, draw=(number,), **settings))
        replies = await gather(*(ask(request, whole=False) for request in requests))
        return [
            GeneratedOutput(reply.text, *each, reply.finish) for each, reply in zip(asked, replies)
        ]
