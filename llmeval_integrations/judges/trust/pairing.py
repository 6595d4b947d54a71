"""A judge's verdicts beside a person's labels, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from numbers import Real
from os import PathLike
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result

_VERDICTS: Final[Mapping[Any, bool]] = {
    True: True,
    "true": True,
    "pass": True,
    "passed": True,
    "1": True,
    False: False,
    "false": False,
    "fail": False,
    "failed": False,
    "0": False,
}
"""In small letters; what a column of a CSV file holds is text."""


def paired(judged: Any, human: Any) -> list[tuple[Any, Any, Any]]:
    """Return `(id, judged, human)` for each row, by id where one is a mapping, else by order.

    Beside a mapping the rows of a run are paired by their own ids. Raises InputError where a row of
    one has none in the other.
    """
    if isinstance(judged, Mapping) or isinstance(human, Mapping):
        judged, human = _by_id("judged", judged), _by_id("human", human)
        _check_ids("judged", judged, human)
        _check_ids("human", human, judged)
        return [(key, value, human[key]) for key, value in judged.items()]
    left, right = rows_of("judged", judged), rows_of("human", human)
    if len(left) != len(right):
        raise InputError(
            f"judged has {len(left)} rows and human {len(right)}; "
            "give None for a row without a label"
        )
    return list(zip(range(len(left)), left, right))


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
        if isinstance(row.id, (list, dict)) or row.id in found:
            is_key = not isinstance(row.id, (list, dict))
            why = "is there twice" if is_key else "is not a key of a mapping"
            raise InputError(f"{name}: the id {quote(row.id)} {why}; give both in the same order")
        found[row.id] = row
    return found


def _check_ids(name: str, values: Mapping[Any, Any], others: Mapping[Any, Any]) -> None:
    missing = [key for key in others if key not in values]
    if missing:
        some = ", ".join(quote(key) for key in missing[:3])
        hint = "; give None for a row without a label" if name == "human" else ""
        raise InputError(f"{name} lacks {len(missing)} of the ids, such as {some}{hint}")


def rows_of(name: str, values: Any) -> list[Any]:
    """Return rows of a run or a sequence, or a mapping's values; raises InputError for a text.

    Rows of several evaluators are refused as well: each judges every sample.
    """
    if hasattr(values, "rows") and hasattr(values, "summary"):
        values = values.rows
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        hint = "; a run's directory is read by llmeval_integrations.runs.read_run"
        is_path = isinstance(values, (str, PathLike))
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
    """Return a judgement as its verdict, and None for what is missing; any other value as it is.

    A mapping with a `verdict` is a judgement too. Missing are None, NaN, pandas' NA, a text without
    letters, as an empty cell of a CSV file is, and a result that is unscored or an error.
    """
    if isinstance(value, Mapping):
        value = value.get("verdict", value)
    value = getattr(value, "verdict", value)
    value = value.value if isinstance(value, Enum) else value
    if is_result(value):
        return None if _says_nothing(value) else value
    if type(value).__name__ == "NAType" or (isinstance(value, str) and not value.strip()):
        return None
    # numpy's float32 is not one of Python's floats; only NaN is not itself
    return None if isinstance(value, Real) and value != value else value  # noqa: PLR0124


def _says_nothing(said: Any) -> bool:
    """Whether a result, or a row of a run, is unscored or an error."""
    if isinstance(said, Result):
        return said.is_unscored
    return bool(getattr(said, "unscored", False)) or getattr(said, "error", None) is not None


def is_result(value: Any) -> bool:
    """Tell whether the value is a result, or a row of a run, which says the same."""
    return hasattr(value, "passed")


def as_verdict(value: Any) -> bool | None:
    """Return True for True, 1, "pass" and "true", False for their opposites, None for all else."""
    key = folded(value)
    try:
        return _VERDICTS.get(key)
    except TypeError:  # not hashable, so no verdict
        return None


def folded(value: Any) -> Any:
    """Return a text without what tells no two labels apart: case, and the space around it."""
    return value.strip().casefold() if isinstance(value, str) else value


def verdict_of(value: Any, row: Any, name: str) -> bool:
    """Read a value that is not missing as pass or fail; raise InputError where it is neither."""
    said = value
    if is_result(value):
        said = value.label if value.passed is None else value.passed
    verdict = as_verdict(said)
    if verdict is None:
        wanted = "a result that passed or failed" if is_result(value) else "True, False, pass, fail"
        raise InputError(f"{name}, row {quote(row)}: {quote(value)} is not a verdict ({wanted})")
    return verdict


def may_be_verdict(value: Any) -> bool:
    """Tell whether a value is missing, or could be read as pass or fail."""
    return value is None or is_result(value) or as_verdict(value) is not None


def label_of(value: Any, row: Any, name: str, beside: Any) -> bool | str | Real:
    """Read a value as a verdict, or as a label where another one, `beside` it, is not a verdict."""
    if beside is None:
        return verdict_of(value, row, name)
    label = value.label if is_result(value) else value
    if isinstance(label, bool) or not isinstance(label, (str, Real)):
        raise InputError(
            f"{name}, row {quote(row)}: {quote(value)} is not a label, "
            f"and {quote(beside)}, beside it, is not a verdict"
        )
    return label
