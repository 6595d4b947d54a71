"""Two runs, joined sample by sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from llmeval_integrations.runs.rows import Key, Row, key_of
from llmeval_integrations.runs.run import Run

_TOO_LARGE: Final = 1e100
"""Scores of this size cannot be squared and added up; they are none."""

_Value = TypeVar("_Value")

Shares: TypeAlias = tuple[tuple[str, ...], tuple[float, ...]]
"""Fields, and for each the share of its leaves that match."""


class Said(NamedTuple):
    """What an evaluator said about a sample, as far as it is compared."""

    id: Any
    place: int
    """Which of the run's rows it is."""

    group: Key | None
    reason: str | None
    score: float | None = None
    passed: bool | None = None
    fields: Shares | None = None
    is_answer: bool = False
    """Whether there is a score, a verdict or a label."""


class Pair(NamedTuple):
    """What one evaluator said of the same sample in both runs."""

    key: Key
    """The sample's id as a key."""

    a: Said
    b: Said

    @property
    def group(self) -> Key | None:
        """The sample's group, None where neither run has one."""
        return self.b.group if self.a.group is None else self.a.group


@dataclass(frozen=True)
class Joined:
    """The samples of two runs that belong together."""

    pairs: dict[str, list[Pair]]
    """For each evaluator its pairs, in the order of their ids."""

    only_a: list[Any]
    """Ids of samples that the second run lacks."""

    only_b: list[Any]
    """Ids of samples that the first run lacks."""


def join(a: Run, b: Run, evaluators: Collection[str], *, by_field: bool = True) -> Joined:
    """Join the rows of these evaluators by the samples' ids, single fields too where asked for.

    Where an id occurs more than once, the first row of one run goes with the first of the other,
    the second with the second.
    """
    reader = _Reader(evaluators, by_field=by_field)
    first, second = reader.read(a), reader.read(b)
    pairs = {
        name: [
            Pair(each[0], first[name][each], second[name][each])
            for each in sorted(first[name].keys() & second[name].keys(), key=repr)
        ]
        for name in evaluators
    }
    return Joined(pairs, _list_missing(first, second), _list_missing(second, first))


_Answers: TypeAlias = dict[str, dict[tuple[Key, int], Said]]
"""By evaluator, and by id and how many of its rows had that id before."""


def _list_missing(one: _Answers, other: _Answers) -> list[Any]:
    """List the ids of samples of which an evaluator says nothing in the other run."""
    found = {key: said for name in one for key, said in one[name].items() if key not in other[name]}
    return [said.id for said in sorted(found.values(), key=lambda said: said.place)]


class _Reader:
    """Reads runs, and keeps what many rows have once."""

    def __init__(self, evaluators: Collection[str], *, by_field: bool) -> None:
        self._evaluators = evaluators
        self._by_field = by_field
        self._kept: dict[Any, Any] = {}

    def read(self, run: Run) -> _Answers:
        """Return what each evaluator said in a run."""
        found: _Answers = {name: {} for name in self._evaluators}
        again: Counter[tuple[str, Key]] = Counter()
        for place, row in enumerate(run.rows):
            if row.evaluator in found:
                key = key_of(row.id), 0
                if key in found[row.evaluator]:
                    again[row.evaluator, key[0]] += 1
                    key = key[0], again[row.evaluator, key[0]]
                found[row.evaluator][self._intern(key)] = self._said(row, place)
        return found

    def _said(self, row: Row, place: int) -> Said:
        group = None if row.group is None else key_of(row.group)
        about = self._intern(row.id) if type(row.id) is str else row.id, place, group
        reason = self._intern(row.reason)
        if row.error is not None or row.unscored:
            return Said(*about, reason)
        score = row.score
        if score is not None and not abs(score) < _TOO_LARGE:  # NaN, too
            score = None
        is_label = row.score is None and row.label is not None
        is_answer = score is not None or row.passed is not None or is_label
        fields = row.metadata.get("fields") if self._by_field else None
        shares = self._shares(fields) if isinstance(fields, Mapping) else None
        return Said(*about, reason, score, row.passed, shares, is_answer)

    def _shares(self, fields: Mapping[str, Any]) -> Shares:
        """Return each field's share of leaves that match."""
        found = {}
        for path, counts in fields.items():
            try:
                leaves = sum(counts.values())
            except (AttributeError, TypeError):
                continue  # another package's metadata of the same name
            if leaves:
                found[path] = counts.get("match", 0) / leaves
        return self._intern((self._intern(tuple(found)), tuple(found.values())))

    def _intern(self, value: _Value) -> _Value:
        """Return the equal value that was kept before, so that memory holds it once."""
        kept: _Value = self._kept.setdefault(value, value)
        return kept
