"""A chunk of rows as samples, and what evaluators say about them: one bad row spoils no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.read import share
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.data.source import Record
from llmeval_integrations.runs.judging import Charged, Judging
from llmeval_integrations.runs.rows import Row, fields_of, is_failing, write_value

OWN: Final = "evaluators"
"""Under which a stored sample has what evaluators see that have columns of their own."""

_MAX_SCORE: Final = 1e130
"""The largest score whose square can be added up; NaN and infinity are not scores at all."""

_LONGEST_ERROR: Final = 2_000


class Samples:
    """What a chunk's rows are to evaluators that have the same columns."""

    def __init__(self, columns: Columns, records: Sequence[Record]) -> None:
        self._columns = columns
        self._records = records
        self._made = [columns.sample(row, number) for number, row in records]
        self._unreadable: dict[int, Exception] = {
            place: made for place, made in enumerate(self._made) if isinstance(made, InputError)
        }

    def share(self) -> None:
        """Have the evaluators share what they read of a sample."""
        share(self._without(self._unreadable))

    @cached_property
    def about(self) -> list[tuple[Any, Any]]:
        """Id and group of every row, of what is not a sample as well."""
        return [
            (made.id, None if made.group is MISSING else made.group)
            if type(made) is Sample
            else (self._columns.id(row, number), None)
            for made, (number, row) in zip(self._made, self._records, strict=True)
        ]

    def stored(self, place: int) -> Sample | dict[str, Any]:
        """Return what is kept of a row: the sample; of what is none, its id."""
        made = self._made[place]
        return made if type(made) is Sample else {"id": self.about[place][0]}

    def fields(self, place: int) -> dict[str, Any]:
        """Return the same by the names of fields."""
        stored = self.stored(place)
        return fields_of(stored) if isinstance(stored, Sample) else stored

    def fit(self, evaluator: Evaluator, name: str) -> tuple[list[Any], dict[int, Exception]]:
        """Return the samples that an evaluator can look at, and errors by place for the others."""
        unfit = {**self._unreadable}
        for field in evaluator.needs:
            get = attrgetter(field)
            for place, sample in enumerate(self._made):
                if place not in unfit and get(sample) is MISSING:
                    unfit[place] = self._columns.missing(self._records[place][1], field, name)
        return self._without(unfit), unfit

    def _without(self, unfit: Mapping[int, Exception]) -> list[Any]:
        if not unfit:
            return self._made
        return [made for place, made in enumerate(self._made) if place not in unfit]


class Pending:
    """The rows of one evaluator for a chunk, whose answers may still be under way."""

    def __init__(
        self, name: str, evaluator: Evaluator, samples: Samples, judging: Judging | None
    ) -> None:
        """Begin to ask a judge, or have another evaluator look at the samples at once."""
        self.name = name
        self.samples = samples
        fit, self._unfit = samples.fit(evaluator, name)
        self._wait: Callable[[], list[Result | Exception]]
        if judging is not None and isinstance(evaluator, JudgedEvaluator):
            self._wait = judging.begin(evaluator, fit)
        else:
            results = _evaluate(evaluator, fit) if fit else []
            self._wait = lambda: results

    def rows(self) -> list[Row]:
        """Wait for the rows, which are in the order of the chunk."""
        about, name = self.samples.about, self.name
        results: Iterable[Any] = self._wait()
        if self._unfit:
            rest = iter(results)
            results = [self._unfit.get(place) or next(rest) for place in range(len(about))]
        rows = []
        for (own, group), result in zip(about, results, strict=True):
            # Most results need no second look.
            if (
                type(result) is Result
                and type(score := result.score) is float
                and -_MAX_SCORE <= score <= _MAX_SCORE
                and (type(passed := result.passed) is bool or passed is None)
                and (type(label := result.label) is str or label is None)
                and (type(reason := result.reason) is str or reason is None)
                and type(metadata := result.metadata) is dict
            ):
                row = Row(own, name, score, passed, label, reason, metadata, False, None, group)
            else:
                row = _row(own, name, result, group)
            rows.append(row)
        return rows


