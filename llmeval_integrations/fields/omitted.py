"""Members that count as left out."""

from __future__ import annotations

from typing import Any, Final, Literal

from llmeval_integrations.fields.field import Field
from llmeval_integrations.json_values.equality import CONTAINERS

Omitted = Literal["absent", "values"]

OMITTED: Final = ("absent", "values")


def omit(node: Field, value: Any, *, nulls: bool, empty: bool) -> Any:
    """Return a value without its members that are null, or an empty object or array.

    From the inside out: an object whose members are all left out is empty. Items of arrays stay
    where they are, and so does what a function compares as a whole. A value that has no such member
    is returned as it is.
    """
    if type(value) not in CONTAINERS or node.whole:
        return value
    if type(value) is list:
        kept = [
            omit(node.item(position), item, nulls=nulls, empty=empty)
            if type(item) in CONTAINERS
            else item
            for position, item in enumerate(value)
        ]
        return value if all(map(_is, kept, value)) else kept
    changed = False
    found: dict[str, Any] = {}
    for name, part in value.items():
        if type(part) in CONTAINERS:
            inner = omit(node.member(name), part, nulls=nulls, empty=empty)
            if inner or not empty:
                found[name] = inner
            changed |= inner is not part or not inner
        elif part is None and nulls:
            changed = True
        else:
            found[name] = part
    return found if changed else value


def _is(one: Any, other: Any) -> bool:
    return one is other
