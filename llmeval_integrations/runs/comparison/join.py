"""Two runs, joined sample by sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from llmeval_integrations.runs.rows import Key, Row, key_of
from llmeval_integrations.runs.run import Run


class Said(NamedTuple):
    """What an evaluator said about a sample, as far as it is compared."""

    id: Any
    place: int
    """Which of the run's rows it is."""

    group: Key | None
    reason: str | None
    score: float | None = None
    passed: bool | None = None
    shares: Mapping[str, float] | None = None
    """Of each field the share of its leaves that match."""

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


_ByKey: TypeAlias = dict[str, dict[tuple[Key, int], Said]]
"""By evaluator, and by id and which of the rows with that id it is."""


def join(a: Run, b: Run, evaluators: Collection[str], *, by_field: bool = True) -> Joined:
    """Join the rows of these evaluators by the samples' ids, single fields too where asked for.

    Where an id occurs more than once, the first row of one run goes with the first of the other,
    the second with the second.
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
    """Return what each evaluator said in a run."""
    found: _ByKey = {name: {} for name in evaluators}
    times: Counter[tuple[str, Key]] = Counter()
    for place, row in enumerate(run.rows):
        if row.evaluator in found:
            key = key_of(row.id)
            times[row.evaluator, key] += 1
            found[row.evaluator][key, times[row.evaluator, key]] = _said(row, place, by_field)
    return found


def _said(row: Row, place: int, by_field: bool) -> Said:
    group = None if row.group is None else key_of(row.group)
    if row.error is not None or row.unscored:
        return Said(row.id, place, group, row.reason)
    fields = row.metadata.get("fields") if by_field else None
    shares = _shares(fields) if isinstance(fields, Mapping) else None
    is_answer = (row.score, row.passed, row.label) != (None, None, None)
    return Said(row.id, place, group, row.reason, row.score, row.passed, shares, is_answer)


def _shares(fields: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for path, counts in fields.items():
        try:
            leaves = sum(counts.values())
        except (AttributeError, TypeError):
            continue  # another package's metadata of the same name
        if leaves:
            found[path] = counts.get("match", 0) / leaves
    return found


def _list_missing(one: _ByKey, other: _ByKey) -> list[Any]:
    """List the ids of samples of which an evaluator says nothing in the other run."""
    found = {key: said for name in one for key, said in one[name].items() if key not in other[name]}
    return [said.id for said in sorted(found.values(), key=lambda said: said.place)]
