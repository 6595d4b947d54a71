"""What a row's metadata name in the output: places, with what stands there and should."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from llmeval_integrations.runs.rows import Row, write_value

_LONGEST_NAME: Final = 300
_LONGEST_VALUE: Final = 300
_MOST: Final = 50
_LISTS: Final = ("differences", "outcomes", "errors")


def differences_of(row: Row) -> Iterator[list[Any]]:
    """Yield the differences of a row that did not pass, as a page's script reads them.

    Each is a JSON Pointer, what became of the place, the output's value or a message, the
    reference's value, and for a tool call its name; or, for a text that is not JSON, the
    characters before the defect and its name.
    """
    metadata = row.metadata or {}
    entries = [entry for name in _LISTS for entry in _entries(metadata.get(name))]
    for entry in entries[:_MOST]:
        pointer = entry.get("pointer")
        kind = entry.get("kind", entry.get("keyword"))
        if kind != "match" and isinstance(pointer, str):
            output = _value(entry, "output") or entry.get("message")
            yield [pointer, str(kind), output, _value(entry, "reference")]
    yield from islice(_of_calls(_entries(metadata.get("calls"))), _MOST)
    if isinstance(metadata.get("offset"), int):
        yield [metadata["offset"], row.label or "defect", None, None]


def _of_calls(calls: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """Yield what is wrong with tool calls and their arguments."""
    for number, call in enumerate(calls):
        name = str(call.get("name") or "(no name)")[:_LONGEST_NAME]
        kind = call.get("kind")
        place = number if kind is None else call.get("output")  # without a kind all were made
        named = f"{place + 1}. {name}" if isinstance(place, int) and len(calls) > 1 else name
        if kind not in (None, "right", "wrong_arguments"):
            yield ["", str(kind), *_sides_of(call, name), named]
        for wrong in _entries(call.get("arguments")) + _entries(call.get("errors")):
            yield [
                str(wrong.get("pointer", "")),
                str(wrong.get("kind", wrong.get("keyword"))),
                _value(wrong, "output"),
                _value(wrong, "reference") or wrong.get("message"),
                named,
            ]


def _sides_of(call: Mapping[str, Any], name: str) -> tuple[str | None, str | None]:
    """Return what stands for a call that is wrong as a whole, and what was expected instead."""
    if "problem" in call:
        return str(call["problem"])[:_LONGEST_NAME], None
    here, there = call.get("output"), call.get("reference")
    if call["kind"] == "wrong_order" and isinstance(here, int) and isinstance(there, int):
        return f"call {here + 1}", f"call {there + 1}"
    expected = str(call.get("expected_name", name))[:_LONGEST_NAME]
    return name if "output" in call else None, expected if "reference" in call else None


def _entries(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _value(entry: Mapping[str, Any], name: str) -> str | None:
    if name not in entry:
        return None
    text = write_value(entry[name]).decode()
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
