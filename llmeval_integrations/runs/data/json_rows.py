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
from llmeval_integrations.runs.data.source import Record, Source

_decode_row = msgspec.json.Decoder(dict[str, Any]).decode
_split_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


def read_lines(lines: Iterable[bytes], source: Source, first: int = 1) -> Iterator[Record]:
    """Read JSON Lines one by one, the first of which has this number; empty lines are no rows."""
    number = first
    for line in lines:
        source.done += len(line)
        if not line.isspace():
            yield number, parse_row(line)
            number += 1


def read_json(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a JSON array of objects; JSON Lines where the first line is an object by itself."""
    first = b"\n"
    while first.isspace():
        first = handle.readline()
    if first.lstrip()[:1] != b"[" and not isinstance(parse_row(first), InputError):
        return read_lines(chain([first], handle), source)
    return _read_array(first + handle.read(), source) if first else iter(())


def parse_row(line: bytes) -> dict[str, Any] | InputError:
    """Read one JSON object, or say why it is none.

    What Python writes is accepted where JSON is stricter, since data sets are full of it: NaN,
    Infinity and lone surrogates. Integers are exact at any size. A name that stands twice is
    refused, as one of its values would be lost.
    """
    try:
        row = _decode_row(line)
    except (ValueError, RecursionError):
        return _parse_slowly(line)
    # A name may stand again further in, or be escaped: few rows take the closer look.
    count = line.count
    if all([count(_quote(name)) == 1 for name in row]):  # noqa: C419 - faster than a generator
        return row
    return _refuse_name_twice(row, line)


@lru_cache(maxsize=1_000)
def _quote(name: str) -> bytes:
    return b'"%s"' % name.encode(errors="surrogatepass")


def _refuse_name_twice(row: dict[str, Any], line: bytes) -> dict[str, Any] | InputError:
    objects: list[list[tuple[str, Any]]] = []  # the outermost comes last
    json.loads(line, object_pairs_hook=objects.append, parse_int=str)
    for name, count in Counter(name for name, _ in objects[-1]).items():
        if count > 1:
            return InputError(f"the name {name!r} stands twice")
    return row


def _parse_slowly(line: bytes) -> dict[str, Any] | InputError:
    """Read an object with Python's parser, or word what is wrong."""
    try:
        row = decode_as_python(line.decode().rstrip("\r\n"))
        return _refuse_name_twice(row, line) if isinstance(row, dict) else _no_object(row)
    except (ValueError, ArithmeticError, RecursionError) as error:
        return InputError(_describe(error))


def _describe(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        place = f"line {error.lineno}, " if error.lineno > 1 else ""
        return f"not JSON: {error.msg.removesuffix(' at')} at {place}column {error.colno}"
    is_deep = isinstance(error, RecursionError)
    why = "nested too deep" if is_deep else "a number beyond all bounds"
    return f"not JSON that can be read: {why}"


def _no_object(value: object) -> InputError:
    return InputError(f"expected a JSON object, got {quote(value)}")


def _read_array(text: bytes, source: Source) -> Iterator[Record]:
    """Read an array, whose text is in memory; raise InputError where it is none."""
    items: Any
    try:
        items = _split_array(text)
    except (ValueError, RecursionError):
        try:
            items = decode_as_python(text.decode())
        except (ValueError, ArithmeticError, RecursionError) as error:
            raise InputError(f"{source.name}: {_describe(error)}") from error
    if not isinstance(items, list):
        raise InputError(f"{source.name}: expected an array of objects, got {quote(items)}")
    source.total = len(items)
    for number, item in enumerate(items, 1):
        source.done = number
        if isinstance(item, msgspec.Raw):
            yield number, parse_row(bytes(item))
        else:
            yield number, item if isinstance(item, dict) else _no_object(item)
