"""Judges that combine others: by majority, in a cascade, as a sum, or over several questions."""

from __future__ import annotations

from asyncio import gather
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import Count, ZeroToOne, check_instance, check_list
from llmeval_integrations.core.quote import free_name, quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.weighted_sum import WeightedSum
from llmeval_integrations.judges.evaluator import JudgedEvaluator, ModelJudge, result_of, results_of
from llmeval_integrations.judges.forms import JudgementsForm
from llmeval_integrations.judges.material import (
    MANY_JUDGEMENTS,
    MATERIAL,
    SYSTEM,
    background,
    make_prompt,
)
from llmeval_integrations.judges.pass_fail import PassFail, ScoreTable, as_result
from llmeval_integrations.llm.session import Ask
from llmeval_integrations.stats.agreement import pair_agreement
from llmeval_integrations.stats.intervals import wilson


@dataclass(frozen=True)
class Vote(JudgedEvaluator):
    """What does a judge say most often, asked several times?

    Score: the mean over the majority's votes. Label and passed: those of the majority. Votes agree
    if they have the same label, or without labels the same `passed`, else the same score.
    Metadata: `split`, the number of votes for each label, and `votes`, each with score, label and
    reason. The result is unscored if two labels lead, or missing votes could change the lead.
    """

    of: JudgedEvaluator
    """The judge. In YAML: `of: {faithfulness: {model: ...}}`."""

    n: Count = 5
    """How often it is asked."""

    temperature: Annotated[float, Meta(ge=0, le=2)] | None = 1.0
    """The sampling temperature of requests without one; at 0 all votes would be the same. None
    leaves it to the client."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_instance(self, "of", JudgedEvaluator)
        _take_needs(self, [self.of])

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        asks = [ask.draw(number, self.temperature) for number in range(self.n)]
        return majority(await gather(*(self.of.result(sample, each) for each in asks)))


@dataclass(frozen=True)
class Panel(JudgedEvaluator):
    """What do most of several judges say?

    Score, label, passed and metadata are those of a Vote.
    """

    judges: Sequence[JudgedEvaluator] = field(hash=False)
    """The judges, perhaps with different models; equal labels must mean the same. In YAML: a
    list of names with options."""

    def __post_init__(self) -> None:
        _check_list(self, "judges", JudgedEvaluator, "judge")
        _take_needs(self, self.judges)

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        return majority(await results_of(self.judges, sample, ask))


def majority(results: Sequence[Result]) -> Result:
    """Return the result of the majority; an unscored vote counts as missing."""
    sides = [_side(result) for result in results]
    split = Counter(side for side in sides if side is not None)
    (leader, most), (_, second) = [*split.most_common(2), ("", 0), ("", 0)][:2]
    missing = [result for result, side in zip(results, sides) if side is None]
    if missing:
        split["unscored"] = len(missing)
    said = ", ".join(f"{label} {count}" for label, count in split.most_common())
    said += f" ({', '.join(dict.fromkeys(str(each.label) for each in missing))})" if missing else ""
    metadata = {"split": dict(split.most_common()), "votes": [entry(result) for result in results]}
    if most - second <= len(missing):
        state = "undecided" if missing else "tied"
        return Result(None, None, state, f"The votes are {state}: {said}", metadata)
    winners = [result for result, side in zip(results, sides) if side == leader]
    scores = [float(result.score) for result in winners if result.score is not None]
    score, first = fmean(scores) if scores else None, winners[0]
    reason = f"{said}; the first of them: {first.reason}"
    return Result(score, first.passed, first.label, reason, metadata, answered=not scores)


def _side(result: Result) -> str | None:
    """Return the label of a result, else whether it passed, else its score."""
    said = () if result.is_unscored else (result.label, result.passed, result.score)
    return next((str(each) for each in said if each is not None), None)


def entry(result: Result) -> dict[str, Any]:
    """Return a result as an entry in the metadata of the combined result."""
    return {"score": result.score, "label": result.label, "reason": result.reason}


@dataclass(frozen=True)
class Cascade(JudgedEvaluator):
    """What does the first of several evaluators with a clear result say?

    Cheap evaluators come first. The next one is asked only if the result is unscored or has
    a low confidence. Metadata: `asked`, the evaluators in order; the last one decided.
    The summary of a run has `asked`, too: how often each evaluator was asked.

    Example:
        >>> from llmeval_integrations import ExactMatch
        >>> from llmeval_integrations.judges import Correctness
        >>> Cascade([ExactMatch(), Correctness("openai:gpt-5-mini")])  # doctest: +SKIP
    """

    evaluators: Sequence[Evaluator] = field(hash=False)
    """The evaluators, the cheapest first. In YAML: a list of names with options."""

    def __post_init__(self) -> None:
        _check_list(self, "evaluators", Evaluator, "evaluator")
        _take_needs(self, self.evaluators)
        self.__dict__["needs"] = self.evaluators[0].needs  # the others may not be asked

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        asked: list[str] = []
        for each in self.evaluators:
            asked.append(free_name(each.name, asked))
            result = await result_of(each, sample, ask)
            is_low = str(result.metadata.get("confidence")).casefold() == "low"
            if not (result.is_unscored or is_low):
                break
        return msgspec.structs.replace(result, metadata={**result.metadata, "asked": asked})

    def breakdown(self) -> _Asked:
        return _Asked()


class _Asked(Counter[str]):
    """Counts how often each evaluator of a cascade was asked."""

    def add(self, sample: Any, metadata: Mapping[str, Any], /) -> None:  # noqa: ARG002
        self.update(metadata.get("asked", ()))

    def summary(self) -> dict[str, Any]:
        return {"asked": dict(self)}


def _check_list(judge: Any, option: str, kind: type, name: str) -> None:
    """Check an option that is a list of evaluators; raises InvalidOptionError."""
    check_list(judge, option, f"a list of {name}s")
    for each in getattr(judge, option):
        if not isinstance(each, kind):
            raise InvalidOptionError(f"{judge.name}: {quote(each)} is not a {name}")


def _take_needs(judge: JudgedEvaluator, parts: Sequence[Evaluator]) -> None:
    """Give a judge the needs of its parts, and their direction."""
    needs = dict.fromkeys(field for part in parts for field in part.needs)
    is_lower = all(part.lower_is_better for part in parts)
    judge.__dict__.update(needs=tuple(needs), lower_is_better=is_lower)


class JudgedSum(WeightedSum, JudgedEvaluator):
    """A WeightedSum with at least one judge among its parts."""

    name = "weighted_sum"
    check = JudgedEvaluator.check
    check_many = JudgedEvaluator.check_many

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        return self.combine(await results_of([part for part, _ in self.pairs()], sample, ask))


_PROMPT: Final = make_prompt(SYSTEM, MATERIAL + "Questions:\n{{questions}}\n\n" + MANY_JUDGEMENTS)


@dataclass(frozen=True)
class Questionnaire(ModelJudge):
    """How many of several questions about the output does a judge answer with Pass?

    Score: the mean score of the answers, 0 to 1. Passed: whether at least `threshold` of the
    questions pass. Metadata: `pass_rate` with its 95 % `interval` (Wilson's); `agreement`, the
    share of pairs of answers with the same verdict; `asked` and `answered`, the numbers of
    questions; `questions`, each with its score, label and reason. If a question is unscored, so is
    the result.
    """

    model: Any
    """The model: whatever `load_client` accepts."""

    questions: Sequence[str] = field(hash=False)
    """The questions, each answered with Pass or Fail: variations of one, or several criteria."""

    role: str | None = None
    """The writer's role, as background."""

    instruction: str | None = None
    """The writer's task, as background; None uses the sample's input."""

    calls: Literal["each", "one"] = "each"
    """Whether each question has its own call, or all share one. One call costs less, but its
    answers may influence each other."""

    threshold: ZeroToOne = 0.5
    """The share of questions that must pass, 0 to 1."""

    scores: ScoreTable = field(default_factory=ScoreTable)
    """The score of each verdict at each confidence."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_list(self, "questions", "a list of questions")
        given = (self.role, self.instruction, self.scores)
        self.__dict__["_judges"] = [
            PassFail(self.model, question, *given, retries=self.retries)
            for question in self.questions
        ]

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        if self.calls == "each":
            return self._combine(await results_of(self.__dict__["_judges"], sample, ask))
        questions = "\n".join(f"{n}. {question}" for n, question in enumerate(self.questions, 1))
        values = background(sample, self.instruction, self.role, questions=questions)
        form = JudgementsForm(len(self.questions))
        judgements = await self.exchange(ask, _PROMPT, form, values)
        return self._combine([as_result(each, self.scores) for each in judgements])

    def _combine(self, results: Sequence[Result]) -> Result:
        """Combine the answers into one result."""
        pairs = [*zip(self.questions, results)]
        answers = [result for result in results if result.scored]
        verdicts = [result.passed for result in answers]
        passes, asked, answered = verdicts.count(True), len(results), len(answers)
        rate = passes / answered if answered else None
        metadata = {
            "pass_rate": rate,
            "interval": wilson(passes, answered),
            "agreement": pair_agreement([verdicts]).rate,
            "asked": asked,
            "answered": answered,
            "questions": [{"question": question, **entry(result)} for question, result in pairs],
        }
        if rate is None or answered < asked:
            first = next(result for result in results if not result.scored)
            reason = f"{asked - answered} of {asked} questions have no answer; {first.reason}"
            return Result(None, None, "unanswered", reason, metadata)
        score = fmean(float(result.score or 0) for result in answers)
        passed = rate >= self.threshold  # a product would be rounded
        failed = [f"{question} - {each.reason}" for question, each in pairs if not each.passed]
        reason = "; ".join([f"{passes} of {answered} questions pass", *failed])
        return Result(score, passed, "Pass" if passed else "Fail", reason, metadata)
