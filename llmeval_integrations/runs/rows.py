"""Rows of a run, in memory and on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.json_values.python_values import dump_model

_LARGEST: Final = 10**4300
"""The first of the integers that Python refuses to write, save as Decimals."""


Key = str | int | tuple[str]
"""An id or a group, so that it can be looked up."""


class Row(msgspec.Struct, gc=False, omit_defaults=True):  # nothing that it holds refers to it
    """What one evaluator said about one sample."""

    id: Any
    """The sample's id; where it has none, the number of its row, or its place ("line 5") in data
    that has ids. Where none of the first eight rows has one, an id that is a number is a text,
    "id 5", so that it is no other row's number."""

    evaluator: str
    """The evaluator's name in this run."""

    score: float | None
    """The figure; None where unscored or an error."""

    passed: bool | None
    """Whether the output is good enough; None where the evaluator does not say."""

    label: str | None
    """A short name of what was found."""

    reason: str | None
    """Why, in words."""

    metadata: dict[str, Any]
    """Details, by name."""

    unscored: bool
    """Whether the evaluator could not tell."""

    error: str | None
    """Why there is no result: the error's type and text."""

    group: Any = None
    """The sample's group; None where it has none."""


class Column(msgspec.Struct):
    """One evaluator's rows for a chunk."""

    rows: list[Row]
    """In the order of the chunk."""

    scores: list[float]
    """Of the plain rows: those that passed and have no label and no group, so that nothing else is
    counted."""

    others: list[int]
    """The places of all other rows."""


@dataclass(frozen=True)
class StoredRows:
    """The rows of a run's file, read anew whenever they are iterated over."""

    path: Path
    """The file."""

    count: int
    """How many there are."""

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Row]:
        return read_rows(self.path)


def write_rows(rows: list[Row]) -> bytes:
    """Write rows as JSON Lines.

    A value of no JSON type is written as its `repr`; NaN, which JSON lacks, as null or as text.
    """
    try:
        return _encoder.encode_lines(rows)
    except (ValueError, TypeError, RecursionError, OverflowError):
        return b"".join(write_value(row) + b"\n" for row in rows)


def read_row(line: bytes) -> Row:
    """Read a row as `write_rows` writes it."""
    try:
        return _decode_row(line)
    except (ValueError, RecursionError):
        return msgspec.convert(decode_as_python(line.decode()), Row)


def read_many(lines: bytes) -> list[Row]:
    """Read rows as `write_rows` writes them."""
    try:
        return _decode_rows(lines)
    except (ValueError, RecursionError):
        return [*map(read_row, lines.splitlines())]


def read_rows(path: Path) -> Iterator[Row]:
    """Read a file of rows, but for one at its end that is being written.

    Raises InputError where a line is not a row.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = read_row(line)
            except (ValueError, TypeError, RecursionError) as error:
                raise InputError(f"{path}: line {number} is not a row: {error}") from error
            yield row


def as_plain(value: Any) -> Any:
    """Return another library's number as Python's, what a Pydantic model dumps, else a text."""
    if isinstance(value, int):
        return str(Decimal(value))
    try:
        if isinstance(value, Integral):
            number = int(value)  # for a float makes one of two large ones
            return number if abs(number) < _LARGEST else str(Decimal(number))
        if hasattr(type(value), "model_dump"):
            return dump_model(value)
        return float(value) if isinstance(value, Real) and isfinite(value) else repr(value)
    except Exception:  # noqa: BLE001 - a repr may raise anything, and the row must be written
        return quote(value)


_encoder = msgspec.json.Encoder(enc_hook=as_plain, decimal_format="number")
_ordered_encoder = msgspec.json.Encoder(
    enc_hook=as_plain, decimal_format="number", order="deterministic"
)

_decode_row = msgspec.json.Decoder(Row).decode
_decode_rows = msgspec.json.Decoder(Row).decode_lines


def write_value(value: Any) -> bytes:
    """Write any value as JSON, in one line, in the way of `write_rows`; of a sample what it has."""
    try:
        return _encoder.encode(value)
    except (ValueError, TypeError, RecursionError, OverflowError):
        return _write(value).encode()


def as_stored(value: Any) -> Any:
    """Return a value as it is read again where it was written: in JSON's types."""
    if type(value) is str or (type(value) is int and abs(value) < _LARGEST):
        return value
    return decode_as_python(write_value(value).decode())


def key_of(value: Any) -> Key:
    """Make a key of an id or a group; keys are equal where these are equal in JSON."""
    if type(value) is str or type(value) is int:
        return value
    written = write_value(value)
    try:
        value = msgspec.json.decode(written)
    except ValueError:
        value = decode_as_python(written.decode())  # a number beyond a float's range
    if type(value) is float and value.is_integer():
        return int(value)
    return value if type(value) in {str, int} else (canonical(value),)


def is_failing(row: Row) -> bool:
    """Whether the sample of a row is kept, for people to look at."""
    return row.passed is False or row.unscored or row.error is not None


def by_sample(columns: Sequence[Column]) -> list[Row]:
    """Return the rows sample by sample, each with one row of every evaluator."""
    return list(chain.from_iterable(zip(*(column.rows for column in columns), strict=True)))


def sample_lines(
    columns: Sequence[Column], sample_of: Callable[[int], object]
) -> Iterator[tuple[int, bytes]]:
    """Write the samples with a row that did not pass; gives their places, and each line's rest.

    Its beginning is the sample's place among all, which only who writes the file knows.
    """
    failing = {
        place for column in columns for place in column.others if is_failing(column.rows[place])
    }
    for place in sorted(failing):
        yield place, write_value(sample_of(place))[1:] + b"\n"


def members_of(struct: msgspec.Struct) -> dict[str, Any]:
    """Return the fields by name, but for what is absent."""
    fields = {name: getattr(struct, name) for name in struct.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not MISSING}


def write_in_order(value: Any) -> bytes:
    """Write any value as JSON that is the same in every process, with sets and keys sorted."""
    try:
        return _ordered_encoder.encode(value)
    except (ValueError, TypeError, RecursionError, OverflowError):
        return _write(value).encode()


def _as_encoded(value: Any) -> Any:
    """Give a value in JSON's types as the encoders write it, but for Decimals, which stay.

    A set is sorted, also one whose members have no order.
    """
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=write_in_order)
    return msgspec.to_builtins(value, enc_hook=as_plain, builtin_types=(Decimal,))


def _write(value: Any) -> str:
    """Write a value with Python's own encoder, which escapes lone surrogates, else part by part."""
    if isinstance(value, msgspec.Struct):
        value = members_of(value)
    elif hasattr(type(value), "model_dump"):
        value = as_plain(value)
    try:
        return json.dumps(value, default=_as_encoded, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        pass
    try:
        if type(value) is dict:
            members = (f"{_write(str(key))}: {_write(item)}" for key, item in value.items())
            return f"{{{', '.join(members)}}}"
        if type(value) in {list, tuple}:
            return f"[{', '.join(map(_write, value))}]"
        if type(value) is Decimal and value.is_finite():
            return str(value)
    except RecursionError:
        pass
    return json.dumps(as_plain(value), default=quote)
