"""Two runs, joined sample by sample."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import repeat
from typing import Any, Final, NamedTuple, TypeVar

from llmeval_integrations.runs.rows import Key, Row, key_of
from llmeval_integrations.runs.run import Run

_TOO_LARGE: Final = 1e100
_NONE: Final = -1
_NOTHING: Final = -2
_COUNT: Final = "i"  # up to two thousand million rows, for which no memory would do
_SORTED_AT_ONCE: Final = 20_000

Value = TypeVar("Value")

Shares = tuple[tuple[str, ...], tuple[float, ...]]
"""Fields, and for each the share of its leaves that match."""


class Said(NamedTuple):
    """What an evaluator said about a sample, as far as it is compared."""

    score: float | None
    """The score where it is a finite number, below 1e100."""

    passed: bool | None
    """Whether the output is good enough."""

    fields: Shares | None
    """The shares of single fields; None where there are none to compare."""

    place: int
    """Which of the run's rows it is."""

    group: int = _NONE
    """The number of the sample's group, below 0 where it has none."""

    is_nothing: bool = False
    """Whether there is neither score nor verdict, nor a label as an answer without either."""


class Pair(NamedTuple):
    """What one evaluator said of the same sample in both runs."""

    key: Key
    """The sample's id as a key."""

    a: Said
    """In the first run."""

    b: Said
    """In the second."""

    @property
    def group(self) -> int:
        """The number of the sample's group, below 0 where neither run has one."""
        return self.a.group if self.a.group >= 0 else self.b.group


class Column:
    """What one evaluator said in one run, by the samples' numbers, in some 20 bytes for each."""

    def __init__(self) -> None:
        self._places = array(_COUNT)
        self._scores = array("d")
        self._passed = array("b")
        self._fields: list[Shares | None] = []
        self._groups = array(_COUNT)

    def __contains__(self, number: int) -> bool:
        return number < len(self._places) and self._places[number] != _NONE

    def __getitem__(self, number: int) -> Said:
        score, passed = self._scores[number], self._passed[number]
        return Said(
            None if math.isnan(score) else score,
            bool(passed) if passed >= 0 else None,
            self._fields[number] if number < len(self._fields) else None,
            self._places[number],
            self._groups[number] if number < len(self._groups) else _NONE,
            passed == _NOTHING,
        )

    def __setitem__(self, number: int, said: Said) -> None:
        _put(self._places, number, said.place, _NONE)
        _put(self._scores, number, math.nan if said.score is None else said.score, math.nan)
        no_verdict = _NOTHING if said.is_nothing else _NONE
        _put(self._passed, number, no_verdict if said.passed is None else said.passed, _NONE)
        if said.fields is not None:
            _put(self._fields, number, said.fields, None)
        if said.group != _NONE:
            _put(self._groups, number, said.group, _NONE)


def _put(column: MutableSequence[Value], number: int, value: Value, nothing: Value) -> None:
    """Put a value where it belongs in a column that may not yet reach there."""
    if number >= len(column):
        column.extend(repeat(nothing, number + 1 - len(column)))
    column[number] = value


class Pairs:
    """One evaluator's pairs by id, made anew of two columns whenever they are iterated over."""

    def __init__(self, keys: Sequence[Key], order: Sequence[int], a: Column, b: Column) -> None:
        self._keys, self._a, self._b = keys, a, b
        self._numbers = array(_COUNT, (each for each in order if each in a and each in b))

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Pair]:
        return map(self._pair, self._numbers)

    def __getitem__(self, place: int) -> Pair:
        return self._pair(self._numbers[place])

    def _pair(self, number: int) -> Pair:
        return Pair(self._keys[number], self._a[number], self._b[number])


@dataclass(frozen=True)
class Joined:
    """The samples of two runs that belong together."""

    pairs: dict[str, Pairs]
    """For each evaluator its pairs, by id, whatever the order of the rows."""

    only_a: list[Any]
    """Ids of samples that the second run lacks."""

    only_b: list[Any]
    """Ids of samples that the first run lacks."""


