"""The rows of a run, in memory and in files."""

from __future__ import annotations

import json
import re
from collections import Counter
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
from llmeval_integrations.json_values.parse import dump_model
from llmeval_integrations.json_values.values import canonical, decode_as_python

Key = str | int | tuple[str]  # an id or group that can be a key of a dict
_ADDRESS: Final = re.compile(" at 0x[0-9A-Fa-f]+")
_DEEPEST: Final = 300  # the number of levels of a value that are written if no encoder accepts it


class Row(msgspec.Struct, gc=False, omit_defaults=True):  # nothing that it holds refers to it
    """The result of one evaluator for one sample.

    `id` is that of the sample or the number of its row, and `evaluator` the name in this run.
    `passed` is None if there is no verdict, and `unscored` is true if the evaluator could not tell.
    `error` has the type and the message of an exception.
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
    """The rows of a file, which each iteration reads again."""

    path: Path
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Row]:
        return read_rows(self.path)


def is_failing(row: Row) -> bool:
    """Return whether a row failed, is unscored or is an error."""
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
    """Read a file of rows, without an unfinished one at its end.

    Raises InputError if a line is not a row.
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


def write_value(value: Any) -> bytes:
    """Write any value as JSON in one line.

    A value that JSON lacks becomes its `repr`, NaN null, and a lone surrogate its escape.
    """
    try:
        return _encoder.encode(value)
    except (ValueError, TypeError, RecursionError, OverflowError):
        return _encoder.encode(_as_writable(value))


def write_document(value: Any) -> str:
    """Write any value as JSON in indented lines. The JSON is that of `write_value`."""
    line = write_value(value)
    try:
        return msgspec.json.format(line, indent=2).decode() + "\n"
    except ValueError:  # it refuses the escape of a lone surrogate
        return json.dumps(decode_as_python(line.decode()), indent=2, default=str) + "\n"


def as_stored(value: Any) -> Any:
    """Return a value as if it was written as JSON and parsed."""
    return value if type(value) is str else decode_as_python(write_value(value).decode())


def key_of(value: Any) -> Key:
    """Return the key of an id or group. Keys are equal if the values are equal in JSON."""
    if type(value) is str or type(value) is int:
        return value
    stored = as_stored(value)
    if type(stored) is float and stored.is_integer():
        return int(stored)
    return stored if type(stored) in {str, int} else (canonical(stored),)


def number_keys(ids: Iterable[Any]) -> Iterator[tuple[Key, int]]:
    """Yield the key of each id, and how often it has occurred."""
    times: Counter[Key] = Counter()
    for key in map(key_of, ids):
        times[key] += 1
        yield key, times[key]


def fields_of(sample: msgspec.Struct | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that a sample has, by name."""
    if isinstance(sample, Mapping):
        return sample
    fields = {name: getattr(sample, name) for name in sample.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not MISSING}


def write_repr(value: Any) -> str:
    """Return the `repr` of a value without its address, which differs in every process."""
    return _ADDRESS.sub("", repr(value))


def _as_plain(value: Any) -> Any:
    """Return a number of another library as Python's, a Pydantic model as a dict, else a text."""
    try:
        if isinstance(value, Integral):
            return int(value)  # for a float makes one of two large ones
        if hasattr(type(value), "model_dump"):
            return dump_model(value)
        is_number = isinstance(value, Real) and isfinite(value)
        return float(value) if is_number else write_repr(value)
    except Exception:  # noqa: BLE001 - a repr may raise anything, and the row must be written
        return quote(value)


_encoder = msgspec.json.Encoder(enc_hook=_as_plain, decimal_format="number")
_decode_row = msgspec.json.Decoder(Row).decode
_decode_rows = msgspec.json.Decoder(Row).decode_lines


def _as_writable(value: Any, depth: int = 0) -> Any:
    """Replace all parts of a value that the encoder does not accept."""
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
        return [_as_writable(item, depth + 1) for item in value]
    with suppress(Exception):  # dates and the like, which the encoder knows
        return msgspec.Raw(_encoder.encode(value))
    return _as_writable(_as_plain(value), depth + 1)
