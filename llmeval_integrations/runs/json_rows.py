"""Rows of JSON Lines and of JSON arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO

import msgspec

from llmeval_integrations.errors import InputError
from llmeval_integrations.json_numbers import decode_as_python
from llmeval_integrations.runs.source import Record, Source
from llmeval_integrations.wording import shown

_decode = msgspec.json.Decoder().decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


def read_lines(handle: BinaryIO, source: Source, first: int = 1) -> Iterator[Record]:
    """Read JSON Lines, one line at a time; empty lines are skipped but counted, from `first` on."""
    return _objects(handle, source, first)


def read_json(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a JSON array of objects, which is loaded whole.

    JSON Lines are often kept in files of that name: where the first line is an object by itself,
    they are read as such.
    """
    beginning = _beginning(handle, source)
    if not beginning or isinstance(parse_object(beginning[-1]), InputError):
        return _items(b"".join(beginning) + handle.read(), source)
    return _objects(chain(beginning, handle), source)


def read_json_or_lines(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a JSON array, loaded whole, where the input begins with a bracket, else JSON Lines."""
    beginning = _beginning(handle, source)
    if beginning and beginning[-1].lstrip().startswith(b"["):
        return _items(b"".join(beginning) + handle.read(), source)
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


def _parse_slowly(text: bytes) -> Any:
    """Read JSON with Python's own parser, or give the InputError that words what is wrong."""
    try:
        return decode_as_python(text.decode())
    except UnicodeDecodeError as error:
        return InputError(f"byte {error.start + 1} is not UTF-8")
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return InputError(f"not JSON: {error.msg} at {line}column {error.colno}")
    except ArithmeticError:
        return InputError("not JSON that can be read: a number beyond all bounds")
    except RecursionError:
        return InputError("not JSON that can be read: nested too deep")


def _no_object(value: object) -> InputError:
    return InputError(f"expected a JSON object, got {shown(value)}")


def _objects(lines: Iterable[bytes], source: Source, first: int = 1) -> Iterator[Record]:
    source.unit = "line"
    for number, line in enumerate(lines, first):
        source.done += len(line)
        try:
            row = _decode_object(line)
        except (ValueError, RecursionError):
            start = line if number > 1 else source.without_mark(line)
            if start and not start.isspace():
                yield number, parse_object(start)
        else:
            yield number, row


def _items(text: bytes, source: Source) -> Iterator[Record]:
    items = _parse_array(source.without_mark(text), source)
    source.unit, source.total = "item", len(items)
    for number, item in enumerate(items, 1):
        source.done = number
        yield number, item if isinstance(item, dict) else _no_object(item)


def _parse_array(text: bytes, source: Source) -> list[Any]:
    """Parse the whole file; raise InputError unless it is an array."""
    try:
        value = _decode(text)
    except (ValueError, RecursionError):
        value = _parse_slowly(text)
    if isinstance(value, InputError):
        raise InputError(f"{source.name}: {value}")
    if not isinstance(value, list):
        raise InputError(f"{source.name}: expected an array of objects, got {shown(value)}")
    return value


def _beginning(handle: BinaryIO, source: Source) -> list[bytes]:
    """Read up to the first line that is not empty; empty where there is none."""
    lines: list[bytes] = []
    for line in handle:
        lines.append(line if lines else source.without_mark(line))
        if not line.isspace():
            return lines
    return []
