"""A chunk of rows becomes samples, and every evaluator looks at them: no bad row spoils another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, Protocol

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.read import share
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.data.source import CHUNK, Record
from llmeval_integrations.runs.judges import Charged, Judging, JudgingOptions
from llmeval_integrations.runs.rows import (
    Row,
    fields_of,
    is_failing,
    parse_rows,
    write_rows,
    write_value,
)

OWN: Final = "evaluators"
"""Under which a stored sample has what evaluators see that have columns of their own."""

_MAX_SCORE: Final = 1e130
"""The largest score whose square can be added up; NaN and infinity are not scores at all."""

_LONGEST_ERROR: Final = 2_000

_AHEAD: Final = 32
"""How many times more samples than are judged at a time are begun before the first has ended, so
that one that takes long holds up no other."""


class Job(NamedTuple):
    """What is done with every chunk."""

    evaluators: Mapping[str, Evaluator]
    columns: Mapping[str, Columns]
    """For each evaluator."""

    keep: Literal["none", "failing", "all"] = "none"
    """Which samples are written beside the rows."""


class Answers:
    """What a chunk came to."""

    def __init__(self, rows: list[Row], samples: list[tuple[int, bytes]]) -> None:
        self.rows = rows
        """Sample by sample, each with one row of every evaluator."""
        self.samples = samples
        """Of each sample that is kept its place in the chunk, and its line but for the place."""

    def __reduce__(self) -> Any:
        # As JSON: what a result's metadata hold may have no way to another process.
        return _read_answers, (write_rows(self.rows), self.samples)


def _read_answers(rows: bytes, samples: list[tuple[int, bytes]]) -> Answers:
    return Answers(parse_rows(rows), samples)


class Engine(Protocol):
    """Evaluates the chunks of one run, somewhere."""

    ahead: int
    """The chunks that are begun before the first is waited for."""

    def begin(self, records: Sequence[Record]) -> Callable[[], Answers]:
        """Begin to evaluate a chunk; gives what waits for it, and raises InputError in vain."""

    def close(self) -> None:
        """Return whatever was taken, and give up what nobody waits for."""


EngineMaker = Callable[[Job, JudgingOptions, "Judging | None"], Engine]
"""Makes the engine of one run; nothing has to be begun yet."""


class Here:
    """Evaluates in this process."""

    def __init__(self, job: Job, judging: Judging | None) -> None:
        self._job = job
        self._judging = judging
        judged = judging.concurrency if judging else 0
        self.ahead = _AHEAD * judged // min(judged or CHUNK, CHUNK)

    def begin(self, records: Sequence[Record]) -> Callable[[], Answers]:
        """Begin to evaluate a chunk."""
        return begin(self._job, records, self._judging)

    def close(self) -> None:
        """Nothing was taken."""


class Samples:
    """What a chunk's rows are to evaluators that have the same columns."""

    def __init__(self, columns: Columns, records: Sequence[Record]) -> None:
        self._columns = columns
        self._records = records
        self._made = [columns.sample(row, number) for number, row in records]
        self._errors: dict[int, Exception] = {
            place: made for place, made in enumerate(self._made) if isinstance(made, InputError)
        }
        self._absent: dict[str, list[int]] = {}

    def share(self) -> None:
        """Have the evaluators share what they read of a sample."""
        share(self._without(self._errors))

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
        unfit = {**self._errors}
        for field in evaluator.needs:
            for place in self._places_without(field):
                if place not in unfit:
                    unfit[place] = self._columns.missing_field_error(
                        self._records[place][1], field, name
                    )
        return self._without(unfit), unfit

    def _places_without(self, field: str) -> list[int]:
        """Return where the samples stand that lack a field; several evaluators need the same."""
        if field not in self._absent:
            get = attrgetter(field)
            self._absent[field] = [
                place
                for place, made in enumerate(self._made)
                if place not in self._errors and get(made) is MISSING
            ]
        return self._absent[field]

    def _without(self, unfit: Mapping[int, Exception]) -> list[Any]:
        if not unfit:
            return [*self._made]
        return [made for place, made in enumerate(self._made) if place not in unfit]


def samples_of(columns: Mapping[str, Columns], records: Sequence[Record]) -> dict[str, Samples]:
    """Make the samples that each evaluator sees; those that have the same columns share them."""
    made = {own: Samples(own, records) for own in dict.fromkeys(columns.values())}
    return {name: made[own] for name, own in columns.items()}


