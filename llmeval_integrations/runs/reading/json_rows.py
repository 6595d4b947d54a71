"""Rows of JSON Lines and of JSON arrays."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, BinaryIO

import msgspec

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.runs.reading.source import Record, RowNumber, Source, place_of

_split = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode
_LONG = 2**16


def read_lines(handle: BinaryIO, source: Source, first: RowNumber = 1) -> Iterator[Record]:
    """Read JSON Lines, one line at a time, from the row of this number on; empty ones are none."""
    return _objects(handle, source, first)


def read_json(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a JSON array of objects.

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
    Infinity and lone surrogates. Integers are exact at any size. A name that stands twice is
    refused, as one of its values would be lost.
    """
    try:
        row: Any = _decode_object(line)
    except (ValueError, RecursionError):
        row = _parse_slowly(line.rstrip(b"\r\n"))
    if isinstance(row, InputError):
        return row
    return _refuse_name_twice(row, line) if isinstance(row, dict) else _no_object(row)


def _refuse_name_twice(row: dict[str, Any], line: bytes) -> dict[str, Any] | InputError:
    """Return the row, or the error that one of its names stands twice."""
    count = line.count
    # Few rows have a name again further in, or written otherwise, and take a closer look.
    if all([count(_quote(name)) == 1 for name in row]):  # noqa: C419 - faster than a generator
        return row
    twice = _find_name_twice(line)
    return row if twice is None else InputError(f"the name {twice!r} stands twice")


@lru_cache(maxsize=1_000)
def _quote(name: str) -> bytes:
    return b'"%s"' % name.encode(errors="surrogatepass")


def _find_name_twice(line: bytes) -> str | None:
    objects: list[list[tuple[str, Any]]] = []  # the outermost comes last
    try:
        json.loads(line, object_pairs_hook=objects.append, parse_int=str)
    except RecursionError:
        return None
    counts = Counter(name for name, _ in objects[-1])
    return next((name for name, count in counts.items() if count > 1), None)


def _parse_slowly(text: bytes) -> Any:
    """Read JSON with Python's own parser, or give the InputError that words what is wrong."""
    try:
        return decode_as_python(text.decode())
    except UnicodeDecodeError as error:
        return InputError(f"byte {error.start + 1} is not UTF-8")
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, " if error.lineno > 1 else ""
        place += f"column {error.colno}"
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
        else:
            row = _refuse_name_twice(row, line)
        yield ((place - empty, place) if empty else place), row


def _array(beginning: list[bytes], handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read an array, whose text is in memory; raise InputError where it is none."""
    text = b"".join(beginning) + handle.read()
    try:
        items: Any = _split(text)
    except (ValueError, RecursionError):
        items = _parse_slowly(text)
    if isinstance(items, InputError):
        raise InputError(f"{source.name}: {items}")
    if not isinstance(items, list):
        raise InputError(f"{source.name}: expected an array of objects, got {quote(items)}")
    source.unit, source.total = "item", len(items)
    for number, item in enumerate(items, 1):
        source.done = number
        if isinstance(item, msgspec.Raw):
            yield number, parse_object(bytes(item))
        else:
            yield number, item if isinstance(item, dict) else _no_object(item)


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
