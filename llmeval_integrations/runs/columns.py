"""Which column of the data is which field of a sample."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from math import isfinite
from numbers import Rational, Real
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import hint
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.runs.chunks import AT_ONCE
from llmeval_integrations.runs.reading.source import RowNumber, Source
from llmeval_integrations.runs.rows import members_of, write_value

FIELDS: Final[tuple[str, ...]] = Sample.__struct_fields__

VARIABLES: Final = "variables"

_ID: Final = FIELDS.index("id")
_VARIABLES: Final = FIELDS.index(VARIABLES)
_GROUP: Final = FIELDS.index("group")
_MAY_BE_EMPTY: Final = (FIELDS.index("schema"), _GROUP)

_OF_THE_SAMPLE: Final = ("id", "group")
"""The fields that no evaluator looks at."""

NUMBERS: Final = "numbers of rows"
"""Where ids come from that are not in the data."""

_BEGIN_NUMBERS: Final = b"-0123456789"


def parse_column(text: str) -> tuple[str, str | None]:
    """Take `[EVALUATOR.]FIELD=COLUMN` apart into what stands before and after the sign.

    The field may be one of the variables, as `variables.tools`. Without a column it has none.
    """
    target, sign, column = text.partition("=")
    if not (target and sign):
        raise InputError(f"--column {text!r} is not [EVALUATOR.]FIELD=COLUMN")
    return target, column or None


class Columns(msgspec.Struct, frozen=True):
    """The columns from which the samples of one or more evaluators are made."""

    of: tuple[str | None, ...]
    """The column of each field, in the order of FIELDS; unless told otherwise of the same name.
    None for a field that no column is."""

    named: tuple[str, ...] = ()
    """The columns that somebody asked for by name: a row without one of them is an error."""

    variables: tuple[tuple[str, str | None], ...] = ()
    """The names of single variables, each with its column."""

    unit: str = ""
    """What is written before the number of a row without an id, where other rows have ids that it
    must not equal; empty where the number alone is the id, and no number in a row may equal it."""

    group_variable: str = ""
    """The variable that is the group; empty where a column is."""

    @property
    def ids(self) -> str:
        """Where ids come from, as a manifest says it."""
        return "data" if self.unit else NUMBERS

    def sample(self, row: Any, number: RowNumber) -> Sample | InputError:
        """Make the sample of a row, or give the InputError that says why there is none.

        Raises it, too, where a cell that is looked at cannot be read.

        A null is what a model gave that wrote nothing, and any other field's absence; so is an
        empty text as schema or group, as a CSV file has it.
        """
        if type(row) is not dict:
            if isinstance(row, InputError):
                return row
            row = _as_mapping(row)
        for column in self.named:
            if column not in row:
                return InputError(_lacks(row, column))
        get = row.get
        cells = [get(column) for column in self.of]
        own = cells[_ID]
        if (type(own) is not str or not own) and (type(own) is not int or not self.unit):
            cells[_ID] = self._unlike_others(own, number)
        if self.variables:
            cells[_VARIABLES] = self._variables(get, cells[_VARIABLES])
        if self.group_variable:
            given = cells[_VARIABLES] or {}
            if self.group_variable not in given:
                return InputError(
                    f"no variable {self.group_variable!r}, which is the group; "
                    f"{hint(self.group_variable, given)}"
                )
            cells[_GROUP] = given[self.group_variable]
        for place in _MAY_BE_EMPTY:
            if type(cells[place]) is str and not cells[place]:
                cells[place] = None
        if cells[0] is None and self.of[0] not in row:
            return InputError(_lacks(row, str(self.of[0])))
        output, *others = cells
        return Sample(output, *[MISSING if cell is None else cell for cell in others])

    def _variables(self, get: Callable[[str | None], Any], given: Any) -> dict[str, Any] | None:
        """Put together the variables of a row and those with a column of their own."""
        found = dict(given) if isinstance(given, Mapping) else {}
        for name, column in self.variables:
            value = get(column)
            if value is not None:
                found[name] = value
        return found or None

    def id(self, row: Any, number: RowNumber) -> Any:
        """Return a row's id: what stands in its column, else, also of a null, where the row is."""
        own = self._own_id(row)
        return own if type(own) is str and own else self._unlike_others(own, number)

    def has_id(self, row: Any) -> bool:
        """Whether an id stands in a row."""
        return not _is_no_id(self._own_id(row))

    def _own_id(self, row: Any) -> Any:
        try:
            return None if isinstance(row, InputError) else _as_mapping(row).get(self.of[_ID])
        except InputError:  # of a cell that cannot be read
            return None

    @property
    def id_column(self) -> str | None:
        """The column of ids."""
        return self.of[_ID]

    def _unlike_others(self, own: Any, number: RowNumber) -> Any:
        """Return an id that is not a text, so that no made-up one equals one that stands in a row.

        Where numbers alone are made up, a number that stands in a row is written as a text.
        """
        if _is_no_id(own):
            place = number[0] if isinstance(number, tuple) else number
            return f"{self.unit} {place}" if self.unit else place
        if self.unit or (written := write_value(own))[0] not in _BEGIN_NUMBERS:
            return own
        return f"id {written.decode()}"

    def missing(self, row: Any, field: str, evaluator: str) -> MissingFieldError:
        """Word the error for a row without a field that the evaluator needs."""
        column = self.of[FIELDS.index(field)]
        row, why = _as_mapping(row), f" ({evaluator} needs it)"
        if column is None:
            return MissingFieldError(f"{evaluator} needs the {field}, which no column is")
        if field == VARIABLES:
            why = f" ({evaluator} needs it; columns may name that of one, as variables.tools)"
        return MissingFieldError(_null(column, why) if column in row else _lacks(row, column, why))


