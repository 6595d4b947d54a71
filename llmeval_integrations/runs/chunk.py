"""Evaluates a chunk of rows. A bad row spoils no other row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from typing import Any, Final

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_evaluator import share
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.data.source import Record, parse_records
from llmeval_integrations.runs.engine import Answers, Job
from llmeval_integrations.runs.judges import ChargedError, Judging
from llmeval_integrations.runs.rows import Row, fields_of, is_failing, write_value

OWN: Final = "evaluators"
"""The key of a stored sample for the fields of evaluators with columns of their own."""

_MAX_SCORE: Final = 1e130
"""The square of a larger score has no sum; NaN and infinity are not scores."""

_LONGEST_ERROR: Final = 2_000


class LocalEngine:
    """Evaluates in this process."""

    def __init__(self, job: Job, judging: Judging | None) -> None:
        self._job = job
        self._judging = judging
        self.ahead = 0 if judging is None else judging.ahead

    def start(self, records: Sequence[Record]) -> Callable[[], Answers]:
        """Start to evaluate a chunk."""
        return start_chunk(self._job, records, self._judging)

    def close(self) -> None:
        """Do nothing."""


class Samples:
    """The rows of a chunk as samples, for all evaluators with the same columns."""

    def __init__(self, columns: Columns, records: Sequence[Record]) -> None:
        self._columns = columns
        self._records = records
        self._made = [columns.sample(row, number) for number, row in records]
        self.about = [
            (made.id, None if made.group is MISSING else made.group)
            if type(made) is Sample
            else (columns.id(row, number), None)
            for made, (number, row) in zip(self._made, records, strict=True)
        ]
        """The id and the group of each row."""
        self.samples = [each for each in self._made if type(each) is Sample]
        """The samples of the rows that have one."""

    def stored(self, place: int) -> Sample | dict[str, Any]:
        """Return what is kept of a row: its sample, or only its id if there is no sample."""
        made = self._made[place]
        return made if type(made) is Sample else {"id": self.about[place][0]}

    def fit(self, evaluator: Evaluator, name: str) -> list[Sample | Exception]:
        """Return the sample of each row that the evaluator can evaluate, otherwise an error."""
        found: list[Any] = self._made
        for field in evaluator.needs:
            get = attrgetter(field)
            if type(MISSING) in map(type, map(get, self.samples)):
                found = [
                    self._columns.make_field_error(row, field, name)
                    if type(made) is Sample and get(made) is MISSING
                    else made
                    for made, (_, row) in zip(found, self._records, strict=True)
                ]
        return found


def samples_of(columns: Mapping[str, Columns], records: Sequence[Record]) -> dict[str, Samples]:
    """Return the samples of each evaluator. Evaluators with the same columns share them."""
    records = [*parse_records(records)]
    made = {own: Samples(own, records) for own in dict.fromkeys(columns.values())}
    return {name: made[own] for name, own in columns.items()}


def start_chunk(
    job: Job, records: Sequence[Record], judging: Judging | None = None
) -> Callable[[], Answers]:
    """Start to evaluate a chunk. The function that is returned waits for the judges.

    A row is an error row if it cannot be read, if it lacks a field that the evaluator needs, or if
    the evaluator raises an error.
    """
    samples = samples_of(job.columns, records)
    if len(job.evaluators) > 1:
        for each in set(samples.values()):
            share(each.samples)
    waits = [
        _start_evaluator(name, evaluator, samples[name], judging)
        for name, evaluator in job.evaluators.items()
    ]

    def finish() -> Answers:
        rows = [*chain.from_iterable(zip(*(wait() for wait in waits), strict=True))]
        return Answers(rows, write_samples(job, samples, rows))

    return finish


def write_samples(
    job: Job, samples: Mapping[str, Samples], rows: Sequence[Row]
) -> list[tuple[int, bytes]]:
    """Write the samples of a chunk that are kept, each with its place in the chunk.

    A sample has the fields that the first evaluator saw. Under "evaluators" it has those of other
    evaluators with columns of their own. A line begins with the place of the sample in the run,
    which is added when the line is written.
    """
    first = next(iter(samples.values()))
    others = {name: each for name, each in samples.items() if each is not first}
    width = len(samples)
    places: Iterable[int] = ()
    if job.keep == "all":
        places = range(len(rows) // width)
    elif job.keep == "failing":
        failing = [n // width for n, row in enumerate(rows) if not row.passed and is_failing(row)]
        places = dict.fromkeys(failing)
    lines = []
    for place in places:
        stored: Any = first.stored(place)
        if others:
            own = {name: each.stored(place) for name, each in others.items()}
            stored = {**fields_of(stored), OWN: own}
        lines.append((place, write_value(stored)[1:] + b"\n"))
    return lines


def _start_evaluator(
    name: str, evaluator: Evaluator, samples: Samples, judging: Judging | None
) -> Callable[[], list[Row]]:
    """Start to ask a judge, or evaluate the samples at once with another evaluator."""
    given = samples.fit(evaluator, name)
    fit = [each for each in given if type(each) is Sample]
    if judging is not None and evaluator.is_judge:
        wait = judging.start(evaluator, fit)
    else:
        results = _evaluate(evaluator, fit)
        wait = lambda: results  # noqa: E731 - as of a judge

    def rows() -> list[Row]:
        found: Any = wait()
        if len(fit) < len(given):
            rest = iter(found)
            found = [next(rest) if type(each) is Sample else each for each in given]
        return _rows(name, samples.about, found)

    return rows


def _evaluate(evaluator: Evaluator, samples: list[Sample]) -> list[Result | Exception]:
    """Evaluate all samples at once, or one by one if one of them raises an error."""
    results: list[Result | Exception]
    with suppress(Exception):  # one by one it is raised again, and kept
        results = [*evaluator.check_many(samples)]
        if len(results) == len(samples):
            return results
    results = []
    for sample in samples:
        try:
            results.append(evaluator.evaluate(sample))
        except Exception as error:  # noqa: BLE001 - it becomes the error of the row
            results.append(error)
    return results


def _rows(name: str, about: list[tuple[Any, Any]], results: list[Any]) -> list[Row]:
    rows = []
    for (sample_id, group), result in zip(about, results, strict=True):
        # Most results have the right types. Without this, a run's own time is a third longer.
        if (
            type(result) is Result
            and type(score := result.score) is float
            and -_MAX_SCORE <= score <= _MAX_SCORE
            and (type(passed := result.passed) is bool or passed is None)
            and (type(label := result.label) is str or label is None)
            and (type(reason := result.reason) is str or reason is None)
            and type(metadata := result.metadata) is dict
        ):
            row = Row(sample_id, name, score, passed, label, reason, metadata, False, None, group)
        else:
            row = _row(sample_id, name, result, group)
        rows.append(row)
    return rows


def _row(sample_id: Any, name: str, result: object, group: Any) -> Row:
    """Return the row of any result, or of an error."""
    metadata: dict[str, Any] = {}
    if isinstance(result, ChargedError):
        metadata, result = {"judge": result.account}, result.error
    if isinstance(result, Result):
        try:
            return _row_of_result(sample_id, name, result, group)
        except Exception as error:  # noqa: BLE001 - the caller's values may raise anything
            result = error
    if not isinstance(result, Exception):
        result = TypeError(f"expected a Result, got {quote(result)}")
    text = f"{type(result).__name__}: {result}"[:_LONGEST_ERROR]
    return Row(sample_id, name, None, None, None, None, metadata, False, text, group)


def _row_of_result(sample_id: Any, name: str, result: Result, group: Any) -> Row:
    """Return a row with the values in the types of a row."""
    score = None if result.score is None else float(result.score)
    if score is not None and not -_MAX_SCORE <= score <= _MAX_SCORE:
        raise ValueError(f"the score {quote(result.score)} is not a finite number")
    unscored = result.is_unscored
    passed = None if result.passed is None or unscored else bool(result.passed)
    said = passed, _text(result.label), _text(result.reason), dict(result.metadata or {})
    return Row(sample_id, name, score, *said, unscored, None, group)


def _text(thing: object) -> str | None:
    """Return a label or reason as text; of an Enum that is a text, its value."""
    if thing is None:
        return None
    return str.__str__(thing) if isinstance(thing, str) else str(thing)
