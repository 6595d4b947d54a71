"""A verdict on one question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.options import check_choice, check_instance, check_number, check_text
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.evaluator import Conversation, JudgedEvaluator
from llmeval_integrations.judges.prompts.fence import new_fence
from llmeval_integrations.judges.prompts.material import (
    background,
    examples,
    material,
    output_text,
    quotable,
)
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.judges.prompts.texts import MATERIAL, ONE_JUDGEMENT, SYSTEM
from llmeval_integrations.judges.score_table import ScoreTable
from llmeval_integrations.judges.verdicts.judgement import Judgement, Verdict
from llmeval_integrations.judges.verdicts.reading import parse_judgement
from llmeval_integrations.judges.verdicts.rereading import read_reply
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import OUTPUTS, JudgeRequest, Output

JUDGEMENT_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "verdict": {"type": "string", "enum": ["Pass", "Fail"]},
        "confidence": {"type": "string", "enum": ["High", "Medium", "Low"]},
    },
    "required": ["reasoning", "verdict", "confidence"],
    "additionalProperties": False,
}
"""The form of a judgement. The reasoning stands first: what a model writes next follows from it."""

PROMPT: Final = Prompt(
    [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": f"Question: {{{{question}}}}\n{MATERIAL}\n{ONE_JUDGEMENT}"},
    ],
    "mustache",
)


@dataclass(frozen=True)
class PassFail(JudgedEvaluator):
    """Does the output pass, as a judge answers one question about it?

    Score: the weight of verdict and confidence in `scores`, 0 to 1. Label: the verdict. Metadata:
    `verdict`, `confidence`. A reply that does not say one verdict clearly leaves it unscored.
    """

    client: Any
    """The model: whatever `load_client` takes, such as "openai:gpt-5-mini" or a chat model."""

    question: str
    """The criterion, as one question; "(Pass = ...)" behind it settles what passes."""

    role: str | None = None
    """The role that the writer was given, as background."""

    instruction: str | None = None
    """What the writer was asked, as background; None takes the sample's input."""

    scores: ScoreTable = field(default_factory=ScoreTable)
    """What each verdict is worth at each confidence."""

    prompt: Any = PROMPT
    """A Prompt, or what one is made of. It may name `question`, `role`, `instruction`, `output`,
    `input`, `reference`, `contexts`, the sample's variables, and `fence`, the mark that stands
    around the output; `documents` and `reference_text` are the contexts and the reference as text,
    empty where there are none. A variable that is called like one of these gives way to it."""

    output: Output = "auto"
    """How the form of the reply is asked for; "text" for models that know no structured output."""

    retries: int = 1
    """How often the judge is told that its reply was unreadable and asked again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", load_client(self.client))
        object.__setattr__(self, "prompt", Prompt.of(self.prompt))
        check_text(self, "question")
        check_text(self, "role", optional=True)
        check_text(self, "instruction", optional=True)
        check_instance(self, "scores", ScoreTable)
        check_choice(self, "output", OUTPUTS)
        check_number(self, "retries", minimum=0, whole=True)
        if self.instruction is not None:  # it stands for the sample's input
            needs = tuple(field for field in self.needs if field != "input")
            object.__setattr__(self, "needs", needs)
        if "output" not in self.prompt.variables:
            raise InvalidOptionError(
                f"{self.name}: the prompt shows the judge no output; it names "
                f"{', '.join(self.prompt.variables) or 'nothing'}"
            )

    @property
    def asked(self) -> str:
        """The question as the judge is asked it."""
        return self.question

    def variables(self, sample: Sample, fence: str) -> dict[str, Any]:
        """Return the prompt what is known of the sample; background that is absent is empty."""
        return {
            **material(sample, fence),
            **background(sample, self.instruction),
            "question": self.asked,
            "role": self.role or "",
        }

    def judge(self, sample: Sample) -> Conversation:
        fence = new_fence()
        variables = self.variables(sample, fence)
        messages = tuple(self.prompt.render(variables))
        request = JudgeRequest(messages, JUDGEMENT_SCHEMA, "judgement", self.output, fence=fence)
        shown = [output_text(sample), *quotable(self.prompt, variables)]
        ours = examples(self.prompt, variables)

        def read(reply: JudgeReply) -> Judgement:
            return parse_judgement(reply.text, ignoring=shown, fence=fence, examples=ours)

        judgement = yield from read_reply(request, read, self.retries)
        return as_result(judgement, self.scores)


def as_result(judgement: Judgement, scores: ScoreTable) -> Result:
    """Return a judgement as a result."""
    return Result(
        scores.score(judgement),
        judgement.verdict is Verdict.PASS,
        judgement.verdict.value,
        judgement.reasoning,
        {"verdict": judgement.verdict.value, "confidence": str(judgement.confidence)},
    )
