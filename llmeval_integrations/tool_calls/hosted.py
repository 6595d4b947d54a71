"""Tools that are not defined by who uses them, but by the API or the model. Pure functions."""

from __future__ import annotations

import re
from typing import Any, Final

# What Google's tools, and Amazon's, have for a member, here without underscores and capitals.
_MEMBERS: Final = frozenset(
    [
        *("googlesearch", "googlesearchretrieval", "googlemaps", "urlcontext", "retrieval"),
        *("codeexecution", "computeruse", "filesearch", "enterprisewebsearch", "mcpservers"),
        *("parallelaisearch", "exaaisearch", "systemtool", "cachepoint"),
    ]
)

_TYPES: Final = frozenset(
    [
        *("custom", "web_search", "web_search_preview", "file_search", "code_interpreter"),
        *("computer", "computer_use_preview", "image_generation", "mcp", "mcp_toolset"),
        *("local_shell", "shell", "apply_patch", "tool_search", "code_execution"),
        *("google_search", "google_maps", "url_context", "retrieval", "computer_use", "mcp_server"),
    ]
)
"""The types of the tools of OpenAI, Anthropic and Google; of some there are versions by date."""

_DATED: Final = re.compile(r"_20\d\d_?\d\d_?\d\d\Z", re.ASCII)
_OF_OWN_TOOLS: Final = ("properties", "parameters", "input_schema", "inputSchema", "function")


def is_hosted(definition: dict[str, Any]) -> bool:
    """Whether an API runs this tool by itself, so that it has no name to be called by."""
    if definition.get("name") is not None:
        return False
    if isinstance(definition.get("type"), str):
        return definition["type"] != "custom" and is_built_in(definition)
    members = {name for name, value in definition.items() if value is not None}
    return bool(members) and {name.replace("_", "").lower() for name in members} <= _MEMBERS


def is_built_in(definition: dict[str, Any]) -> bool:
    """Whether the model knows the arguments of this tool without a schema, or takes a text."""
    kind = definition.get("type")
    is_known = isinstance(kind, str) and (kind in _TYPES or _DATED.search(kind) is not None)
    return is_known and definition.keys().isdisjoint(_OF_OWN_TOOLS)
