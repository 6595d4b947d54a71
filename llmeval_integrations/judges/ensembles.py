"""Judges that combine others: by majority, in a cascade, or as a weighted sum."""

from __future__ import annotations

from asyncio import gather
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_flag, check_instance, check_list, check_number
from llmeval_integrations.core.quote import free_name, quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.weighted_sum import WeightedSum
from llmeval_integrations.judges.evaluator import JudgedEvaluator, result_of, results_of
from llmeval_integrations.llm.session import Ask


def _check_list(judge: Any, option: str, kind: type, name: str) -> None:
    """Check an option that is a list of evaluators; raises InvalidOptionError."""
    check_list(judge, option, f"a list of {name}s")
    for each in getattr(judge, option):
        if not isinstance(each, kind):
            raise InvalidOptionError(f"{judge.name}: {quote(each)} is not a {name}")


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

    n: int = 5
    """How often it is asked."""

    temperature: float | None = 1.0
    """The sampling temperature of requests without one; at 0 all votes would be the same. None
    leaves it to the client."""

    def __post_init__(self) -> None:
        check_instance(self, "of", JudgedEvaluator)
        check_number(self, "n", minimum=1, whole=True)
        check_number(self, "temperature", minimum=0, maximum=2, optional=True)
        self.__dict__.update(needs=self.of.needs, lower_is_better=self.of.lower_is_better)

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        asks = [ask.draw(number, self.temperature) for number in range(self.n)]
        return majority(await gather(*(self.of.result(sample, each) for each in asks)))


@dataclass(frozen=True)
class Panel(JudgedEvaluator):
    """What do most of several judges say?

    Score, label, passed and metadata are those of a Vote.
    """

    judges: Sequence[JudgedEvaluator]
    """The judges, perhaps with different models; equal labels must mean the same. In YAML: a
    list of names with options."""

    def __post_init__(self) -> None:
        _check_list(self, "judges", JudgedEvaluator, "judge")
        needs = dict.fromkeys(field for judge in self.judges for field in judge.needs)
        is_lower = all(judge.lower_is_better for judge in self.judges)
        self.__dict__.update(needs=tuple(needs), lower_is_better=is_lower)

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        return majority(await results_of(self.judges, sample, ask))


def majority(results: Sequence[Result]) -> Result:
    """Return the result of the majority; an unscored vote counts as missing."""
    sides = [_side(result) for result in results]
    split = Counter(side for side in sides if side is not None)
    counts = [*split.most_common(2), ("", 0), ("", 0)]
    missing = sides.count(None)
    lead = counts[0][1] - counts[1][1]
    if missing:
        split["unscored"] = missing
    said = ", ".join(f"{label} {count}" for label, count in split.most_common())
    unscored = dict.fromkeys(str(each.label) for each, side in zip(results, sides) if side is None)
    said += f" ({', '.join(unscored)})" if missing else ""
    metadata = {"split": dict(split.most_common()), "votes": [entry(result) for result in results]}
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
    """Return a result as an entry in the metadata of the combined result."""
    return {"score": result.score, "label": result.label, "reason": result.reason}


def _side(result: Result) -> str | None:
    """Return the label of a result, else whether it passed, else its score."""
    if result.is_unscored:
        return None
    said = (result.label, result.passed, result.score)
    return next((str(each) for each in said if each is not None), None)


@dataclass(frozen=True)
class Cascade(JudgedEvaluator):
    """What does the first of several evaluators with a clear result say?

    Cheap evaluators come first. The next one is asked only if the result is unscored or, with
    `doubt`, has a low confidence. Metadata: `asked`, the evaluators in order; the last one decided.
    The summary of a run has `asked`, too: how often each evaluator was asked.

    Example:
        >>> from llmeval_integrations import ExactMatch
        >>> from llmeval_integrations.judges import Correctness
        >>> Cascade([ExactMatch(), Correctness("openai:gpt-5-mini")])  # doctest: +SKIP
    """

    evaluators: Sequence[Evaluator]
    """The evaluators, the cheapest first. In YAML: a list of names with options."""

    doubt: bool = True
    """Whether the next evaluator is asked after a result of low confidence, too."""

    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        _check_list(self, "evaluators", Evaluator, "evaluator")
        check_flag(self, "doubt")
        names: list[str] = []
        for each in self.evaluators:
            names.append(free_name(each.name, names))
        is_lower = all(each.lower_is_better for each in self.evaluators)
        self.__dict__.update(_names=names, needs=self.evaluators[0].needs, lower_is_better=is_lower)

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        names: list[str] = self.__dict__["_names"]
        for number, each in enumerate(self.evaluators, 1):
            asked = names[:number]
            result = await result_of(each, sample, ask)
            is_low = str(result.metadata.get("confidence")).casefold() == "low"
            if not (result.is_unscored or (self.doubt and is_low)):
                break
        return msgspec.structs.replace(result, metadata={**result.metadata, "asked": asked})

    def breakdown(self) -> _Account:
        return _Account()


class _Account:
    """Counts how often each evaluator of a cascade was asked."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def add(self, sample: Any, metadata: Mapping[str, Any], /) -> None:  # noqa: ARG002
        """Count one result in."""
        self._asked.update(metadata.get("asked", ()))

    def summary(self) -> dict[str, Any]:
        """Return how often each was asked."""
        return {"asked": dict(self._asked)}


class JudgedSum(WeightedSum, JudgedEvaluator):
    """A WeightedSum with at least one judge among its parts."""

    name = "weighted_sum"
    check = JudgedEvaluator.check
    check_many = JudgedEvaluator.check_many

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        return self.combine(await results_of([part for part, _ in self.pairs()], sample, ask))