def samples_of(columns: Mapping[str, Columns], records: Sequence[Record]) -> dict[str, Samples]:
    """Make the samples that each evaluator sees; those that have the same columns share them."""
    made = {own: Samples(own, records) for own in dict.fromkeys(columns.values())}
    return {name: made[own] for name, own in columns.items()}


def begin(
    evaluators: Mapping[str, Evaluator],
    columns: Mapping[str, Columns],
    records: Sequence[Record],
    judging: Judging | None = None,
) -> list[Pending]:
    """Begin to evaluate a chunk with each evaluator; those that ask nobody are done at once.

    A row that cannot be read, lacks what the evaluator needs or makes it raise is an error row.
    """
    samples = samples_of({name: columns[name] for name in evaluators}, records)
    if len(evaluators) > 1:
        for each in set(samples.values()):
            each.share()
    return [Pending(name, own, samples[name], judging) for name, own in evaluators.items()]


def by_sample(rows: Iterable[Iterable[Row]]) -> list[Row]:
    """Return rows sample by sample, each with one row of every evaluator."""
    return list(chain.from_iterable(zip(*rows, strict=True)))


def sample_lines(
    samples: Mapping[str, Samples], rows: Sequence[Sequence[Row]], *, all: bool = False
) -> list[tuple[int, bytes]]:
    """Write the samples with a row that did not pass, or all; gives each line with its place.

    That is the sample as the first evaluator sees it, and under "evaluators" as each other one
    does that has columns of its own. The beginning of a line is the place of the sample among all,
    which only who writes the file knows.
    """
    first = next(iter(samples.values()))
    own = {name: each for name, each in samples.items() if each is not first}
    failing = {
        place
        for each in rows
        for place, row in enumerate(each)
        if row.passed is not True and is_failing(row)
    }
    lines = []
    for place in range(len(rows[0])) if all else sorted(failing):
        stored: Any = first.stored(place)
        if own:
            others = {name: each.stored(place) for name, each in own.items()}
            stored = {**first.fields(place), OWN: others}
        lines.append((place, write_value(stored)[1:] + b"\n"))
    return lines


def _evaluate(evaluator: Evaluator, samples: list[Sample]) -> list[Result | Exception]:
    """Evaluate all samples at once, or one by one where one of them raises."""
    results: list[Result | Exception] = []
    try:
        results += evaluator.evaluate_many(samples)
    except Exception:  # noqa: BLE001 - one by one it is raised again, and kept
        results.clear()
    if len(results) == len(samples):
        return results
    results.clear()
    for sample in samples:
        try:
            results.append(evaluator.evaluate(sample))
        except Exception as error:  # noqa: BLE001 - whatever it was, it becomes the row's error
            results.append(error)
    return results


def _row(id: Any, name: str, result: object, group: Any) -> Row:
    """Make a row of a result whose values may be of other types, or of what was raised."""
    metadata: dict[str, Any] = {}
    if isinstance(result, Charged):
        metadata, result = {"judge": result.account}, result.error
    if isinstance(result, Result):
        try:
            return _row_of_result(id, name, result, group)
        except Exception as error:  # noqa: BLE001 - what is made to look like a float may raise
            result = error
    elif not isinstance(result, Exception):
        result = TypeError(f"expected a Result, got {quote(result)}")
    text = f"{type(result).__name__}: {result}"[:_LONGEST_ERROR]
    return Row(id, name, None, None, None, None, metadata, False, text, group)


def _row_of_result(id: Any, name: str, result: Result, group: Any) -> Row:
    """Make a row of a result; raise where a value is not what it has to be."""
    score = None if result.score is None else float(result.score)
    if score is not None and not -_MAX_SCORE <= score <= _MAX_SCORE:
        raise ValueError(f"the score {quote(result.score)} is not a finite number")
    unscored = result.is_unscored
    passed = None if result.passed is None or unscored else bool(result.passed)
    label, reason = _text(result.label), _text(result.reason)
    metadata = dict(result.metadata or {})
    return Row(id, name, score, passed, label, reason, metadata, unscored, None, group)


def _text(thing: object) -> str | None:
    """Return the text of a label or reason; a member of an Enum says something else of itself."""
    if thing is None:
        return None
    return str.__str__(thing) if isinstance(thing, str) else str(thing)
