"""A table's results as further columns of it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import hint
from llmeval_integrations.evaluators.text import to_storable_text
from llmeval_integrations.runs.columns import FIELDS, VARIABLES, Columns, columns_by_evaluator
from llmeval_integrations.runs.naming import name_evaluators
from llmeval_integrations.runs.rows import Row, write_value
from llmeval_integrations.runs.running import evaluate

KINDS: Final[dict[str, type]] = {
    "": float,
    "_passed": bool,
    "_label": str,
    "_reason": str,
    "_error": str,
    "_metadata": str,
}
"""What stands behind the evaluator's name in a column's, and the type of its cells."""


_ASKING: Final = ("concurrency", "cache", "frozen", "max_cost", "max_tokens")


class RowErrorWarning(UserWarning):
    """Rows could not be evaluated; their errors stand in a column."""


class TableEvaluation:
    """Evaluators and the columns of one table that they look at.

    Gives five new columns for each evaluator: NAME is its score, then come NAME_passed, NAME_label,
    NAME_reason and NAME_error, and with `metadata` also NAME_metadata, as JSON. An unscored row has
    no score, but a reason and perhaps a label. A row that an evaluator cannot look at has nothing
    but an error, and a RowErrorWarning says how many there are. Of half a surrogate pair, which no
    column of texts can hold, the escape is written.

    The options of judges are those of `evaluate`. Raises InputError for a column that is not there,
    for one that would be overwritten though it is read, and for two new ones of one name;
    InvalidOptionError for what is not an evaluator, and for an option that there is not.
    """

    def __init__(
        self,
        present: Collection[str],
        evaluators: Mapping[str, Evaluator] | Sequence[Evaluator],
        *,
        columns: Mapping[str, str | None] | None = None,
        metadata: bool = False,
        **asking: Any,
    ) -> None:
        for option in asking:
            if option not in _ASKING:
                known = ("columns", "metadata", *_ASKING)
                raise InvalidOptionError(f"no option is called {option!r}; {hint(option, known)}")
        self._evaluators = name_evaluators(evaluators)
        self._columns = columns
        self._asking = asking
        self._kinds = {end: kind for end, kind in KINDS.items() if metadata or end != "_metadata"}
        self.read: list[str] = []
        """The columns that are read."""
        for column in columns.values() if isinstance(columns, Mapping) else ():
            if not isinstance(column, (str, type(None))) and column in present:
                raise InputError(f"the name of column {column!r} is not a text; rename it")
        for name, own in columns_by_evaluator(columns or {}, self._evaluators).items():
            self._find(own, present, ("output", *self._evaluators[name].needs), name)
        self._check_new()

    def _check_new(self) -> None:
        names = [f"{name}{end}" for name in self._evaluators for end in self._kinds]
        for column in names:
            if names.count(column) > 1:
                raise InputError(
                    f"two new columns would be called {column!r}; give one of the evaluators "
                    "another name: {name: evaluator}"
                )
            if column in self.read:
                raise InputError(
                    f"column {column!r} is read and would be overwritten; give the evaluator "
                    "another name: {name: evaluator}"
                )

    def _find(
        self, columns: Columns, present: Collection[str], needed: Collection[str], evaluator: str
    ) -> None:
        if columns.variables:  # what the evaluator needs of them may all have columns of its own
            needed = [field for field in needed if field != VARIABLES]
        for field, column in (*zip(FIELDS, columns.of), *columns.variables):
            if column is not None and column in present:
                self.read += [column] * (column not in self.read)
            elif field in needed or column in columns.named:
                raise InputError(
                    f"{evaluator}: the {field} is column {column!r}, and there are only "
                    f'{list(present)!r:.300}; name another with columns={{"{field}": ...}}'
                )

    @property
    def kinds(self) -> dict[str, type]:
        """The new columns, with the type of their cells."""
        ends = self._kinds.items()
        return {f"{name}{end}": kind for name in self._evaluators for end, kind in ends}

    def columns(self, table: Any) -> dict[str, list[Any]]:
        """Evaluate a table; give the new columns, in which None is not a value."""
        rows = evaluate(table, self._evaluators, columns=self._columns, **self._asking).rows
        made: dict[str, list[Any]] = {column: [] for column in self.kinds}
        for row in rows:
            for end, cell in zip(self._kinds, _cells(row)):
                made[f"{row.evaluator}{end}"].append(cell)
        for name in self._evaluators:
            _tell(name, made[f"{name}_error"])
        return made


def _cells(row: Row) -> Iterator[Any]:
    yield None if row.score is None else float(row.score)
    yield row.passed
    for text in (row.label, row.reason, row.error):
        yield text if text is None or text.isascii() else to_storable_text(text)
    yield write_value(row.metadata).decode() if row.metadata else None


def _tell(name: str, column: list[str | None]) -> None:
    errors = [error for error in column if error is not None]
    if errors:
        warnings.warn(
            f"{name}: {len(errors)} of {len(column)} rows were not evaluated; "
            f"the first: {errors[0]}",
            RowErrorWarning,
            stacklevel=4,
        )
