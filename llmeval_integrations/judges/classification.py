"""A label out of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.core.options import (
    check_choice,
    check_number,
    check_text,
    is_number,
    option_error,
)
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.judges.exchange import Form, ask_judge
from llmeval_integrations.judges.prompts.material import check_names
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.judges.replies.quotations import Quotations
from llmeval_integrations.judges.replies.reader import Reader, Reading
from llmeval_integrations.judges.replies.vocabulary import VERDICT_NAMES, Vocabulary
from llmeval_integrations.llm.messages import OUTPUTS, Output
from llmeval_integrations.llm.thinking import without_thinking

if TYPE_CHECKING:
    from llmeval_integrations.llm.session import Ask

Choices: TypeAlias = (
    Sequence[str] | Mapping[str, float | None] | Mapping[str, tuple[float | None, str]]
)


_ALIASES: Final = ("verdict", "classification", "class", "category", *VERDICT_NAMES)
_FORM: Final = (
    'Reply with one JSON object that has two keys in this order: "explanation", a text with your '
    'reasons; "label", the label as it is written above.'
)


class Choice(msgspec.Struct, frozen=True):
    """One label."""

    label: str
    score: float | None = None
    description: str = ""


@dataclass(frozen=True)
class Classification(JudgedEvaluator):
    """Which of several labels fits the output, as a judge sees it?

    Score: what the choices give the label; None for a list of labels, which gives none. Passed:
    whether the score is at least `threshold`. Label: the label. Reason: the judge's explanation.
    A label that is none of the choices leaves it unscored.
    """

    name: str = field()
    """What the result is called in a run, such as "helpfulness"."""

    model: Any
    """The model: whatever `load_client` takes."""

    prompt: Any
    """A Prompt, or what one is made of. It may name `output`, `input`, `reference`, `contexts`,
    the sample's variables, and `fence`, the mark that stands around the output. The choices and
    the form of the reply are told behind it."""

    choices: Choices
    """The labels: a list; or a mapping from each to its score, or to (score, description)."""

    threshold: float | None = None
    """The lowest score that passes; None leaves `passed` open."""

    output: Output = "auto"
    """How the form of the reply is asked for."""

    retries: int = 1
    """How often the judge is shown a reply that cannot be read and asked for its label alone."""

    _read_choices: tuple[Choice, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_text(self, "name")
        super().__post_init__()
        object.__setattr__(self, "prompt", Prompt.of(self.prompt))
        check_names(self.name, self.prompt)
        object.__setattr__(self, "_read_choices", tuple(self._choices()))
        check_number(self, "threshold", optional=True)
        check_choice(self, "output", OUTPUTS)
        check_number(self, "retries", minimum=0, whole=True)

    def _choices(self) -> list[Choice]:
        given = self.choices
        if isinstance(given, str) or not isinstance(given, (Mapping, Sequence)) or not given:
            raise option_error(
                self, "choices", "a list of labels, or a mapping from labels to scores"
            )
        pairs = given.items() if isinstance(given, Mapping) else ((label, None) for label in given)
        choices = [self._choice(label, value) for label, value in pairs]
        if len({_folded(choice.label) for choice in choices}) < len(choices):
            raise option_error(self, "choices", "made of labels that differ by more than case")
        return choices

    def _choice(self, label: Any, value: Any) -> Choice:
        is_pair = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2
        score, description = value if is_pair else (value, "")
        if not isinstance(label, str) or not label.strip():
            raise option_error(self, "choices", f"made of texts; {quote(label)} is none")
        if not (score is None or is_number(score)) or not isinstance(description, str):
            raise option_error(
                self, "choices", f"made of scores: {quote(value)} is no (score, text)"
            )
        return Choice(label, score, description)

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        reading = await ask_judge(self, sample, ask, self.prompt, _LabelForm(self._read_choices))
        label, reasoning = reading.value.label, reading.reasoning or None
        score = None if reading.value.score is None else float(reading.value.score)
        passed = None
        if score is not None and self.threshold is not None:
            passed = score >= self.threshold
        return Result(score, passed, label, reasoning, answered=score is None)


class _LabelForm(Form[Reading]):
    """One of the labels, behind its explanation."""

    name = "classification"

    def __init__(self, choices: Sequence[Choice]) -> None:
        lines = [
            f"- {choice.label}: {choice.description}" if choice.description else f"- {choice.label}"
            for choice in choices
        ]
        self.wording = "\n".join(["Choose exactly one of these labels:", *lines, _FORM])
        self._label = {"type": "string", "enum": [choice.label for choice in choices]}
        self.schema = self._schema(explanation={"type": "string"}, label=self._label)
        words = tuple((_folded(choice.label), choice) for choice in choices)
        self._vocabulary = Vocabulary("label", words, aliases=_ALIASES)

    def read(self, reply: str, quotations: Quotations, mark: str, before: str | None) -> Reading:
        try:
            reading = Reader(self._vocabulary, quotations=quotations, mark=mark).read(reply)
        except UnreadableJudgementError as error:
            labels = ", ".join(map(repr, self._label["enum"]))
            raise UnreadableJudgementError(
                f"{error}; it is one of the labels {labels}: {quote(reply)}"
            ) from None
        if before is not None:
            reading = reading._replace(reasoning=without_thinking(before))
        return reading

    def again(self, error: Exception) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 - it sees it
        wording = (
            "That reply cannot be read. Say what it comes to in one JSON object with one key: "
            f'"label", one of {", ".join(map(quote, self._label["enum"]))}.'
        )
        return wording, self._schema(label=self._label)

    def _schema(self, **properties: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": properties,
            "required": [*properties],
            "additionalProperties": False,
        }


def _folded(label: str) -> str:
    """Return a label without what does not tell labels apart: case, and marks around it."""
    return label.strip(" \t\r\n\"'`*.").casefold()
