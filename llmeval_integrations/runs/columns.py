"""Maps columns of the data to fields of a sample."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import hint
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.runs.data.source import Source, parse_records
from llmeval_integrations.runs.rows import fields_of

NUMBERS: Final = "numbers of rows"  # the source of ids that are not in the data
_FIELDS: Final[tuple[str, ...]] = Sample.__struct_fields__
_ID, _GROUP, _SCHEMA, _VARS = map(_FIELDS.index, ("id", "group", "schema", "variables"))
_ABSENT: Final = (MISSING, "")
_VARIABLES: Final = "variables"
_PREFIX: Final = "variables."
_NO_FIELDS: Final = (None, *(MISSING,) * (len(_FIELDS) - 1))
"""A sample without an output, which is None, and without all other fields."""


def parse_column(text: str) -> tuple[str, str | None]:
    """Split `[EVALUATOR.]FIELD=COLUMN`. An empty column is None."""
    target, sign, column = text.partition("=")
    if not (target and sign):
        raise InputError(f"--column {text!r} is not [EVALUATOR.]FIELD=COLUMN")
    return target, column or None


class Columns(msgspec.Struct, frozen=True, dict=True):
    """The columns from which the samples of one or more evaluators are made."""

    by_field: tuple[str | None, ...]
    """The column of each field of a sample, in their order; None for a field without a column."""

    required: tuple[str, ...]
    """The columns that the caller named, and that of the output. A row needs all of them."""

    variables: tuple[tuple[str, str | None], ...] = ()  # single variables and their columns
    group_variable: str = ""  # the variable that is the group; empty if a column is

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The places of the fields of each column."""
        places: dict[str, list[int]] = {}
        for place, column in enumerate(self.by_field):
            if column is not None:
                places.setdefault(column, []).append(place)
        return places

    def sample(self, row: Any, number: int) -> Sample | InputError:
        """Return the sample of a row, or the InputError that says why there is none.

        A null output is an empty answer. Any other field with null is absent, and so is an id,
        schema or group with an empty text, as CSV files have it.
        """
        if type(row) is not dict:
            if isinstance(row, InputError):
                return row
            row = fields_of(row)
        for column in self.required:
            if column not in row:
                return InputError(_lacks(row, column))
        fields: list[Any] = [*_NO_FIELDS]
        places = self.places
        for column, cell in row.items():  # a row has fewer columns than there are fields
            if cell is not None:
                for place in places.get(column, ()):
                    fields[place] = cell
        if (self.variables or self.group_variable) and (error := self._add_variables(row, fields)):
            return error
        if fields[_ID] in _ABSENT:
            fields[_ID] = number
        if fields[_GROUP] == "":
            fields[_GROUP] = MISSING
        if fields[_SCHEMA] == "":
            fields[_SCHEMA] = MISSING
        return Sample(*fields)

    def _add_variables(self, row: Mapping[Any, Any], fields: list[Any]) -> InputError | None:
        """Add the variables with columns of their own, and take the group from the variables."""
        given, group = fields[_VARS], self.group_variable
        found = dict(given) if isinstance(given, Mapping) else {}
        own = {name: row.get(column) for name, column in self.variables}
        found |= {name: value for name, value in own.items() if value is not None}
        fields[_VARS] = found or given
        if group and group not in found:
            return InputError(f"no variable {group!r} for the group; {hint(group, found)}")
        if group:
            fields[_GROUP] = MISSING if found[group] is None else found[group]
        return None

    def id(self, row: Any, number: int | None) -> Any:
        """Return the id of a row, or its number if it has none."""
        own = None if isinstance(row, InputError) else fields_of(row).get(str(self.column("id")))
        return number if own is None or own == "" else own

    def column(self, field: str) -> str | None:
        """Return the column of a field."""
        return self.by_field[_FIELDS.index(field)]

    def make_field_error(self, row: Any, field: str, evaluator: str) -> MissingFieldError:
        """Return the error for a row without a field that the evaluator needs."""
        column, row = self.column(field), fields_of(row)
        if column is None:
            return MissingFieldError(f"{evaluator} needs the {field}, and it has no column")
        single = "; or map one variable, such as variables.tools" if field == _VARIABLES else ""
        why = f" ({evaluator} needs it{single})"
        null = f'null in column {column!r}{why}; JSON null is the text "null"'
        return MissingFieldError(null if column in row else _lacks(row, column, why))

    def list_needed(self, evaluator: Evaluator) -> list[str]:
        """Return the columns that the evaluator needs."""
        # Single variables may be all that it needs.
        fields = {*evaluator.needs} - ({_VARIABLES} if self.variables else set())
        columns = (self.column(field) for field in _FIELDS if field in fields)
        return [*self.required, *(column for column in columns if column is not None)]