def join(a: Run, b: Run, evaluators: Collection[str], *, by_field: bool = True) -> Joined:
    """Join the rows of these evaluators by the samples' ids, single fields too where asked for.

    Where an id occurs more than once, the first row of one run goes with the first of the other,
    the second with the second.
    """
    reading = _Reading(evaluators, by_field=by_field)
    first, second = reading.columns(a), reading.columns(b)
    keys, ids = reading.keys, reading.ids
    del reading  # what it finds samples by takes as much memory as what was said of them
    order = _order(keys)
    return Joined(
        {name: Pairs(keys, order, first[name], second[name]) for name in evaluators},
        [ids.get(number, keys[number]) for number in _alone(first, second, len(keys))],
        [ids.get(number, keys[number]) for number in _alone(second, first, len(keys))],
    )


def _order(keys: Sequence[Key]) -> Sequence[int]:
    """Return the numbers of samples in the order of their ids, which that of rows does not change.

    Sorts them part by part, for what they are sorted by takes more memory than they do.
    """

    def by(number: int) -> str:
        return repr(keys[number])

    parts = (
        range(start, min(start + _SORTED_AT_ONCE, len(keys)))
        for start in range(0, len(keys), _SORTED_AT_ONCE)
    )
    return array(_COUNT, merge(*(array(_COUNT, sorted(part, key=by)) for part in parts), key=by))


def _alone(one: dict[str, Column], other: dict[str, Column], count: int) -> Iterator[int]:
    """Number the samples of which an evaluator said something in one run and not in the other."""
    for number in range(count):
        if any(number in one[name] and number not in other[name] for name in one):
            yield number


class _Reading:
    """Reads runs, and numbers their samples."""

    def __init__(self, evaluators: Collection[str], *, by_field: bool) -> None:
        self.keys: list[Key] = []
        """By number. An id that occurs more than once in a run is there as often."""
        self.ids: dict[int, Any] = {}
        """Those that are not their own keys."""
        self._evaluators = evaluators
        self._by_field = by_field
        self._numbers: dict[Key | tuple[Key, int], int] = {}
        self._paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._shares: dict[Shares, Shares] = {}
        self._groups: dict[Key, int] = {}

    def columns(self, run: Run) -> dict[str, Column]:
        """Return what each evaluator said in a run."""
        columns = {name: Column() for name in self._evaluators}
        again: Counter[tuple[str, Key]] = Counter()
        for place, row in enumerate(run.rows):
            column = columns.get(row.evaluator)
            if column is not None:
                key = key_of(row.id)
                number = self._number(row.id, key, 0)
                if number in column:
                    again[row.evaluator, key] += 1
                    number = self._number(row.id, key, again[row.evaluator, key])
                column[number] = self._said(row, place)
        return columns

    def _number(self, id: Any, key: Key, occurrence: int) -> int:
        number = self._numbers.setdefault((key, occurrence) if occurrence else key, len(self.keys))
        if number == len(self.keys):
            self.keys.append(key)
            if id is not key:
                self.ids[number] = id
        return number

    def _said(self, row: Row, place: int) -> Said:
        group = _NONE
        if row.group is not None:
            group = self._groups.setdefault(key_of(row.group), len(self._groups))
        if row.error is not None or row.unscored:
            return Said(None, None, None, place, group, is_nothing=True)
        fields = row.metadata.get("fields") if self._by_field else None
        shares = self._shares_in(fields) if isinstance(fields, Mapping) else None
        score = _figure(row.score)
        is_answer = row.score is None and row.label is not None
        is_nothing = score is None and row.passed is None and not is_answer
        return Said(score, row.passed, shares, place, group, is_nothing)

    def _shares_in(self, fields: Mapping[str, Any]) -> Shares:
        """Return each field's share; the same object for the many rows that have the same."""
        found = {path: share for path, counts in fields.items() if (share := _share(counts)) >= 0}
        paths = tuple(found)
        shares = self._paths.setdefault(paths, paths), tuple(found.values())
        return self._shares.setdefault(shares, shares)


def _share(counts: Any) -> float:
    """Return the share of leaves that match; -1 of what is not a count of leaves."""
    try:
        leaves = sum(counts.values())
        return float(counts.get("match", 0) / leaves) if leaves else -1.0
    except (AttributeError, TypeError):
        return -1.0  # another package's metadata of the same name


def _figure(score: float | None) -> float | None:
    """Return a score as a number that can be squared and added up, None where it is none."""
    try:
        number = math.nan if score is None else float(score)
    except (OverflowError, ValueError, TypeError):
        return None
    return number if abs(number) < _TOO_LARGE else None
