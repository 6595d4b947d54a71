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
        yield from read_lines(chain([first], handle), source)
        return
    if not first:
        return
    try:
        items = _split_array(first + handle.read())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source.name} is not an array of objects: {error}") from error
    source.total = len(items)
    for number, item in enumerate(items, 1):
        source.done = number
        yield number, parse_row(bytes(item))


def parse_row(line: bytes) -> dict[str, Any] | InputError:
    """Read one JSON object, or say why it is none.

    What Python writes is accepted where JSON is stricter, since data sets are full of it: NaN,
    Infinity and lone surrogates. Integers are exact at any size. A name that stands twice is
    refused, as one of its values would be lost.
    """
    try:
        row = _decode_row(line)
    except (ValueError, RecursionError):
        try:
            row = decode_as_python(line.decode().rstrip("\r\n"))
        except json.JSONDecodeError as error:
            return InputError(f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}")
        except (ValueError, ArithmeticError, RecursionError) as error:
            return InputError(f"not JSON that can be read: {error}")
        if not isinstance(row, dict):
            return InputError(f"expected a JSON object, got {quote(row)}")
    # A name may stand again further in, so few rows take the closer look.
    for name in _quote(tuple(row)):
        if line.count(name) != 1:
            return _check_names(line, row)
    return row


def _check_names(line: bytes, row: dict[str, Any]) -> dict[str, Any] | InputError:
    objects: list[list[tuple[str, Any]]] = []  # the outermost comes last
    json.loads(line, object_pairs_hook=objects.append, parse_int=str)
    [(name, times)] = Counter(name for name, _ in objects[-1]).most_common(1) or [("", 1)]
    return row if times == 1 else InputError(f"the name {name!r} stands twice")


@lru_cache(maxsize=1_000)
def _quote(names: tuple[str, ...]) -> list[bytes]:
    return [b'"%s"' % name.encode(errors="surrogatepass") for name in names]
