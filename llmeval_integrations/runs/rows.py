"""Rows of a run, in memory and on disk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.json_values.python_values import dump_model

Key = str | int | tuple[str]
"""An id or a group, so that it can be looked up."""

_DEEPEST: Final = 300
"""The levels to which a value is written that no encoder takes as it is."""


class Row(msgspec.Struct, gc=False, omit_defaults=True):  # nothing that it holds refers to it
    """What one evaluator said about one sample.

    `id` is the sample's, or the number of its row; `evaluator` is the name in this run. `passed` is
    None where the evaluator does not say, `unscored` whether it could not tell, `error` the type
    and text of what it raised, `metadata` details by name.
    """

    id: Any
    evaluator: str
    score: float | None
    passed: bool | None
    label: str | None
    reason: str | None
    metadata: dict[str, Any]
    unscored: bool
    error: str | None
    group: Any = None


@dataclass(frozen=True)
class StoredRows:
    """So many rows of a run's file, read anew whenever they are iterated over."""

    path: Path
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Row]:
        return read_rows(self.path)


def is_failing(row: Row) -> bool:
    """Whether a row gives people a reason to look at its sample."""
    return row.passed is False or row.unscored or row.error is not None


def write_rows(rows: Iterable[Row]) -> bytes:
    """Write rows as JSON Lines, each as `write_value` writes it."""
    try:
        return _encoder.encode_lines(rows)
    except (ValueError, TypeError, RecursionError, OverflowError):
        return b"".join(write_value(row) + b"\n" for row in rows)


def parse_rows(lines: bytes) -> list[Row]:
    """Parse rows as `write_rows` writes them."""
    try:
        return _decode_rows(lines)
    except (ValueError, RecursionError):
        return [*map(_parse_row, lines.splitlines())]


def _parse_row(line: bytes) -> Row:
    try:
        return _decode_row(line)
    except (ValueError, RecursionError):
        return msgspec.convert(decode_as_python(line.decode()), Row)


def read_rows(path: Path) -> Iterator[Row]:
    """Read a file of rows, but for one at its end that is being written.

    Raises InputError where a line is not a row.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = _parse_row(line)
            except (ValueError, TypeError, RecursionError) as error:
                raise InputError(f"{path}: line {number} is not a row: {error}") from error
            yield row


def write_value(value: Any, *, in_order: bool = False) -> bytes:
    """Write any value as JSON, in one line; of a sample the fields that it has.

    A value of no JSON type is written as its `repr`, NaN as null, half a surrogate pair as its
    escape. `in_order` sorts sets and keys, so that it is the same in every process.
    """
    encoder = _ordered_encoder if in_order else _encoder
    try:
        return encoder.encode(value)
    except (ValueError, TypeError, RecursionError, OverflowError):
        return encoder.encode(_as_writable(value))


def as_stored(value: Any) -> Any:
    """Return a value as it is read again where it was written: in JSON's types."""
    return value if type(value) is str else decode_as_python(write_value(value).decode())


def key_of(value: Any) -> Key:
    """Make a key of an id or a group; keys are equal where these are equal in JSON."""
    if type(value) is str or type(value) is int:
        return value
    stored = as_stored(value)
    if type(stored) is float and stored.is_integer():
        return int(stored)
    return stored if type(stored) in {str, int} else (canonical(stored),)


def fields_of(sample: msgspec.Struct | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that a sample has, by name."""
    if isinstance(sample, Mapping):
        return sample
    fields = {name: getattr(sample, name) for name in sample.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not MISSING}


def _as_plain(value: Any) -> Any:
    """Return another library's number as Python's, what a Pydantic model dumps, else a text."""
    try:
        if isinstance(value, Integral):
            return int(value)  # for a float makes one of two large ones
        if hasattr(type(value), "model_dump"):
            return dump_model(value)
        return float(value) if isinstance(value, Real) and isfinite(value) else repr(value)
    except Exception:  # noqa: BLE001 - a repr may raise anything, and the row must be written
        return quote(value)


_encoder = msgspec.json.Encoder(enc_hook=_as_plain, decimal_format="number")
_ordered_encoder = msgspec.json.Encoder(
    enc_hook=_as_plain, decimal_format="number", order="deterministic"
)
_decode_row = msgspec.json.Decoder(Row).decode
_decode_rows = msgspec.json.Decoder(Row).decode_lines


def _as_writable(value: Any, depth: int = 0) -> Any:
    """Return a value with a form for what the encoder does not take, wherever it stands in it."""
    if depth > _DEEPEST:
        return quote(value)
    if isinstance(value, str):
        return msgspec.Raw(json.dumps(value).encode())
    if isinstance(value, int) and not isinstance(value, bool):  # of any number of digits
        return msgspec.Raw(str(Decimal(value)).encode())
    if isinstance(value, msgspec.Struct):
        value = fields_of(value)
    if isinstance(value, Mapping):
        keys = [str(key).encode("utf-8", "backslashreplace").decode() for key in value]
        return dict(zip(keys, (_as_writable(each, depth + 1) for each in value.values())))
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [_as_writable(item, depth + 1) for item in value]
        return sorted(items, key=write_value) if isinstance(value, (set, frozenset)) else items
    with suppress(Exception):  # dates and the like, which the encoder knows
        return msgspec.Raw(_encoder.encode(value))
    return _as_writable(_as_plain(value), depth + 1)
