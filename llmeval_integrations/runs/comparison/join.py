"""Joins the samples of two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from llmeval_integrations.runs.rows import Key, Row, key_of
from llmeval_integrations.runs.run import Run


class PairedRow(NamedTuple):
    """The part of a row that is compared."""

    id: Any
    place: int
    """The place of the sample in its run."""

    group: Key | None
    reason: str | None
    score: float | None = None
    passed: bool | None = None
    shares: Mapping[str, float] | None = None
    """The share of leaves that match, by field."""

    is_answer: bool = False
    """Whether there is a score, verdict or label."""


class Pair(NamedTuple):
    """One sample in both runs."""

    key: Key
    """The id of the sample."""

    a: PairedRow
    b: PairedRow

    @property
    def group(self) -> Key | None:
        """The group of the sample, if either run has one."""
        return self.b.group if self.a.group is None else self.a.group


@dataclass(frozen=True)
class Joined:
    """The samples of two runs, joined."""

    pairs: dict[str, list[Pair]]
    """The pairs of each evaluator, in the order of their ids."""

    only_a: list[Any]
    """Ids of samples that the second run lacks."""

    only_b: list[Any]
    """Ids of samples that the first run lacks."""


_ByKey: TypeAlias = dict[str, dict[tuple[Key, int], PairedRow]]
"""By evaluator, then by id and the number of the row with this id."""


def join(a: Run, b: Run, evaluators: Collection[str], *, by_field: bool = True) -> Joined:
    """Join the rows of these evaluators by the ids of their samples.

    If an id occurs more than once, its first rows are joined, then its second rows.
    """
    first, second = (_read(run, evaluators, by_field=by_field) for run in (a, b))
    pairs = {
        name: [
            Pair(key[0], said, second[name][key])
            for key, said in sorted(first[name].items(), key=lambda item: repr(item[0]))
            if key in second[name]
        ]
        for name in evaluators
    }
    return Joined(pairs, _list_missing(first, second), _list_missing(second, first))


def _read(run: Run, evaluators: Collection[str], *, by_field: bool) -> _ByKey:
    """Read the rows of a run."""
    found: _ByKey = {name: {} for name in evaluators}
    times: Counter[tuple[str, Key]] = Counter()
    width = len(run.summary["evaluators"])
    for number, row in enumerate(run.rows):
        if row.evaluator in found:
            key = key_of(row.id)
            times[row.evaluator, key] += 1
            found[row.evaluator][key, times[row.evaluator, key]] = _pick(
                row, number // width, by_field
            )
    return found


def _pick(row: Row, place: int, by_field: bool) -> PairedRow:
    group = None if row.group is None else key_of(row.group)
    if row.error is not None or row.unscored:
        return PairedRow(row.id, place, group, row.reason)
    fields = row.metadata.get("fields") if by_field else None
    shares = _shares(fields) if isinstance(fields, Mapping) else None
    is_answer = (row.score, row.passed, row.label) != (None, None, None)
    return PairedRow(row.id, place, group, row.reason, row.score, row.passed, shares, is_answer)


def _shares(fields: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for path, counts in fields.items():
        # A log of another tool may have other metadata of this name.
        if isinstance(counts, Mapping) and (leaves := sum(counts.values())):
            found[path] = counts.get("match", 0) / leaves
    return found


def _list_missing(one: _ByKey, other: _ByKey) -> list[Any]:
    """Return the ids of samples that lack a row in the other run."""
    found = {key: said for name in one for key, said in one[name].items() if key not in other[name]}
    return [said.id for said in sorted(found.values(), key=lambda said: said.place)]
