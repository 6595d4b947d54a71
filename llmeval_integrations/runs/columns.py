"""Which column of the data is which field of a sample."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import hint
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.runs.data.source import Source
from llmeval_integrations.runs.rows import fields_of

NUMBERS: Final = "numbers of rows"
"""Where ids come from that are not in the data."""

_FIELDS: Final[tuple[str, ...]] = Sample.__struct_fields__
_ID, _GROUP, _SCHEMA, _VARS = map(_FIELDS.index, ("id", "group", "schema", "variables"))
_EMPTY_IS_ABSENT: Final = (_ID, _GROUP, _SCHEMA)
_VARIABLES: Final = "variables"
_NO_FIELDS: Final = (None, *(MISSING,) * (len(_FIELDS) - 1))
"""A sample without an output, which is None, and without all other fields."""


def parse_column(text: str) -> tuple[str, str | None]:
    """Split `[EVALUATOR.]FIELD=COLUMN`; without a column, the field has none."""
    target, sign, column = text.partition("=")
    if not (target and sign):
        raise InputError(f"--column {text!r} is not [EVALUATOR.]FIELD=COLUMN")
    return target, column or None


class Columns(msgspec.Struct, frozen=True, dict=True):
    """The columns from which the samples of one or more evaluators are made."""

    of: tuple[str | None, ...]
    """The column of each field of a sample, in their order; None for a field that no column is."""

    named: tuple[str, ...] = ()
    """The columns that somebody named: a row without one of them is an error."""

    variables: tuple[tuple[str, str | None], ...] = ()
    """The names of single variables, each with its column."""

    group_variable: str = ""
    """The variable that is the group; empty where a column is."""

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The fields that each column is, by their places."""
        places: dict[str, list[int]] = {}
        for place, column in enumerate(self.of):
            if column is not None:
                places.setdefault(column, []).append(place)
        return places

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The columns without which a row is no sample."""
        return (*self.named, str(self.of[0]))

    def sample(self, row: Any, number: int) -> Sample | InputError:
        """Make the sample of a row, or give the InputError that says why there is none.

        A null is what a model gave that wrote nothing, and any other field's absence; so is an
        empty text as id, schema or group, as a CSV file has it.
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
            if cell is not None and column in places:
                for place in places[column]:
                    fields[place] = cell
        if (self.variables or self.group_variable) and (error := self._add_variables(row, fields)):
            return error
        for place in _EMPTY_IS_ABSENT:
            if fields[place] == "":
                fields[place] = MISSING
        if fields[_ID] is MISSING:
            fields[_ID] = number
        return Sample(*fields)

    def _add_variables(self, row: Mapping[Any, Any], fields: list[Any]) -> InputError | None:
        """Add the variables that have columns of their own, and take the group from them."""
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
        """Return the id of a row, its number where it has none."""
        own = None if isinstance(row, InputError) else fields_of(row).get(str(self.column("id")))
        return number if own is None or own == "" else own

    def column(self, field: str) -> str | None:
        """Return the column of a field."""
        return self.of[_FIELDS.index(field)]

    def missing_field_error(self, row: Any, field: str, evaluator: str) -> MissingFieldError:
        """Word the error for a row without a field that the evaluator needs."""
        column, row = self.column(field), fields_of(row)
        if column is None:
            return MissingFieldError(f"{evaluator} needs the {field}, which no column is")
        single = "; columns may name that of one, as variables.tools"
        why = f" ({evaluator} needs it{single if field == _VARIABLES else ''})"
        null = f'null in column {column!r}{why}; JSON null is the text "null"'
        return MissingFieldError(null if column in row else _lacks(row, column, why))

    def list_needed(self, evaluator: Evaluator) -> list[str]:
        """Return the columns without which no row can be evaluated."""
        fields = {"output", *evaluator.needs}
        if self.variables:  # what the evaluator needs of them may all have columns of its own
            fields.discard(_VARIABLES)
        columns = [*self.named, *(self.column(field) for field in _FIELDS if field in fields)]
        return [column for column in columns if column is not None]


def columns_by_evaluator(
    mapping: Mapping[str, str | None], evaluators: Collection[str]
) -> dict[str, Columns]:
    """Return the columns of each evaluator; those that agree share one object.

    The mapping goes from `FIELD` or `EVALUATOR.FIELD` to a column, or None where no column is that
    field, the second before the first; `variables.NAME` is a field, too, and as a column of `group`
    a variable that the rows have.
    Raises InputError for a field or an evaluator that there is not.
    """
    targets = [(*_parse(target, column, evaluators), column) for target, column in mapping.items()]
    made: dict[Columns, Columns] = {}
    chosen = {}
    for evaluator in evaluators:
        own: dict[str, str | None] = {}
        variables: dict[str, str | None] = {}
        for owner in ("", evaluator):
            for of, field, name, column in targets:
                if of == owner:
                    (variables if name else own)[name or field] = column
        before, _, group = (own.get("group") or "").partition(".")
        group = group if before == _VARIABLES else ""
        own |= {"group": None} if group else {}
        named = (*(own.get(field) for field in _FIELDS), *variables.values())
        columns = Columns(
            tuple(own.get(field, field) for field in _FIELDS),
            tuple(column for column in named if column is not None),
            tuple(variables.items()),
            group,
        )
        chosen[evaluator] = made.setdefault(columns, columns)
    return chosen


def _parse(target: str, column: str | None, evaluators: Collection[str]) -> tuple[str, str, str]:
    """Return evaluator, field and variable of `[EVALUATOR.]FIELD` or `[EVALUATOR.]variables.NAME`.

    What does not stand there is empty.
    """
    evaluator, _, field = target.rpartition(".")
    owner, _, parent = evaluator.rpartition(".")
    name = ""
    if parent == _VARIABLES and evaluator not in evaluators:
        evaluator, field, name = owner, parent, field
    if field not in _FIELDS:
        raise InputError(f"columns: no field is called {field!r}; {hint(field, _FIELDS)}")
    if column is None and field == "output":
        raise InputError(f"columns: {target!r}: the output has to be a column")
    if evaluator and evaluator not in evaluators:
        known = hint(evaluator, evaluators)
        raise InputError(f"columns: no evaluator of this run is called {evaluator!r}; {known}")
    if evaluator and field in ("id", "group"):
        raise InputError(f"columns: {target!r}: the {field} is the sample's, not an evaluator's")
    return evaluator, field, name


def describe_columns(
    source: Source, columns: Mapping[str, Columns], evaluators: Mapping[str, Evaluator]
) -> tuple[dict[str, str], list[str]]:
    """Say what the first rows tell of the columns.

    That is which column is the `schema` of a row, or its `group`, by name those of all evaluators;
    and in words, which are looked for that none of the rows has.
    """
    rows = [fields_of(row) for _, row in source.peek() if not isinstance(row, InputError)]
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
    """Return where ids come from, as a manifest says it: the data, or the numbers of the rows."""
    first = next(iter(columns.values()))
    has_ids = any(first.id(row, None) is not None for _, row in source.peek())
    return "data" if has_ids else NUMBERS


def _lacks(row: Mapping[str, Any], column: str, why: str = "") -> str:
    others = f"only in {', '.join(map(repr, row))}" if row else "nor in any other"
    return f"nothing in column {column!r}{why}, {others}"[:300]
