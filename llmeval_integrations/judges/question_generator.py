"""Questions for judges, written by a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, get_args

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.core.options import check_number, check_text, is_number
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values import parse as json_text
from llmeval_integrations.judges.exchange import exchange
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.judges.replies.forms import Form, object_schema
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.reasoning import strip_reasoning

QuestionType = Literal["binary", "scaled", "multiple_choice"]

_MOST: Final = 200
"""The most questions of one call."""

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

    async def _generate(self, specifications: str, count: int, kind: str) -> list[Question]:
        if not isinstance(specifications, str) or not specifications.strip():
            raise InvalidOptionError(f"specifications={quote(specifications)} is not a text")
        if not is_number(count, whole=True) or not 1 <= count <= _MOST:
            raise InvalidOptionError(
                f"num_questions={quote(count)} is not a whole number from 1 to {_MOST}"
            )
        if kind not in _FORMS:
            names = ", ".join(map(repr, get_args(QuestionType)))
            raise InvalidOptionError(f"question_type={quote(kind)} is not one of {names}")
        from llmeval_integrations.llm.session import Ask, Session

        with_choices = kind == "multiple_choice"
        values = {
            "specifications": specifications,
            "domain": self.domain,
            "count": count,
            "form": _FORMS[kind],
            "with_choices": with_choices,
        }
        return await exchange(
            Ask(Session(), self.model),
            _PROMPT.render(values),
            _QuestionsForm(count, with_choices=with_choices),
            Quotations(),
            retries=self.retries,
            temperature=self.temperature,
        )


class _QuestionsForm(Form[list[Question]]):
    """So many questions: an object with `questions` or the list itself; items may be texts."""

    name = "questions"

    def __init__(self, count: int, *, with_choices: bool) -> None:
        self._count = count
        self._with_choices = with_choices
        text = {"type": "string"}
        choices = {"type": "array", "items": text, "minItems": 2, "maxItems": 6}
        question = object_schema(question=text, **({"choices": choices} if with_choices else {}))
        self.schema = object_schema(
            questions={"type": "array", "items": question, "minItems": count, "maxItems": count}
        )

    def read(self, reply: str, quotations: Quotations) -> list[Question]:  # noqa: ARG002 - a specification may hold questions
        value = json_text.parse(strip_reasoning(reply))
        items = value.get("questions") if isinstance(value, dict) else value
        if not isinstance(items, list):
            raise UnreadableJudgementError(f"expected a list of questions, got {quote(reply)}")
        questions = [*map(self._question, items)]
        if len(questions) != self._count:
            raise UnreadableJudgementError(
                f"expected {self._count} questions, got {len(questions)}"
            )
        if _repeats(questions):
            raise UnreadableJudgementError(f"expected {self._count} questions, and some came twice")
        return questions

    def _question(self, item: Any) -> Question:
        item = item if isinstance(item, dict) else {"question": item}
        text, choices = item.get("question"), item.get("choices")
        if not isinstance(text, str) or not text.strip():
            raise UnreadableJudgementError(f"expected a question, got {quote(item)}")
        if not self._with_choices:
            return Question(text.strip())
        given = choices if isinstance(choices, list) else []
        texts = tuple(each.strip() for each in given if isinstance(each, str) and each.strip())
        if not 2 <= len(texts) <= 6 or len(texts) != len(given) or _repeats(texts):
            raise UnreadableJudgementError(
                f"expected 2 to 6 different choices, got {quote(choices)}"
            )
        return Question(text.strip(), texts)


def _repeats(texts: tuple[str, ...] | list[Question]) -> bool:
    """Whether two texts differ in no more than case and white space."""
    return len({" ".join(text.split()).casefold() for text in texts}) < len(texts)
