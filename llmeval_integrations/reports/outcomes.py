"""The contents of a row's metadata: places in the output and the source, and wrong calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.feedback import RIGHT
from llmeval_integrations.core.quote import shorten

if TYPE_CHECKING:
    from llmeval_integrations.runs.rows import Row

_LONGEST: Final = 300
_MOST: Final = 50
_MOST_PLACES: Final = 200


def differences_of(row: Row) -> Iterator[list[Any]]:
    """Yield the differences of a row that did not pass, in the form that a page's script reads.

    Each has a JSON Pointer, the outcome, the output's value or a message, the reference's value,
    and for a tool call its name. If a text is not JSON, it has the offset and name of the defect.
    """
    named = (
        [pointer, kind, _value(entry, "output") or entry.get("message"), _value(entry, "reference")]
        for name in ("differences", "outcomes", "errors")
        for pointer, kind, entry in outcomes_of(row.metadata.get(name))
        if kind not in RIGHT
    )
    yield from islice(named, _MOST)
    yield from islice(_call_differences(objects(row.metadata.get("calls"))), _MOST)
    if isinstance(row.metadata.get("offset"), int):
        yield [row.metadata["offset"], row.label or "defect", None, None]


def places_of(row: Row) -> list[Any]:
    """Return where JsonGrounded found values: context, pointer and kind, start, end."""
    found = (
        (entry.get("context"), f"{pointer} {kind}", *entry["place"])
        for pointer, kind, entry in outcomes_of(row.metadata.get("outcomes"))
        if kind in RIGHT and isinstance(entry.get("place"), list)
    )
    return [*islice(found, _MOST_PLACES)]


def outcomes_of(found: Any) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the entries of a list: the place, its outcome, and the whole entry."""
    for entry in objects(found):
        yield str(entry.get("pointer", "")), str(entry.get("kind", entry.get("keyword", ""))), entry


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the mappings in a list; a user's evaluator may use a name for something else."""
    found = value if isinstance(value, (list, tuple)) else []
    return [entry for entry in found if isinstance(entry, Mapping)]


def _call_differences(calls: list[Mapping[str, Any]]) -> Iterator[list[Any]]:
    """Yield the errors of tool calls and their arguments."""
    for number, call in enumerate(calls):
        name = shorten(str(call.get("name") or "(no name)"), _LONGEST)
        kind = call.get("kind")
        # If calls have no kind, all of them are calls of the output.
        place = number if kind is None else call.get("output")
        named = f"{place + 1}. {name}" if isinstance(place, int) and len(calls) > 1 else name
        if kind not in (None, "right", "wrong_arguments"):
            own = shorten(str(call.get("problem", name)), _LONGEST) if "output" in call else None
            expected = None
            if isinstance(at := call.get("reference"), int):
                expected = f"{at + 1}. {shorten(str(call.get('expected_name', name)), _LONGEST)}"
            yield ["", str(kind), own, expected, named]
        for part in ("arguments", "errors"):
            for pointer, what, wrong in outcomes_of(call.get(part)):
                expected = _value(wrong, "reference") or wrong.get("message")
                yield [pointer, what, _value(wrong, "output"), expected, named]


def _value(entry: Mapping[str, Any], name: str) -> str | None:
    """Write a value; the page recognizes a cut value by the dots at its end."""
    from llmeval_integrations.runs.rows import write_value  # `explain` must not import runs

    return shorten(write_value(entry[name]).decode(), _LONGEST) if name in entry else None
