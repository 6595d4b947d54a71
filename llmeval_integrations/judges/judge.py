"""An answer in the caller's own form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llmeval_integrations.asking.answers import check_type, name_of, read_answer, schema_of
from llmeval_integrations.asking.loading import load_client
from llmeval_integrations.asking.reply import JudgeReply
from llmeval_integrations.asking.request import OUTPUTS, JudgeRequest, Output
from llmeval_integrations.errors import InvalidOptionError
from llmeval_integrations.evaluator import Conversation, JudgedEvaluator
from llmeval_integrations.judges.fence import new_fence
from llmeval_integrations.judges.filling import as_text
from llmeval_integrations.judges.material import material
from llmeval_integrations.judges.prompt import Prompt
from llmeval_integrations.judges.rereading import read_reply
from llmeval_integrations.judges.thinking import without_thinking
from llmeval_integrations.options import check_choice, check_number, number_of
from llmeval_integrations.result import Result
from llmeval_integrations.sample import Sample
from llmeval_integrations.wording import shown


@dataclass(frozen=True)
class Judge(JudgedEvaluator):
    """What does a model answer to a prompt of your own, in a type of your own?

    Score: the field or the function `score` of the answer; without one the result carries the
    answer and no score. Passed: whether the score is at least `threshold`. Metadata: `answer`.
    """

    client: Any
    """The model: whatever `load_client` takes."""

    prompt: Any
    """A Prompt, or what one is made of. It may name `output`, `input`, `reference`, `contexts`,
    the sample's variables, and `fence`, the mark that stands around the output."""

    result_type: Any = str
    """The type of the answer: str for the raw text, or a pydantic model's class."""

    score: str | Callable[[Any], float] | None = None
    """The score: a field's name, or a function of the answer that gives a number or True/False."""

    threshold: float | None = None
    """The lowest score that passes; None leaves `passed` to scores that are True or False."""

    output: Output = "auto"
    """How the form of the reply is asked for."""

    retries: int = 1
    """How often the model is told that its reply was unreadable and asked again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", load_client(self.client))
        object.__setattr__(self, "prompt", Prompt.of(self.prompt))
        check_type(self.result_type)
        check_number(self, "threshold", optional=True)
        check_choice(self, "output", OUTPUTS)
        check_number(self, "retries", minimum=0, whole=True)
        if isinstance(self.score, str):
            fields = getattr(self.result_type, "model_fields", {})
            if self.score not in fields:
                raise InvalidOptionError(
                    f"{self.name}: score={self.score!r} is no field of the answer; "
                    f"it has {', '.join(fields) or 'none'}"
                )
        elif self.score is not None and not callable(self.score):
            raise InvalidOptionError(
                f"{self.name}: score={shown(self.score)} is not a field's name or a function"
            )

    def judge(self, sample: Sample) -> Conversation:
        fence = new_fence()
        request = JudgeRequest(
            tuple(self.prompt.render(material(sample, fence))),
            schema_of(self.result_type),
            name_of(self.result_type),
            self.output,
            fence=fence,
        )

        quoted = as_text(sample.output, "output")

        def read(reply: JudgeReply) -> Any:
            if self.result_type is str:
                return reply.text
            return read_answer(self.result_type, without_thinking(reply.text, quoted))

        return self._result((yield from read_reply(request, read, self.retries)))

    def _result(self, answer: Any) -> Result:
        plain = answer if isinstance(answer, str) else answer.model_dump(mode="json")
        metadata = {"answer": plain}
        if self.score is None:
            reason = answer if isinstance(answer, str) else "the answer is asked for no score"
            return Result(None, None, None, reason, metadata, answered=True)
        given = getattr(answer, self.score) if isinstance(self.score, str) else self.score(answer)
        figure = number_of(self, "score", given)
        passed = figure if isinstance(figure, bool) else None
        if self.threshold is not None:
            passed = figure >= self.threshold
        return Result(figure, passed, None, _reason(plain), metadata)


def _reason(plain: Any) -> str | None:
    """Give the text, or the field of an answer that says why."""
    if isinstance(plain, str):
        return plain
    found = (plain.get(name) for name in ("reasoning", "reason", "explanation"))
    return next((text for text in found if isinstance(text, str)), None)
