"""Two runs, joined sample by sample."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from llmeval_integrations.json_value import canonical
from llmeval_integrations.runs.rows import Row, write_value
from llmeval_integrations.runs.run import Run

_TOO_LARGE: Final = 1e100

Key = str | int | tuple[str]
"""A sample's id, so that it can be looked up."""


class Said(NamedTuple):
    """What an evaluator said about a sample, as far as it is compared."""

    score: float | None
    """The score where it is a finite number, below 1e100."""

    passed: bool | None
    """Whether the output is good enough."""

    fields: Mapping[str, float] | None
    """For each field the share of its leaves that match; None where there are none to compare."""

    place: int
    """Which of the run's rows it is."""

    @property
    def is_nothing(self) -> bool:
        """Whether there is neither score nor verdict: the row is unscored or an error."""
        return self.score is None and self.passed is None


class Pair(NamedTuple):
    """What one evaluator said of the same sample in both runs."""

    key: Key
    """The sample's id as a key."""

    id: Any
    """The sample's id."""

    a: Said
    """In the first run."""

    b: Said
    """In the second."""


@dataclass(frozen=True)
class Joined:
    """The samples of two runs that belong together."""

    pairs: dict[str, list[Pair]]
    """For each evaluator its pairs, by id, whatever the order of the rows."""

    only_a: list[Any]
    """Ids of samples that the second run lacks."""

    only_b: list[Any]
    """Ids of samples that the first run lacks."""


def join(a: Run, b: Run, evaluators: Collection[str], *, fields: bool = True) -> Joined:
    """Join the rows of these evaluators by the samples' ids, single fields too where asked for.

    Where an id occurs more than once, the first row of one run goes with the first of the other,
    the second with the second.
    """
    waiting: dict[str, dict[tuple[Key, int], tuple[Any, Said]]] = {}
    for name, key, sample, said in _said(a, evaluators, fields):
        waiting.setdefault(name, {})[key] = sample, said
    pairs: dict[str, list[Pair]] = {name: [] for name in evaluators}
    only_b: dict[tuple[Key, int], Any] = {}
    for name, key, sample, said in _said(b, evaluators, fields):
        found = waiting.get(name, {}).pop(key, None)
        if found is None:
            only_b[key] = sample
        else:
            pairs[name].append(Pair(key[0], sample, found[1], said))
    for each in pairs.values():
        each.sort(key=lambda pair: repr(pair.key))  # the same order, however rows came
    only_a = {key: sample for left in waiting.values() for key, (sample, _) in left.items()}
    return Joined(pairs, list(only_a.values()), list(only_b.values()))


def _said(
    run: Run, names: Collection[str], fields: bool
) -> Iterator[tuple[str, tuple[Key, int], Any, Said]]:
    """Read a run's rows; a sample's key is its id, and the how-manieth it is of that id."""
    seen: dict[tuple[str, Key], int] = {}
    for place, row in enumerate(run.rows):
        if row.evaluator in names:
            key = _key(row.id)
            number = seen[row.evaluator, key] = seen.get((row.evaluator, key), -1) + 1
            yield row.evaluator, (key, number), row.id, _said_in(row, place, fields)


def _said_in(row: Row, place: int, with_fields: bool) -> Said:
    if row.error is not None or row.unscored:
        return Said(None, None, None, place)
    fields = row.metadata.get("fields") if with_fields else None
    shares = None
    if isinstance(fields, Mapping):
        shares = {path: share for path, counts in fields.items() if (share := _share(counts)) >= 0}
    return Said(_number(row.score), row.passed, shares, place)


def _share(counts: Any) -> float:
    """Give the share of leaves that match; -1 of what is no count of leaves."""
    try:
        leaves = sum(counts.values())
        return float(counts.get("match", 0) / leaves) if leaves else -1.0
    except (AttributeError, TypeError):
        return -1.0  # another package's metadata of the same name


def _number(score: float | None) -> float | None:
    """Give a score as a number that can be squared and added up, None where it is none."""
    try:
        number = math.nan if score is None else float(score)
    except (OverflowError, ValueError, TypeError):
        return None
    return number if abs(number) < _TOO_LARGE else None


def _key(id: Any) -> Key:
    """Make an id a key, equal where they are equal in JSON, in memory or read from a file."""
    if type(id) is str or type(id) is int:
        return id
    value = msgspec.json.decode(write_value(id))
    if type(value) is float and value.is_integer():
        return int(value)
    return value if type(value) in {str, int} else (canonical(value),)


def is_same(a: float, b: float) -> bool:
    """Say whether two figures differ by the rounding of floats at most."""
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
