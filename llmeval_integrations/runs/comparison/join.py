"""Joins the samples of two runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from llmeval_integrations.runs.rows import Key, Row, key_of, number_keys
from llmeval_integrations.runs.run import Run


class Pair(NamedTuple):
    """One sample in both runs."""

    key: Key  # the id of the sample
    a: Row  # the row of the first run, with the part that is compared; see `_trim`
    b: Row

    @property
    def group(self) -> Key | None:
        """The group of the sample, if either run has one."""
        group = self.b.group if self.a.group is None else self.a.group
        return None if group is None else key_of(group)


def join(
    a: Run, b: Run, evaluators: Collection[str], *, by_field: bool = True
) -> tuple[dict[str, list[Pair]], list[Any], list[Any]]:
    """Join the rows of these evaluators by the ids of their samples.

    Returns the pairs of each evaluator, in the order of their ids, and the ids of samples that only
    the first or only the second run has. If an id occurs more than once, its first rows are joined,
    then its second rows.
    """
    first, second = (_read(run, evaluators, by_field=by_field) for run in (a, b))
    pairs: dict[str, list[Pair]] = {}
    for name in evaluators:
        others = second[name]
        shared = sorted((key for key in first[name] if key in others), key=repr)
        pairs[name] = [Pair(key[0], first[name][key], others[key]) for key in shared]
    return pairs, _list_missing(first, second), _list_missing(second, first)


_ByKey: TypeAlias = dict[str, dict[tuple[Key, int], Row]]
"""Rows by evaluator, then by id and the number of the row with this id."""


def _read(run: Run, evaluators: Collection[str], *, by_field: bool) -> _ByKey:
    rows: dict[str, list[Row]] = {name: [] for name in evaluators}
    for row in run.rows:
        if row.evaluator in rows:
            rows[row.evaluator].append(_trim(row, by_field=by_field))
    return {name: dict(zip(number_keys(row.id for row in own), own)) for name, own in rows.items()}


def _trim(row: Row, *, by_field: bool) -> Row:
    """Return a row without figures if it is no answer, and with the `shares` of fields alone.

    A share is that of the leaves of a field that match.
    """
    if row.error is not None or row.unscored:
        return replace(row, score=None, passed=None, label=None, metadata={})
    fields = row.metadata.get("fields") if by_field else None
    if not isinstance(fields, Mapping):
        return replace(row, metadata={})
    shares = {}
    for path, counts in fields.items():
        # A log of another tool may have other metadata of this name.
        values = [*counts.values()] if isinstance(counts, Mapping) else []
        if all(isinstance(each, (int, float)) for each in values) and (leaves := sum(values)):
            shares[path] = counts.get("match", 0) / leaves
    return replace(row, metadata={"shares": shares})


def is_answer(row: Row) -> bool:
    """Return whether a row has a score, verdict or label."""
    return (row.score, row.passed, row.label) != (None, None, None)


def _list_missing(one: _ByKey, other: _ByKey) -> list[Any]:
    """Return the ids of samples that lack a row in the other run."""
    found = {key: row for name in one for key, row in one[name].items() if key not in other[name]}
    return [row.id for row in found.values()]
