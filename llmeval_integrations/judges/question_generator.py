"""Questions for judges, written by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.core.options import check_number, check_text
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.judges.exchange import Exchange, Form
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.thinking import without_thinking

QuestionType = Literal["binary", "scaled", "multiple_choice"]

MOST_QUESTIONS: Final = 200
"""The most questions of one call."""

_FEWEST_CHOICES: Final = 2
_MOST_CHOICES: Final = 6

_FORMS: Final[dict[str, str]] = {
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

{{specifications}}
{{#domain}}

They belong to this domain: {{domain}}
{{/domain}}

Write exactly {{count}} questions that together cover the specifications, no two about the same \
thing. Each is {{form}}.

Reply with one JSON object whose key "questions" holds the list of {{count}} objects, each with \
the key "question"{{#with_choices}} and the key "choices", a list of texts{{/with_choices}}.
"""

_PROMPT: Final = Prompt(
    [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _USER}], "mustache"
)


class Question(str):
    """A question, with its choices where it has any."""

    __slots__ = ("choices",)

    choices: tuple[str, ...]

    def __new__(cls, text: str, choices: tuple[str, ...] = ()) -> Question:  # noqa: PYI034 - final
        question = super().__new__(cls, text)
        question.choices = choices
        return question

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]
        return str(self), self.choices


@dataclass(frozen=True)
class QuestionGenerator:
    """Writes questions for judges from the specifications of a task."""

    name: ClassVar[str] = "question_generator"
    """What messages call it."""

    model: Any
    """The model: whatever `load_client` takes."""

    domain: str | None = None
    """What the texts are about, such as "product descriptions"."""

    temperature: float | None = None
    """The sampling temperature; None leaves it to the client."""

    retries: int = 1
    """How often the model is told what was wrong with its reply and asked again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", load_client(self.model))
        check_text(self, "domain", optional=True)
        check_number(self, "temperature", minimum=0, maximum=2, optional=True)
        check_number(self, "retries", minimum=0, whole=True)

    def generate(
        self, specifications: str, num_questions: int, question_type: QuestionType = "binary"
    ) -> list[Question]:
        """Write exactly so many questions; those of multiple choice have `choices`.

        Raises InvalidOptionError, UnreadableJudgementError where the model gives other than was
        asked for, and says what came, and ClientError where there is no reply.
        """
        from llmeval_integrations.llm.loop import start, wait

        return wait(start(self._generate(specifications, num_questions, question_type)))

    async def agenerate(
        self, specifications: str, num_questions: int, question_type: QuestionType = "binary"
    ) -> list[Question]:
        """Do as `generate` does."""
        from llmeval_integrations.llm.loop import join

        return await join(self._generate(specifications, num_questions, question_type))

    async def _generate(self, specifications: str, count: int, kind: str) -> list[Question]:
        _check(specifications, count, kind)
        with_choices = kind == "multiple_choice"
        values = {
            "specifications": specifications,
            "domain": self.domain,
            "count": count,
            "form": _FORMS[kind],
            "with_choices": with_choices,
        }
        form = _QuestionsForm(count, with_choices=with_choices)
        exchange = Exchange(_PROMPT, values, form, temperature=self.temperature)
        from llmeval_integrations.llm.session import Ask, Session

        return await exchange.ask(Ask(Session(), self.model), self.retries)


class _QuestionsForm(Form[list[Question]]):
    """So many questions."""

    name = "questions"

    def __init__(self, count: int, *, with_choices: bool) -> None:
        self._count = count
        self._with_choices = with_choices
        self.schema = _schema(count, with_choices=with_choices)

    def read(
        self,
        reply: str,
        quotations: Quotations,  # noqa: ARG002 - a specification may hold questions
        mark: str,  # noqa: ARG002
        before: str | None,  # noqa: ARG002
    ) -> list[Question]:
        return _questions(reply, self._count, with_choices=self._with_choices)


def _check(specifications: Any, count: Any, kind: Any) -> None:
    if not isinstance(specifications, str) or not specifications.strip():
        raise InvalidOptionError(f"specifications={quote(specifications)} is not a text")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_QUESTIONS:
        raise InvalidOptionError(
            f"num_questions={quote(count)} is not a whole number from 1 to {MOST_QUESTIONS}"
        )
    if kind not in _FORMS:
        raise InvalidOptionError(
            f"question_type={quote(kind)} is not one of {', '.join(map(repr, _FORMS))}"
        )


def _schema(count: int, *, with_choices: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"question": {"type": "string"}}
    if with_choices:
        choices = {
            "type": "array",
            "items": {"type": "string"},
            "minItems": _FEWEST_CHOICES,
            "maxItems": _MOST_CHOICES,
        }
        properties["choices"] = choices
    question = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    questions = {"type": "array", "items": question, "minItems": count, "maxItems": count}
    return {
        "type": "object",
        "properties": {"questions": questions},
        "required": ["questions"],
        "additionalProperties": False,
    }


def _questions(text: str, count: int, *, with_choices: bool) -> list[Question]:
    """Read a reply, an object with `questions` or the list itself; items may be plain texts."""
    value = json_text.parse(without_thinking(text))
    items = value.get("questions") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise UnreadableJudgementError(f"expected a list of questions, got {quote(text)}")
    questions = [_question(item, with_choices=with_choices) for item in items]
    if len(questions) != count:
        raise UnreadableJudgementError(f"expected {count} questions, got {len(questions)}")
    if _number_of_different(questions) != count:
        raise UnreadableJudgementError(f"expected {count} questions, and some came twice")
    return questions


def _question(item: Any, *, with_choices: bool) -> Question:
    text = item.get("question") if isinstance(item, dict) else item
    if not isinstance(text, str) or not text.strip():
        raise UnreadableJudgementError(f"expected a question, got {quote(item)}")
    given = item.get("choices") if isinstance(item, dict) else None
    return Question(text.strip(), _choices(given) if with_choices else ())


def _choices(given: Any) -> tuple[str, ...]:
    texts = given if isinstance(given, list) else []
    choices = tuple(text.strip() for text in texts if isinstance(text, str))
    if (
        not _FEWEST_CHOICES <= len(choices) <= _MOST_CHOICES
        or len(choices) != len(texts)
        or not all(choices)
        or _number_of_different(choices) != len(choices)
    ):
        raise UnreadableJudgementError(
            f"expected {_FEWEST_CHOICES} to {_MOST_CHOICES} different choices, got {quote(given)}"
        )
    return choices


def _number_of_different(texts: Sequence[str]) -> int:
    """Count the texts that differ by more than case and white space."""
    return len({" ".join(text.split()).casefold() for text in texts})
