"""A judge's verdicts beside people's labels of the same rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from numbers import Real
from os import PathLike
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result

_VERDICTS: Final[Mapping[Any, bool]] = {
    **dict.fromkeys((True, "true", "pass", "passed", "1"), True),
    **dict.fromkeys((False, "false", "fail", "failed", "0"), False),
}
"""In small letters; what a column of a CSV file holds is text."""


class LabelledRow(NamedTuple):
    """One row: what the judge says of it, and what people say."""

    row: Hashable
    """Its id, or its place."""

    judge: Any
    """The judge's value; None where it could not tell."""

    people: tuple[Any, ...]
    """The labels of people; empty where nobody labelled the row."""

    group: Hashable = None
    """The group it belongs to; None for a row of its own."""


def labelled_rows(judged: Any, human: Any) -> list[LabelledRow]:
    """Pair the rows of a judge with people's labels: by id where one is a mapping, else by order.

    Raises InputError where a row of one has no partner in the other.
    """
    if isinstance(judged, Mapping) or isinstance(human, Mapping):
        judged, human = _by_id("judged", judged), _by_id("human", human)
        _check_ids("judged", judged, human)
        _check_ids("human", human, judged)
        triples = [(key, value, human[key]) for key, value in judged.items()]
    else:
        left, right = rows_of("judged", judged), rows_of("human", human)
        if len(left) != len(right):
            raise InputError(
                f"judged has {len(left)} rows and human {len(right)}; "
                "give None for a row without a label"
            )
        triples = list(zip(range(len(left)), left, right))
    return [
        LabelledRow(
            row,
            None if plain(one) is None else one,
            tuple(_people(other)),
            getattr(one, "group", None),
        )
        for row, one, other in triples
    ]


def _people(label: Any) -> Iterator[Any]:
    """Yield each person's label: a list holds those of several."""
    for each in label if isinstance(label, (list, tuple)) else [label]:
        if (value := plain(each)) is not None:
            yield value


def _by_id(name: str, values: Any) -> Mapping[Any, Any]:
    """Return a mapping as it is, and the rows of a run by their ids."""
    if isinstance(values, Mapping):
        return values
    rows = rows_of(name, values)
    if not all(hasattr(row, "id") and hasattr(row, "evaluator") for row in rows):
        raise InputError(
            f"{name} must be a mapping from ids, as the other is, or a run or its rows, "
            "which have ids"
        )
    found: dict[Any, Any] = {}
    for row in rows:
        if isinstance(row.id, (list, dict)):
            raise InputError(f"{name}: the id {quote(row.id)} is not a key of a mapping")
        if row.id in found:
            raise InputError(f"{name}: the id {quote(row.id)} is there twice; use lists in order")
        found[row.id] = row
    return found


def _check_ids(name: str, values: Mapping[Any, Any], others: Mapping[Any, Any]) -> None:
    missing = [key for key in others if key not in values]
    if missing:
        some = ", ".join(quote(key) for key in missing[:3])
        hint = "; give None for a row without a label" if name == "human" else ""
        raise InputError(f"{name} lacks {len(missing)} of the ids, such as {some}{hint}")


def rows_of(name: str, values: Any) -> list[Any]:
    """Return the rows of a run, of a sequence or of a mapping's values, of one evaluator alone."""
    if hasattr(values, "rows") and hasattr(values, "summary"):
        values = values.rows
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        is_path = isinstance(values, (str, PathLike))
        hint = "; a run's directory is read by llmeval_integrations.runs.read_run"
        raise InputError(
            f"{name}={quote(values)} is not a sequence or mapping of verdicts{hint * is_path}"
        )
    rows = list(values.values() if isinstance(values, Mapping) else values)
    evaluators = {row.evaluator: None for row in rows if hasattr(row, "evaluator")}
    if len(evaluators) > 1:
        raise InputError(
            f"{name} holds rows of {', '.join(evaluators)}; give those of one: "
            f"[row for row in run.rows if row.evaluator == {next(iter(evaluators))!r}]"
        )
    return rows


def plain(value: Any) -> Any:
    """Return a judgement as its verdict, what is missing as None, any other value as it is.

    A mapping with a `verdict` is a judgement. Missing are None, NaN, pandas' NA, a text of white
    space, and a result or row that is unscored or an error.
    """
    if isinstance(value, Mapping):
        value = value.get("verdict", value)
    value = getattr(value, "verdict", value)
    value = value.value if isinstance(value, Enum) else value
    if is_result(value):
        return None if _is_unscored(value) else value
    if type(value).__name__ == "NAType" or (isinstance(value, str) and not value.strip()):
        return None
    # numpy's float32 is not one of Python's floats; only NaN is not itself
    return None if isinstance(value, Real) and value != value else value  # noqa: PLR0124


def _is_unscored(value: Any) -> bool:
    if isinstance(value, Result):
        return value.is_unscored
    return bool(getattr(value, "unscored", False)) or getattr(value, "error", None) is not None


def is_result(value: Any) -> bool:
    """Tell whether the value is a result, or a row of a run, which says the same."""
    return hasattr(value, "passed")


def as_verdict(value: Any) -> bool | None:
    """Return True for True, 1, "pass" and "true", False for their opposites, None for all else."""
    try:
        return _VERDICTS.get(fold(value))
    except TypeError:  # not hashable, so no verdict
        return None


def fold(value: Any) -> Any:
    """Return a text without what tells no two labels apart: case, and the space around it."""
    return value.strip().casefold() if isinstance(value, str) else value


def may_be_verdict(value: Any) -> bool:
    """Tell whether a value is missing, or could be read as pass or fail."""
    return value is None or is_result(value) or as_verdict(value) is not None


def verdict_of(value: Any, row: Any, name: str) -> bool:
    """Read a value as pass or fail; raises InputError where it is neither."""
    said = value
    if is_result(value):
        said = value.label if value.passed is None else value.passed
    verdict = as_verdict(said)
    if verdict is None:
        wanted = "a result that passed or failed" if is_result(value) else "True, False, pass, fail"
        raise InputError(f"{name}, row {quote(row)}: {quote(value)} is not a verdict ({wanted})")
    return verdict


def label_of(value: Any, row: Any, name: str, other: Any) -> bool | str | Real:
    """Read a value as a verdict, or as a label where some other value is not a verdict.

    Raises InputError where it is neither.
    """
    if other is None:
        return verdict_of(value, row, name)
    label = value
    if is_result(value):  # a rating is a score without a label
        label = value.score if value.label is None and isinstance(other, Real) else value.label
    if isinstance(label, bool) or not isinstance(label, (str, Real)):
        raise InputError(
            f"{name}, row {quote(row)}: {quote(value)} is not a label, "
            f"and {quote(other)}, beside it, is not a verdict"
        )
    return label


def majority(labels: Sequence[Any]) -> Any:
    """Return the label that most people give; None where none is ahead."""
    counts: dict[Any, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    best = max(counts.values(), default=0)
    leaders = [label for label, count in counts.items() if count == best]
    return leaders[0] if len(leaders) == 1 else None
