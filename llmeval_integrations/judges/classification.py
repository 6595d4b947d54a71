"""A label out of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

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
from llmeval_integrations.judges.evaluator import Conversation, JudgedEvaluator
from llmeval_integrations.judges.prompts.fence import new_fence
from llmeval_integrations.judges.prompts.material import (
    check_names,
    examples,
    material,
    output_text,
    quotable,
)
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.judges.verdicts.objects import find_sole_object
from llmeval_integrations.judges.verdicts.quotations import Quotations
from llmeval_integrations.judges.verdicts.rereading import read_reply
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import OUTPUTS, JudgeRequest, Output
from llmeval_integrations.llm.thinking import without_thinking

Choices: TypeAlias = (
    Sequence[str] | Mapping[str, float | None] | Mapping[str, tuple[float | None, str]]
)


_NAMES: Final = ("label", "explanation")
_FORM: Final = (
    'Reply with one JSON object that has two keys in this order: "explanation", a text with your '
    'reasons; "label", the label as it is written above.'
)


class Choice(msgspec.Struct, frozen=True):
    """One label."""

    label: str
    score: float | None = None
    description: str = ""


class Classified(msgspec.Struct, frozen=True):
    """What a reply says."""

    choice: Choice
    explanation: str | None


@dataclass(frozen=True)
class Classification(JudgedEvaluator):
    """Which of several labels fits the output, as a judge sees it?

    Score: what the choices give the label; None for a list of labels, which gives none. Passed:
    whether the score is at least `threshold`. Label: the label. Reason: the judge's explanation.
    A label that is none of the choices leaves it unscored.
    """

    name: str = field()
    """What the result is called in a run, such as "helpfulness"."""

    client: Any
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
    """How often the judge is told that its reply was wrong and asked again."""

    _read_choices: tuple[Choice, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_text(self, "name")
        object.__setattr__(self, "client", load_client(self.client))
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

    def judge(self, sample: Sample) -> Conversation:
        fence = new_fence()
        variables = material(sample, fence)
        messages = _with_choices(self.prompt.render(variables), self._read_choices)
        schema = _schema(self._read_choices)
        request = JudgeRequest(messages, schema, "classification", self.output, fence=fence)
        foreign = (output_text(sample), *quotable(self.prompt, variables, ""))
        quotations = Quotations(foreign, fence, _NAMES, examples(self.prompt, variables))

        def read(reply: JudgeReply) -> Classified:
            return _read(without_thinking(reply.text, *foreign), self._read_choices, quotations)

        said = yield from read_reply(request, read, self.retries)
        score = None if said.choice.score is None else float(said.choice.score)
        passed = None
        if score is not None and self.threshold is not None:
            passed = score >= self.threshold
        return Result(score, passed, said.choice.label, said.explanation, answered=score is None)


def _with_choices(messages: list[Message], choices: Sequence[Choice]) -> tuple[Message, ...]:
    """Tell the choices and the form of the reply at the end of what the user says."""
    lines = [
        f"- {choice.label}: {choice.description}" if choice.description else f"- {choice.label}"
        for choice in choices
    ]
    told = "\n".join(
        [
            "Choose exactly one of these labels:",
            *lines,
            _FORM,
        ]
    )
    *before, last = messages
    if last.role != "user":
        return (*messages, Message("user", told))
    return (*before, Message("user", f"{last.text}\n\n{told}"))


def _schema(choices: Sequence[Choice]) -> dict[str, Any]:
    labels = [choice.label for choice in choices]
    return {
        "type": "object",
        "properties": {
            "explanation": {"type": "string"},
            "label": {"type": "string", "enum": labels},
        },
        "required": ["explanation", "label"],
        "additionalProperties": False,
    }


def _read(text: str, choices: Sequence[Choice], quotations: Quotations) -> Classified:
    """Read a reply: the JSON object asked for, or one label and nothing else."""
    found = find_sole_object(text)
    explanation = None
    label: Any = text
    if found:
        repeats = quotations.hold_members(found.members)
        if not repeats and len(found.members) > 1:  # the letters of a label stand in many a text
            repeats = quotations.hold_object(found, text)
        if repeats:
            raise UnreadableJudgementError(f"it only repeats a text that was shown: {quote(text)}")
        labels = [value for name, value in found.members.pairs if name == "label"]
        label = labels[0] if labels and labels.count(labels[0]) == len(labels) else labels
        explanation = found.members.get("explanation")
    folded = _folded(label) if isinstance(label, str) else None
    for choice in choices:
        if _folded(choice.label) == folded:
            return Classified(choice, explanation if isinstance(explanation, str) else None)
    known = ", ".join(repr(choice.label) for choice in choices)
    raise UnreadableJudgementError(f"{quote(label)} is not one of the labels {known}")


def _folded(label: str) -> str:
    """Return a label without what does not tell labels apart: case, and marks around it."""
    return label.strip(" \t\r\n\"'`*.").casefold()
