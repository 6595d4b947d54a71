"""Evaluating a chunk of rows, so that one bad row spoils no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.parsed import share
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.judging import Charged, Judging
from llmeval_integrations.runs.reading.source import Record, Source
from llmeval_integrations.runs.rows import Column, Row
from llmeval_integrations.runs.samples import Samples, samples_of

MAX_SCORE: Final = 1e300
"""The largest score that a mean is taken over; NaN and infinity are not scores at all."""

_LONGEST_ERROR: Final = 2_000


class Pending(msgspec.Struct, frozen=True):
    """One evaluator's rows for a chunk, whose answers may still be under way."""

    name: str
    samples: Samples
    source: Source
    unfit: Mapping[int, Exception]
    """The samples that the evaluator cannot look at, by position."""
    answers: Callable[[], list[Result | Exception]]
    """Waits for the answers about the others."""

    def column(self) -> Column:
        """Wait for the rows, which are in the order of the chunk."""
        rows: list[Row] = []
        scores: list[float] = []
        others: list[int] = []
        name = self.name
        groups = self.samples.groups
        for place, (own, result) in enumerate(zip(self.samples.ids, self._answers())):
            # What most results are is seen at one glance; a row takes longer to look at again.
            if (
                type(result) is Result
                and result.passed is True
                and result.label is None
                and groups[place] is None
                and type(score := result.score) is float
                and -MAX_SCORE <= score <= MAX_SCORE
                and type(metadata := result.metadata) is dict
                and (type(reason := result.reason) is str or reason is None)
            ):
                rows.append(Row(own, name, score, True, None, reason, metadata, False, None))
                scores.append(score)
            else:
                row = self._row(place, result)
                row.group = groups[place]
                rows.append(row)
                others.append(place)
        return Column(rows, scores, others)

    def _answers(self) -> Iterable[object]:
        """Wait for what is said of each sample, also of those that the evaluator cannot look at."""
        answers, unfit = self.answers(), self.unfit
        if not unfit:
            return answers
        given = iter(answers)
        places = range(len(self.samples))
        return [unfit[place] if place in unfit else next(given) for place in places]

    def _row(self, position: int, result: object) -> Row:
        own = self.samples.ids[position]
        if isinstance(result, Result):
            return _row(own, self.name, result)
        place = self.source.place(self.samples.number(position))
        if isinstance(result, Charged):
            row = _error_row(own, self.name, result.error, place)
            row.metadata = {"judge": result.account}
            return row
        return _error_row(own, self.name, result, place)


def begin(
    evaluators: Mapping[str, Evaluator],
    columns: Mapping[str, Columns],
    chunk: Sequence[Record],
    source: Source,
    judging: Judging | None = None,
) -> list[Pending]:
    """Begin to evaluate a chunk with each evaluator; those that ask nobody are done at once.

    A row that cannot be read, lacks what the evaluator needs or makes it raise is an error row.
    """
    samples_by_name = samples_of({name: columns[name] for name in evaluators}, chunk)
    if len(evaluators) > 1:
        for samples in set(samples_by_name.values()):
            share(samples.readable())
    begun = []
    for name, evaluator in evaluators.items():
        samples = samples_by_name[name]
        unfit = samples.unfit(evaluator, name)
        answers = _begin(evaluator, samples.without(unfit), judging)
        begun.append(Pending(name, samples, source, unfit, answers))
    return begun


def _begin(
    evaluator: Evaluator, samples: list[Sample], judging: Judging | None
) -> Callable[[], list[Result | Exception]]:
    """Begin to ask a judge, or have another evaluator's results at once; gives what has them."""
    if judging is not None and isinstance(evaluator, JudgedEvaluator):
        return judging.begin(evaluator, samples)
    results = _evaluate(evaluator, samples) if samples else []
    return lambda: results


def _evaluate(evaluator: Evaluator, samples: list[Sample]) -> list[Result | Exception]:
    """Evaluate all samples at once, or one by one where one of them raises."""
    try:
        results: list[Result | Exception] = [*evaluator.evaluate_many(samples)]
    except Exception:  # noqa: BLE001 - one by one it is raised again, and kept
        results = []
    if len(results) == len(samples):
        return results
    return [_evaluate_one(evaluator, sample) for sample in samples]


def _evaluate_one(evaluator: Evaluator, sample: Sample) -> Result | Exception:
    try:
        return evaluator.evaluate(sample)
    except Exception as error:  # noqa: BLE001 - whatever it was, it becomes the row's error
        return error


def _row(id: Any, name: str, result: Result) -> Row:
    """Make a row of a result; a score that is not a finite number is an error."""
    score, passed, label, reason = result.score, result.passed, result.label, result.reason
    metadata = result.metadata
    if (
        type(metadata) is not dict
        or (passed is not True and passed is not False and passed is not None)
        or (label is not None and type(label) is not str)
        or (reason is not None and type(reason) is not str)
    ):
        try:
            passed, metadata = _verdict(passed), _details(metadata)
            label, reason = _text(label), _text(reason)
        except Exception as error:  # noqa: BLE001 - what is made to look like these may raise
            return _error_row(id, name, error)
    if score is None:
        unscored = result.is_unscored
        passed = None if unscored else passed
        return Row(id, name, None, passed, label, reason, metadata, unscored, None)
    if type(score) is not float or not -MAX_SCORE <= score <= MAX_SCORE:
        figure = _figure(score)
        if figure is None:
            return _error_row(
                id, name, ValueError(f"the score {quote(score)} is not a finite number")
            )
        score = figure
    return Row(id, name, score, passed, label, reason, metadata, False, None)


def _verdict(thing: object) -> bool | None:
    """Make a verdict of one of another type, as NumPy has."""
    return None if thing is None else bool(thing)


def _details(thing: object) -> dict[str, Any]:
    """Make metadata of another mapping, or of none."""
    if thing is None:
        return {}
    if isinstance(thing, Mapping):
        return dict(thing)
    raise TypeError(f"the metadata {quote(thing)} are not a mapping")


def _text(thing: object) -> str | None:
    """Make a text of a label or reason that is of another type, as a member of an Enum is."""
    if thing is None:
        return None
    return str.__str__(thing) if isinstance(thing, str) else str(thing)


def _error_row(id: Any, name: str, error: object, place: str = "") -> Row:
    """Make a row of what was raised, or of what somebody's evaluator gave instead of a result."""
    if not isinstance(error, Exception):
        error = TypeError(f"expected a Result, got {quote(error)}")
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - what an error says of itself may raise, too
        said = quote(error)
    message = f"{place}: {said}" if place else said
    text = f"{type(error).__name__}: {message}"[:_LONGEST_ERROR]
    return Row(id, name, None, None, None, None, {}, False, text)


def _figure(score: Any) -> float | None:
    """Return another library's number as Python's, None where it is none or not finite."""
    try:
        figure = float(score)
    except (TypeError, ValueError, OverflowError):
        return None
    return figure if -MAX_SCORE <= figure <= MAX_SCORE and not isinstance(score, str) else None
