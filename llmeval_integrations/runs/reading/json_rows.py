"""Rows of JSON Lines and of JSON arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO

import msgspec

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.runs.reading.json_array import ArrayItems, Before
from llmeval_integrations.runs.reading.source import Record, RowNumber, Source, place_of

_decode = msgspec.json.Decoder().decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode
_NOTHING = Before()
_LONG = 2**16


def read_lines(handle: BinaryIO, source: Source, first: RowNumber = 1) -> Iterator[Record]:
    """Read JSON Lines, one line at a time, from the row of this number on; empty ones are none."""
    return _objects(handle, source, first)


def read_json(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a JSON array of objects, item by item.

    JSON Lines are often kept in files of that name: where the first line is an object by itself,
    they are read as such.
    """
    beginning = _beginning(handle, source)
    if _is_array(beginning) or not beginning or isinstance(parse_object(beginning[-1]), InputError):
        return _array(beginning, handle, source)
    return _objects(chain(beginning, handle), source)


def read_json_or_lines(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a JSON array where the input begins with a bracket, else JSON Lines."""
    beginning = _beginning(handle, source)
    if _is_array(beginning):
        return _array(beginning, handle, source)
    return _objects(chain(beginning, handle), source)


def parse_object(line: bytes) -> dict[str, Any] | InputError:
    """Read one JSON object, or say why it is none.

    What Python writes is accepted where JSON is stricter, since data sets are full of it: NaN,
    Infinity and lone surrogates. Integers are exact at any size.
    """
    try:
        return _decode_object(line)
    except (ValueError, RecursionError):
        value = _parse_slowly(line.rstrip(b"\r\n"))
    if isinstance(value, (dict, InputError)):
        return value
    return _no_object(value)


def _parse_slowly(text: bytes, before: Before = _NOTHING) -> Any:
    """Read JSON with Python's own parser, or give the InputError that words what is wrong."""
    try:
        return decode_as_python(text.decode())
    except UnicodeDecodeError as error:
        return InputError(f"byte {before.size + error.start + 1} is not UTF-8")
    except json.JSONDecodeError as error:
        line = before.lines + error.lineno
        column = error.colno + (before.columns if error.lineno == 1 else 0)
        place = f"line {line}, column {column}" if line > 1 else f"column {column}"
        return InputError(f"not JSON: {error.msg.removesuffix(' at')} at {place}")
    except ArithmeticError:
        return InputError("not JSON that can be read: a number beyond all bounds")
    except RecursionError:
        return InputError("not JSON that can be read: nested too deep")


def _no_object(value: object) -> InputError:
    return InputError(f"expected a JSON object, got {quote(value)}")


def _objects(lines: Iterable[bytes], source: Source, first: RowNumber = 1) -> Iterator[Record]:
    source.unit = "line"
    number, begin = place_of(first)
    empty = begin - number
    for place, line in enumerate(lines, begin):
        source.done += len(line)
        try:
            row: Any = _decode_object(line)
        except (ValueError, RecursionError):
            start = line if place > 1 else source.without_mark(line)
            if not start or start.isspace():
                empty += 1
                continue
            row = parse_object(start)
        yield ((place - empty, place) if empty else place), row


def _array(beginning: list[bytes], handle: BinaryIO, source: Source) -> Iterator[Record]:
    source.unit = "item"
    for number, item in enumerate(_values(beginning, handle, source), 1):
        yield number, item if isinstance(item, (dict, InputError)) else _no_object(item)


def _values(beginning: list[bytes], handle: BinaryIO, source: Source) -> Iterator[Any]:
    """Yield the items of an array, each that is not JSON as the InputError that says why.

    Raises InputError where it is not an array, or from where on it is none.
    """
    *empty, first = beginning or [b""]
    text = first.lstrip()
    before = Before().then(b"".join([*empty, first[: len(first) - len(text)]]))
    if not text.startswith(b"["):
        value = _parsed(text + handle.read(), before, source)
        raise InputError(f"{source.name}: expected an array of objects, got {quote(value)}")
    items = ArrayItems(text, handle, before)
    for item in items:
        source.done = items.before.size
        yield parse_object(item)
    size, lines, columns = items.before
    is_first = size == before.size + 1
    opening = b"[" if is_first else b"[0,"  # behind a comma there has to be an item
    before = Before(size - len(opening), lines, columns - len(opening))
    last = _parsed(opening + items.rest(), before, source)
    source.done = source.total or source.done
    yield from last if is_first else last[1:]


def _parsed(text: bytes, before: Before, source: Source) -> Any:
    """Parse what is left of a file; raises InputError where it is not JSON."""
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        value = _parse_slowly(text, before)
    if isinstance(value, InputError):
        raise InputError(f"{source.name}: {value}")
    return value


def _beginning(handle: BinaryIO, source: Source) -> list[bytes]:
    """Read up to the first line that is not empty, of an array's a part; empty where there is none.

    A whole array may stand in one line.
    """
    lines: list[bytes] = []
    while line := handle.readline(_LONG):
        lines.append(line if lines else source.without_mark(line))
        if not lines[-1].isspace():
            if not _is_array(lines):
                lines[-1] += b"" if line.endswith(b"\n") else handle.readline()
            return lines
    return []


def _is_array(beginning: list[bytes]) -> bool:
    return bool(beginning) and beginning[-1].lstrip().startswith(b"[")
