"""Several questions about one output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final, Literal

from llmeval_integrations.core.options import check_choice, check_list, check_number
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.ensembles import entry
from llmeval_integrations.judges.evaluator import results_of
from llmeval_integrations.judges.exchange import ModelJudge
from llmeval_integrations.judges.pass_fail import PassFail, ScoreTable, as_result
from llmeval_integrations.judges.prompts.material import (
    MANY_JUDGEMENTS,
    MATERIAL,
    SYSTEM,
    background,
)
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.judges.replies.forms import JudgementsForm
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.session import Ask
from llmeval_integrations.stats.agreement import pair_agreement
from llmeval_integrations.stats.intervals import wilson

_PROMPT: Final = Prompt(
    [
        Message("system", SYSTEM),
        Message("user", MATERIAL + "Questions:\n{{questions}}\n\n" + MANY_JUDGEMENTS),
    ]
)


@dataclass(frozen=True)
class Questionnaire(ModelJudge):
    """How many of several questions about the output does a judge answer with Pass?

    Score: the mean score of the answers, 0 to 1. Passed: whether at least `threshold` of the
    questions pass. Metadata: `pass_rate` with its 95 % `interval` (Wilson's); `agreement`, the
    share of pairs of answers with the same verdict; `questions`, each with its score, label and
    reason. If a question is unscored, so is the result.
    """

    model: Any
    """The model: whatever `load_client` accepts."""

    questions: Sequence[str]
    """The questions, each answered with Pass or Fail: variations of one, or several criteria."""

    role: str | None = None
    """The writer's role, as background."""

    instruction: str | None = None
    """The writer's task, as background; None uses the sample's input."""

    calls: Literal["each", "one"] = "each"
    """Whether each question has its own call, or all share one. One call costs less, but its
    answers may influence each other."""

    threshold: float = 0.5
    """The share of questions that must pass, 0 to 1."""

    scores: ScoreTable = field(default_factory=ScoreTable)
    """The score of each verdict at each confidence."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_list(self, "questions", "a list of questions")
        check_choice(self, "calls", ("each", "one"))
        check_number(self, "threshold", minimum=0, maximum=1)
        for question in self.questions:
            self._judge_of(question)  # the constructor checks the question and the other options

    def _judge_of(self, question: str) -> PassFail:
        return PassFail(
            self.model,
            question,
            self.role,
            self.instruction,
            self.scores,
            output=self.output,
            retries=self.retries,
        )

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        if self.calls == "one":
            return self._combine(await self._judge_at_once(sample, ask))
        judges = [*map(self._judge_of, self.questions)]
        return self._combine(await results_of(judges, sample, ask))

    async def _judge_at_once(self, sample: Sample, ask: Ask) -> list[Result]:
        numbered = [f"{number}. {question}" for number, question in enumerate(self.questions, 1)]
        questions = "\n".join(numbered)
        values = background(sample, self.instruction, self.role, questions=questions)
        judgements = await self.exchange(ask, _PROMPT, JudgementsForm(len(numbered)), values)
        return [as_result(each, self.scores) for each in judgements]

    def _combine(self, results: Sequence[Result]) -> Result:
        """Combine the answers into one result."""
        answers = [result for result in results if result.scored]
        asked, answered = len(results), len(answers)
        passes = sum(result.passed is True for result in answers)
        metadata = {
            "pass_rate": passes / answered if answered else None,
            "interval": wilson(passes, answered),
            "agreement": pair_agreement([[result.passed for result in answers]]).rate,
            "asked": asked,
            "answered": answered,
            "questions": [
                {"question": question, **entry(result)}
                for question, result in zip(self.questions, results)
            ],
        }
        if answered < asked:
            first = next(result for result in results if not result.scored)
            reason = f"{asked - answered} of {asked} questions have no answer; {first.reason}"
            return Result(None, None, "unanswered", reason, metadata)
        score = fmean(float(result.score or 0) for result in answers)
        passed = passes / answered >= self.threshold  # a product would be rounded
        failed = [
            f"{question} - {result.reason}"
            for question, result in zip(self.questions, results, strict=True)
            if result.passed is False
        ]
        reason = "; ".join([f"{passes} of {answered} questions pass", *failed])
        return Result(score, passed, "Pass" if passed else "Fail", reason, metadata)
