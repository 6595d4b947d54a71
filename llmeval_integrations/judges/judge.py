"""A judge with a prompt, an answer type and a score of your own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llmeval_integrations.core.options import as_number, check_number, option_error
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.exchange import ModelJudge
from llmeval_integrations.judges.prompts.material import material
from llmeval_integrations.judges.replies.forms import AnswerForm
from llmeval_integrations.judges.replies.reader import reasons_of
from llmeval_integrations.llm.answers import check_type
from llmeval_integrations.llm.session import Ask


@dataclass(frozen=True)
class Judge(ModelJudge):
    """What does a model answer to your own prompt, in your own type?

    Score: the field or the function `score` of the answer. Without one, the result has the answer
    and no score. Passed: whether the score is at least `threshold`. Metadata: `answer`.
    """

    model: Any
    """The model: whatever `load_client` accepts."""

    prompt: Any
    """A Prompt, or the text or messages to make one of. It may name `output`, `input`, `reference`,
    `contexts`, the sample's variables, and `fence`, the mark around the output."""

    result_type: Any = str
    """The type of the answer: str for the raw text, or a pydantic model's class."""

    score: str | Callable[[Any], float] | None = None
    """A field's name, or a function from the answer to a number or True/False. The result is
    unscored, with the label `no_score`, if the function raises or the number is not finite."""

    threshold: float | None = None
    """The lowest score that passes. With None, only scores that are True or False pass or fail."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_prompt(self.prompt)
        check_type(self.result_type)
        check_number(self, "threshold", optional=True)
        names = getattr(self.result_type, "model_fields", {})
        if not (self.score is None or self.score in names or callable(self.score)):
            known = ", ".join(map(repr, names)) or "no field"
            raise option_error(self, "score", f"a function, or a field of the answer ({known})")

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        form = AnswerForm(self.result_type, repeats=self.score is None)
        answer = await self.exchange(ask, self.prompt, form, material(sample))
        plain = answer if isinstance(answer, str) else answer.model_dump(mode="json")
        metadata = {"answer": plain}
        if self.score is None:
            reason = answer if isinstance(answer, str) else "the judge has no score"
            return Result(None, None, None, reason, metadata, answered=True)
        try:
            score: Any = self.score
            given = getattr(answer, score) if isinstance(score, str) else score(answer)
            figure = as_number(self, "score", given)
        except Exception as error:  # noqa: BLE001 - a function of the caller's
            reason = f"no score for the answer {quote(answer)}: {type(error).__name__}: {error}"
            return Result.unscored(reason, label="no_score", **metadata)
        passed = figure if isinstance(figure, bool) else None
        if self.threshold is not None:
            passed = figure >= self.threshold
        reason = reasons_of(plain) if isinstance(plain, dict) else str(plain)
        return Result(float(figure), passed, None, reason or None, metadata)
