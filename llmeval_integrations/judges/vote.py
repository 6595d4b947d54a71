"""Several judgements of the same output as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.options import check_instance, check_number, option_error
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.evaluator import JudgedEvaluator

if TYPE_CHECKING:
    from llmeval_integrations.llm.session import Ask


@dataclass(frozen=True)
class Vote(JudgedEvaluator):
    """What does a judge say most often, asked several times?

    Score, label and passed are those of the majority; the score is the mean over its votes. They
    are told apart by their label; without one by whether they passed, else by their score.
    Metadata: `split`, how many votes each label has, and `votes`, each with score, label and
    reason. Unscored where two labels lead, or the votes that are missing could change the lead.
    """

    of: JudgedEvaluator
    """The judge; in YAML its name with its options: `of: {faithfulness: {model: ...}}`."""

    n: int = 5
    """How often it is asked."""

    temperature: float | None = 1.0
    """The sampling temperature of requests that name none; at 0 all votes would be the same one.
    None leaves it to the client."""

    def __post_init__(self) -> None:
        check_instance(self, "of", JudgedEvaluator)
        check_number(self, "n", minimum=1, whole=True)
        check_number(self, "temperature", minimum=0, maximum=2, optional=True)
        self.__dict__.update(needs=self.of.needs, lower_is_better=self.of.lower_is_better)

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        from asyncio import gather

        asks = [ask.draw(number, self.temperature) for number in range(self.n)]
        return majority(await gather(*(self.of.result(sample, each) for each in asks)))


@dataclass(frozen=True)
class Panel(JudgedEvaluator):
    """What do most of several judges say?

    Score, label, passed and metadata are those of a Vote.
    """

    judges: Sequence[JudgedEvaluator]
    """The judges, perhaps with different models; their labels have to mean the same. In YAML a list
    of names with options."""

    def __post_init__(self) -> None:
        judges = self.judges
        if not isinstance(judges, Sequence) or not judges:
            raise option_error(self, "judges", "a list of judges")
        for judge in judges:
            if not isinstance(judge, JudgedEvaluator):
                raise InvalidOptionError(f"{self.name}: {quote(judge)} is not a judge")
        needs = dict.fromkeys(field for judge in judges for field in judge.needs)
        is_lower = all(judge.lower_is_better for judge in judges)
        self.__dict__.update(judges=tuple(judges), needs=tuple(needs), lower_is_better=is_lower)

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        from asyncio import gather

        return majority(await gather(*(judge.result(sample, ask) for judge in self.judges)))


def majority(results: Sequence[Result]) -> Result:
    """Return what most results say; a vote that says nothing of its own is missing."""
    sides = [_side(result) for result in results]
    split = Counter(side for side in sides if side is not None)
    counts = [*split.most_common(2), ("", 0), ("", 0)]
    missing = sides.count(None)
    lead = counts[0][1] - counts[1][1]
    if missing:
        split["(unscored)" if "unscored" in split else "unscored"] = missing
    said = ", ".join(f"{label} {count}" for label, count in split.most_common())
    unscored = dict.fromkeys(str(each.label) for each, side in zip(results, sides) if side is None)
    said += f" ({', '.join(unscored)})" if missing else ""
    metadata = {"split": dict(split), "votes": [entry(result) for result in results]}
    if lead <= missing:
        state = "tied" if lead == 0 and not missing else "undecided"
        return Result(None, None, state, f"The votes are {state}: {said}", metadata)
    winners = [result for result, side in zip(results, sides) if side == counts[0][0]]
    scores = [float(result.score) for result in winners if result.score is not None]
    first = winners[0]
    reason = f"{said}; the first of them: {first.reason}"
    score = fmean(scores) if scores else None
    return Result(score, first.passed, first.label, reason, metadata, answered=not scores)


def entry(result: Result) -> dict[str, Any]:
    """Return a result as it stands in the metadata of the one that is made of it."""
    return {"score": result.score, "label": result.label, "reason": result.reason}


def _side(result: Result) -> str | None:
    """Return what a result says: its label, else whether it passed, else its score."""
    if result.is_unscored:
        return None
    said = (result.label, result.passed, result.score)
    return next((str(each) for each in said if each is not None), None)
