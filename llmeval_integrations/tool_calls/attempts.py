"""Whether a text that holds no call was meant for one, or is an answer. Pure functions."""

from __future__ import annotations

import re
from typing import Any, Final

from llmeval_integrations.json_defects import Defect
from llmeval_integrations.tool_calls.blocks import is_call_type, type_of

_TELLING: Final = (
    *("name", "tool_name", "tool", "function", "function_call", "functionCall", "tool_call"),
    *("tool_calls", "invalid_tool_calls", "arguments", "args", "tool_kwargs", "action_input"),
)
"""The members by which an object is known for a call, or one that went wrong."""

_QUOTES: Final = r"[\"'`“”‘’\\]*"
_MEMBER: Final = re.compile(rf"[{{,]\s*{_QUOTES}(?:{'|'.join(_TELLING)}){_QUOTES}\s*:")


def is_broken_attempt(text: str, defect: Defect) -> bool:
    """Whether a text that is not JSON, for this reason, has something like a call in it.

    So it does where a member is written that calls have, and where it ends before any member.
    """
    if defect.name in ("prose", "empty") or "{" not in text:
        return False
    return _MEMBER.search(text) is not None or (defect.name == "truncated" and ":" not in text)


def is_attempt(value: Any) -> bool:
    """Whether JSON, or an item of it, has a member that calls have, or says that it is one."""
    items = value if isinstance(value, list) else [value]
    return any(
        isinstance(item, dict)
        and (not item.keys().isdisjoint(_TELLING) or is_call_type(type_of(item)))
        for item in items
    )
