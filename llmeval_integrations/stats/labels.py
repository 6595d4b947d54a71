"""A judge's verdicts beside people's labels of the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from enum import Enum
from numbers import Real
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote

_VERDICTS: Final[Mapping[Any, bool]] = {
    **dict.fromkeys((True, "true", "pass", "passed", "1"), True),
    **dict.fromkeys((False, "false", "fail", "failed", "0"), False),
}
"""Verdicts in lower case; a column of a CSV file holds texts."""


class LabelledRow(NamedTuple):
    """One row: what the judge says about it, and what people say."""

    row: Hashable  # its id, or its place
    judge: Any  # None if it is unscored
    people: tuple[Any, ...]  # empty if nobody labelled the row
    group: Hashable = None  # None for an ungrouped row

    @property
    def person(self) -> Any:
        """The most frequent label of people; None if several are equally frequent."""
        leaders = [*Counter(self.people).most_common(2), (None, 0), (None, 0)]
        return leaders[0][0] if leaders[0][1] > leaders[1][1] else None


def pair_labels(judged: Any, human: Any) -> list[LabelledRow]:
    """Pair the rows of a judge with people's labels: by id if one is a mapping, else by order.

    Raises InputError if a row of one has no partner in the other.
    """
    by_id = isinstance(judged, Mapping) or isinstance(human, Mapping)
    left, right = _by_key("judged", judged, by_id), _by_key("human", human, by_id)
    for name, keys, others in (("judged", left, right), ("human", right, left)):
        if missing := [key for key in others if key not in keys]:
            some = ", ".join(map(quote, missing[:3]))
            raise InputError(
                f"{name} lacks {len(missing)} of the {'ids' if by_id else 'rows'}, such as {some}; "
                "give None for a row without a label"
            )
    rows = []
    for key, value in left.items():
        labels = right[key] if isinstance(right[key], (list, tuple)) else [right[key]]
        people = tuple(each for each in map(normalize, labels) if each is not None)
        judge = None if normalize(value) is None else value
        rows.append(LabelledRow(key, judge, people, getattr(value, "group", None)))
    return rows


def _by_key(name: str, values: Any, by_id: bool) -> Mapping[Any, Any]:
    """Return rows by their ids or their places, a mapping as it is."""
    if isinstance(values, Mapping):
        return values
    rows = list_rows(name, values)
    found = {getattr(row, "id", None) if by_id else place: row for place, row in enumerate(rows)}
    if None in found or len(found) < len(rows):
        raise InputError(
            f"{name} must be a mapping from ids, as the other is, or rows of a run with ids of "
            "their own"
        )
    return found


def list_rows(name: str, values: Any) -> list[Any]:
    """Return the rows of a run, of a sequence or of a mapping's values, of a single evaluator."""
    values = getattr(values, "rows", values)
    if hasattr(values, "itertuples"):  # its items are the names of its columns
        raise InputError(f"{name} is a DataFrame; give one of its columns, as {name}['passed']")
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name}={quote(values)} is not a run, or a sequence of verdicts")
    rows = list(values.values() if isinstance(values, Mapping) else values)
    evaluators = dict.fromkeys(row.evaluator for row in rows if hasattr(row, "evaluator"))
    if len(evaluators) > 1:
        raise InputError(
            f"{name} holds rows of {', '.join(evaluators)}; give those of one: "
            f"[row for row in run.rows if row.evaluator == {next(iter(evaluators))!r}]"
        )
    return rows


def normalize(value: Any) -> Any:
    """Return a judgement as its verdict, a missing value as None, any other value as it is.

    A mapping with a `verdict` is a judgement. Missing are None, NaN, pandas' NA, a text of white
    space, and a result or row that is unscored or an error.
    """
    value = value.get("verdict", value) if isinstance(value, Mapping) else value
    value = getattr(value, "verdict", value)
    value = value.value if isinstance(value, Enum) else value
    if hasattr(value, "passed"):  # a result, or a row of a run
        is_missing = (
            getattr(value, "is_unscored", False)
            or getattr(value, "unscored", None) is True
            or getattr(value, "error", None) is not None
        )
    elif isinstance(value, str):
        is_missing = not value.strip()
    else:  # only NaN is not itself, numpy's too
        is_missing = type(value).__name__ == "NAType" or (
            isinstance(value, Real) and value != value  # noqa: PLR0124
        )
    return None if is_missing else value


def as_verdict(value: Any) -> bool | None:
    """Return True for True, 1, "pass" and "true", False for their opposites, None otherwise."""
    return _VERDICTS.get(fold(value)) if isinstance(value, Hashable) else None


def fold(value: Any) -> Any:
    """Return a text in lower case and without surrounding space, anything else as it is."""
    return value.strip().casefold() if isinstance(value, str) else value


def read_verdict(value: Any, where: str) -> bool:
    """Return the verdict of a value or result; raises InputError if there is none."""
    said = value
    if hasattr(value, "passed"):
        said = value.label if value.passed is None else value.passed
    verdict = as_verdict(said)
    if verdict is None:
        raise InputError(f"{where}: {quote(value)} is not a verdict (True, False, pass, fail)")
    return verdict


def read_label(value: Any, where: str) -> str | Real:
    """Return a label or rating, or that of a result; raises InputError if there is none."""
    label = value
    if hasattr(value, "passed"):
        label = value.score if value.label is None else value.label
    if isinstance(label, bool) or not isinstance(label, (str, Real)):
        raise InputError(f"{where}: {quote(value)} is not a label, and other values are")
    return label