def begin(
    job: Job, records: Sequence[Record], judging: Judging | None = None
) -> Callable[[], Answers]:
    """Begin to evaluate a chunk; gives what waits for the answers of judges.

    A row that cannot be read, lacks what the evaluator needs or makes it raise is an error row.
    """
    samples = samples_of(job.columns, records)
    if len(job.evaluators) > 1:
        for each in set(samples.values()):
            each.share()
    begun = [
        _begin(name, evaluator, samples[name], judging)
        for name, evaluator in job.evaluators.items()
    ]

    def finish() -> Answers:
        rows = chain.from_iterable(zip(*(rows() for rows in begun), strict=True))
        return keep(job, samples, [*rows])

    return finish


def keep(job: Job, samples: Mapping[str, Samples], rows: list[Row]) -> Answers:
    """Put rows together with the samples that are written beside them.

    That is the sample as the first evaluator sees it, and under "evaluators" as each other one
    does that has columns of its own. The beginning of a line is the place of the sample among all,
    which only who writes the file knows.
    """
    first = next(iter(samples.values()))
    others = {name: each for name, each in samples.items() if each is not first}
    width = len(samples)
    places: Iterable[int] = ()
    if job.keep == "all":
        places = range(len(rows) // width)
    elif job.keep == "failing":
        failing = [n for n, row in enumerate(rows) if row.passed is not True and is_failing(row)]
        places = dict.fromkeys(n // width for n in failing)
    lines = []
    for place in places:
        stored: Any = first.stored(place)
        if others:
            own = {name: each.stored(place) for name, each in others.items()}
            stored = {**first.fields(place), OWN: own}
        lines.append((place, write_value(stored)[1:] + b"\n"))
    return Answers(rows, lines)


def _begin(
    name: str, evaluator: Evaluator, samples: Samples, judging: Judging | None
) -> Callable[[], list[Row]]:
    """Begin to ask a judge, or have another evaluator look at the samples at once."""
    fit, unfit = samples.fit(evaluator, name)
    if judging is not None and evaluator.is_judge:
        wait = judging.begin(evaluator, fit)
    else:
        results = _evaluate(evaluator, fit)
        wait = lambda: results  # noqa: E731 - what a judge gives, too

    def rows() -> list[Row]:
        found: Any = wait()
        if unfit:
            rest = iter(found)
            found = [unfit.get(place) or next(rest) for place in range(len(samples.about))]
        return _rows(name, samples.about, found)

    return rows


def _evaluate(evaluator: Evaluator, samples: list[Sample]) -> list[Result | Exception]:
    """Evaluate all samples at once, or one by one where one of them raises."""
    results: list[Result | Exception] = []
    try:
        results += evaluator.check_many(samples)
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


def _rows(name: str, about: list[tuple[Any, Any]], results: list[Any]) -> list[Row]:
    rows = []
    for (own, group), result in zip(about, results, strict=True):
        # Most results need no second look, which takes a third of a run's own time.
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


def _row(id: Any, name: str, result: object, group: Any) -> Row:
    """Make a row of a result whose values may be of other types, or of what was raised."""
    metadata: dict[str, Any] = {}
    if isinstance(result, Charged):
        metadata, result = {"judge": result.account}, result.error
    if not isinstance(result, Exception):
        try:
            return _row_of_result(id, name, result, group)
        except Exception as error:  # noqa: BLE001 - what is made to look like a float may raise
            result = error
    text = f"{type(result).__name__}: {result}"[:_LONGEST_ERROR]
    return Row(id, name, None, None, None, None, metadata, False, text, group)


def _row_of_result(id: Any, name: str, result: object, group: Any) -> Row:
    """Make a row of a result; raise where a value is not what it has to be."""
    if not isinstance(result, Result):
        raise TypeError(f"expected a Result, got {quote(result)}")
    score = None if result.score is None else float(result.score)
    if score is not None and not -_MAX_SCORE <= score <= _MAX_SCORE:
        raise ValueError(f"the score {quote(result.score)} is not a finite number")
    unscored = result.is_unscored
    passed = None if result.passed is None or unscored else bool(result.passed)
    said = passed, _text(result.label), _text(result.reason), dict(result.metadata or {})
    return Row(id, name, score, *said, unscored, None, group)


def _text(thing: object) -> str | None:
    """Return the text of a label or reason; a member of an Enum says something else of itself."""
    if thing is None:
        return None
    return str.__str__(thing) if isinstance(thing, str) else str(thing)
