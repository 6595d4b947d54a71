"""Messages and responses as mappings, as APIs write them in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final

from llmeval_integrations.messages import google, openai
from llmeval_integrations.messages.reply import Reply

_ROLES: Final = {"ai": "assistant", "human": "user"}
"""What LangChain calls the roles that APIs have."""


def read(thing: Mapping[str, Any]) -> Reply | None:
    """Read a message or a response of OpenAI's, Anthropic's, Google's or LangChain's shape."""
    if isinstance(thing.get("data"), Mapping) and "type" in thing:  # as LangChain saves messages
        thing = {"type": thing["type"], **thing["data"]}
    if isinstance(thing.get("candidates"), list):
        return google.read(_as_object(thing))
    is_response = isinstance(thing.get("choices"), list) or thing.get("object") == "response"
    role = thing.get("role") or thing.get("type")
    if not is_response and not (isinstance(role, str) and "content" in thing):
        return None
    return openai.read(_as_object({"role": _ROLES.get(str(role), role), **thing}))


def _as_object(value: Any) -> Any:
    """Return a JSON value whose objects have their members as attributes."""
    if isinstance(value, Mapping):
        return SimpleNamespace(**{str(name): _as_object(part) for name, part in value.items()})
    return [_as_object(part) for part in value] if isinstance(value, list) else value
