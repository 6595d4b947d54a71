"""Calls as models are asked to write them: a name and arguments, and no type."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, raw_call, text_in, type_of

_ARGUMENTS = ("arguments", "args", "input", "parameters")
_BESIDE_NAME = frozenset(("name", "id", "type", "index"))
_MESSAGE = frozenset(("role", "content"))


def read(value: Fields) -> list[Part] | None:
    """Read `{"name", "arguments"}`; a name alone is a call without arguments."""
    name = text_in(value, "name")
    if not name or type_of(value) not in ("", "function"):
        return None
    given = next((value[key] for key in _ARGUMENTS if value.get(key) is not None), None)
    if given is None and not _is_name_alone(value):
        return None
    found = raw_call(value, name, given, value.get("id"))
    return [found._replace(problem=text_in(value, "error") or None)]


def _is_name_alone(value: Fields) -> bool:
    """Whether nothing but a name is given: Google's SDK dumps all that it might have, as null."""
    if not _MESSAGE.isdisjoint(value):
        return False
    return all(value[key] is None for key in value.keys() - _BESIDE_NAME)
