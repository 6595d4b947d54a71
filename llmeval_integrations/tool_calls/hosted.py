"""Tools that are not defined by who uses them, but by the API or the model. Pure functions."""

from __future__ import annotations

from typing import Any, Final

# What Google's tools have for a member, here without underscores and capitals.
_GOOGLES: Final = frozenset(
    [
        *("googlesearch", "googlesearchretrieval", "googlemaps", "urlcontext", "retrieval"),
        *("codeexecution", "computeruse", "filesearch", "enterprisewebsearch", "mcpservers"),
        *("parallelaisearch", "exaaisearch"),
    ]
)


def is_hosted(definition: dict[str, Any]) -> bool:
    """Whether an API runs this tool by itself, so that it has no name to be called by."""
    if definition.get("name") is not None:
        return False
    if isinstance(definition.get("type"), str):
        return definition["type"] != "custom" and is_built_in(definition)
    members = {name for name, value in definition.items() if value is not None}
    return bool(members) and {name.replace("_", "").lower() for name in members} <= _GOOGLES


def is_built_in(definition: dict[str, Any]) -> bool:
    """Whether the model knows the arguments of this tool without a schema, or takes a text."""
    kind = definition.get("type")
    return isinstance(kind, str) and kind != "function" and "properties" not in definition