def columns_by_evaluator(
    mapping: Mapping[str, str | None], evaluators: Collection[str]
) -> dict[str, Columns]:
    """Work out the columns of each evaluator; those that agree share one object.

    The mapping goes from `FIELD` or `EVALUATOR.FIELD` to a column, or None where no column is that
    field, the second before the first; `variables.NAME` is a field, too, and as a column of `group`
    a variable that the rows have.
    Raises InputError for a field or an evaluator that there is not.
    """
    if not isinstance(mapping, Mapping):
        raise InputError(f"columns={mapping!r} is not a mapping such as {{'output': 'response'}}")
    parts = {target: _parts(target, evaluators) for target in mapping}
    for target, column in mapping.items():
        _check(target, column, parts[target], evaluators)
    made: dict[Columns, Columns] = {}
    chosen = {}
    for evaluator in evaluators:
        own: dict[str, str | None] = {}
        variables: dict[str, str | None] = {}
        for who in ("", evaluator):
            for target, (of, field, name) in parts.items():
                if of == who:
                    (variables if name else own)[name or field] = mapping[target]
        group_variable = _variable(own.get("group"))
        if group_variable:
            own["group"] = None
        named = (*(own[field] for field in FIELDS if field in own), *variables.values())
        columns = Columns(
            tuple(own.get(field, field) for field in FIELDS),
            tuple(column for column in named if column is not None),
            tuple(variables.items()),
            group_variable=group_variable,
        )
        chosen[evaluator] = made.setdefault(columns, columns)
    return chosen


def _variable(column: str | None) -> str:
    """Return the variable that `variables.NAME` names, nothing of a column."""
    before, _, name = (column or "").partition(".")
    return name if before == VARIABLES else ""


def with_ids_of(source: Source, columns: dict[str, Columns]) -> dict[str, Columns]:
    """Return columns whose rows without an id are called by their place, where others have ids.

    The first rows decide for all, so that it is the same in every process, and where a run is
    resumed.
    """
    first = next(iter(columns.values()))
    has_ids = any(first.has_id(row) for _, row in source.ahead(AT_ONCE))
    return called_by_place(columns) if has_ids else columns


