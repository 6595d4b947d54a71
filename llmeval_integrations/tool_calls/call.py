"""One call of a tool."""

from __future__ import annotations

from typing import Any

import msgspec


class ToolCall(msgspec.Struct, frozen=True):
    """A tool's name and what it is given."""

    name: str
    """The name; empty where `problem` says that there is none."""

    arguments: dict[str, Any] = {}
    """The arguments by name, as JSON values."""

    id: str | None = None
    """What the model's API calls this call."""

    problem: str | None = None
    """Why the arguments cannot be read, or what stands here in place of a call."""