def columns_by_evaluator(
    mapping: Mapping[str, str | None], evaluators: Collection[str]
) -> dict[str, Columns]:
    """Return the columns of each evaluator. Evaluators with equal columns share one object.

    The mapping goes from `FIELD` or, with precedence, `EVALUATOR.FIELD` to a column, or to None for
    no column. `variables.NAME` is a field, too. As the column of `group` it is a variable.
    Raises InputError for an unknown field or evaluator.
    """
    targets = [(*_parse(target, column, evaluators), column) for target, column in mapping.items()]
    made: dict[Columns, Columns] = {}
    chosen = {}
    for evaluator in evaluators:
        own: dict[str, str | None] = {}
        for owner in ("", evaluator):
            own |= {field: column for name, field, column in targets if name == owner}
        group = own.get("group") or ""
        if group.startswith(_PREFIX):
            own["group"] = None
        columns = Columns(
            tuple(own.get(field, field) for field in _FIELDS),
            (*(each for each in own.values() if each is not None), own.get("output") or "output"),
            tuple((each[len(_PREFIX) :], own[each]) for each in own if each.startswith(_PREFIX)),
            group.removeprefix(_PREFIX) if group.startswith(_PREFIX) else "",
        )
        chosen[evaluator] = made.setdefault(columns, columns)
    return chosen


def _parse(target: str, column: str | None, evaluators: Collection[str]) -> tuple[str, str]:
    """Return the evaluator, or an empty text, and the field of `[EVALUATOR.]FIELD`."""
    evaluator, field = "", target
    if not target.startswith(_PREFIX):
        named = (name for name in evaluators if target.startswith(f"{name}."))
        evaluator = max(named, key=len, default=target.rpartition(".")[0])
        field = target.removeprefix(f"{evaluator}.")
    if field not in _FIELDS and not field.startswith(_PREFIX):
        raise InputError(f"columns: no field is called {field!r}; {hint(field, _FIELDS)}")
    if column is None and field == "output":
        raise InputError(f"columns: {target!r}: the output needs a column")
    if evaluator and evaluator not in evaluators:
        known = hint(evaluator, evaluators)
        raise InputError(f"columns: no evaluator of this run is called {evaluator!r}; {known}")
    if evaluator and field in ("id", "group"):
        raise InputError(f"columns: {target!r}: the {field} is the same for all evaluators")
    return evaluator, field


def describe_columns(
    source: Source, columns: Mapping[str, Columns], evaluators: Mapping[str, Evaluator]
) -> tuple[dict[str, str], list[str]]:
    """Return the columns of `schema` and `group`, and warnings of columns that the rows lack.

    Only the first rows are read.
    """
    first = parse_records(source.peek())
    rows = [fields_of(row) for _, row in first if not isinstance(row, InputError)]
    present = dict.fromkeys(column for row in rows for column in row)
    taken = {}
    for field in ("schema", "group"):
        own = dict.fromkeys(each.column(field) for each in columns.values())
        if names := [repr(column) for column in own if column in present]:
            taken[field] = " and ".join(names)
    needed = [
        column for name, own in columns.items() for column in own.list_needed(evaluators[name])
    ]
    none = f"none of the first {len(rows)} rows has a" if len(rows) > 1 else "the first row has no"
    absent = [
        f"{none} column {column!r}; {hint(column, list(map(str, present)))}"
        for column in dict.fromkeys(needed)
        if rows and column not in present
    ]
    return taken, absent


def ids_of(source: Source, columns: Mapping[str, Columns]) -> str:
    """Return the source of the ids: the data, or the numbers of the rows."""
    first = next(iter(columns.values()))
    rows = parse_records(source.peek())
    has_ids = any(first.id(row, None) is not None for _, row in rows)
    return "data" if has_ids else NUMBERS


def _lacks(row: Mapping[str, Any], column: str, why: str = "") -> str:
    others = f"only in {', '.join(map(repr, row))}" if row else "nor in any other"
    return f"nothing in column {column!r}{why}, {others}"[:300]