def optional_columns(source: Source, columns: Mapping[str, Columns]) -> dict[str, str]:
    """Return which column is the `schema` of a row, or its `group`, as the first rows have them.

    Where evaluators have columns of their own, the names are those of all.
    """
    rows = [row for _, row in source.ahead(AT_ONCE) if not isinstance(row, InputError)]
    present = {column for row in rows for column in _as_mapping(row)}
    found: dict[str, str] = {}
    for field in ("schema", "group"):
        of_field = dict.fromkeys(each.of[FIELDS.index(field)] for each in columns.values())
        taken = [repr(column) for column in of_field if column in present]
        if taken:
            found[field] = " and ".join(taken)
    return found


def absent_columns(
    source: Source, columns: Mapping[str, Columns], evaluators: Mapping[str, Evaluator]
) -> list[str]:
    """Word which columns are looked for that none of the first rows has.

    These are columns that somebody named, outputs, and what an evaluator needs.
    """
    rows = [row for _, row in source.ahead(AT_ONCE) if not isinstance(row, InputError)]
    present = dict.fromkeys(column for row in rows for column in _as_mapping(row))
    absent = {}
    for name, each in columns.items() if rows else ():
        needed = [each.of[FIELDS.index(field)] for field in ("output", *evaluators[name].needs)]
        for column in (*each.named, *needed):
            if column is not None and column not in present and column not in absent:
                absent[column] = hint(column, list(map(str, present)))
    count = "the first row has" if len(rows) == 1 else f"none of the first {len(rows)} rows has"
    no = "no " if len(rows) == 1 else "a "
    return [f"{count} {no}column {column!r}; {meant}" for column, meant in absent.items()]


def called_by_place(columns: dict[str, Columns]) -> dict[str, Columns]:
    """Return columns whose rows without an id are called by their place, and not by a number.

    A number would be taken for the id of another row.
    """
    return {name: msgspec.structs.replace(each, unit="row") for name, each in columns.items()}


def _is_no_id(own: Any) -> bool:
    """Whether this is null, an empty text, or a number that JSON has no form for."""
    if own is None or (isinstance(own, str) and not own):
        return True
    if isinstance(own, Decimal):
        return not own.is_finite()
    return isinstance(own, Real) and not isinstance(own, Rational) and not isfinite(own)


def _parts(target: object, evaluators: Collection[str]) -> tuple[str, str, str]:
    """Return evaluator, field and variable of `[EVALUATOR.]FIELD` or `[EVALUATOR.]variables.NAME`.

    What does not stand there is empty.
    """
    before, _, last = str(target).rpartition(".")
    evaluator, _, field = before.rpartition(".")
    if field == VARIABLES and before not in evaluators:
        return evaluator, field, last
    return before, last, ""


def _check(
    target: object, column: object, parts: tuple[str, str, str], evaluators: Collection[str]
) -> None:
    if not isinstance(target, str) or not (isinstance(column, str) or column is None):
        raise InputError(f"columns: {target!r}={column!r} is not a field and a column's name")
    evaluator, field, _ = parts
    if column is None and field == "output":
        raise InputError(f"columns: {target!r}: the output has to be a column")
    if field not in FIELDS:
        raise InputError(f"columns: no field is called {field!r}; {hint(field, FIELDS)}")
    if evaluator and evaluator not in evaluators:
        raise InputError(
            f"columns: no evaluator of this run is called {evaluator!r}; "
            f"{hint(evaluator, evaluators)}"
        )
    if evaluator and field in _OF_THE_SAMPLE:
        raise InputError(
            f"columns: {target!r}: the {field} belongs to the sample, not to an evaluator"
        )


def _null(column: str, why: str = "") -> str:
    return f'null in column {column!r}{why}; JSON null is the text "null"'


def _lacks(row: Mapping[str, Any], column: str, why: str = "") -> str:
    others = ", ".join(map(repr, row))
    if not others:
        return f"nothing in column {column!r}{why}, nor in any other"
    return f"nothing in column {column!r}{why}, only in {others}"[:300]


def _as_mapping(row: Mapping[Any, Any] | Sample) -> Mapping[Any, Any]:
    """Return a sample's fields as columns, without those that it lacks."""
    return members_of(row) if isinstance(row, Sample) else row
