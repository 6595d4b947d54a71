"""Looking for calls in what is not JSON as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, Final

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.tool_calls.call import ARGUMENTS, WRAPPERS

_LEVELS: Final = 16
"""How deep a call's arguments may stand in responses, messages and blocks, and some more."""

_AROUND_CALLS: Final = frozenset(
    [
        *("messages", "message", "choices", "candidates", "additional_kwargs"),
        *("content", "parts", "blocks", "output", "data", "kwargs"),
        *("tool_calls", "toolCalls", "toolInvocations", "invalid_tool_calls", "tool_call_chunks"),
        *("custom", *WRAPPERS),
    ]
)


def opened(value: Any) -> Any:
    """Return lists, objects and dataclasses as JSON has them, whatever else is in them.

    An object whose keys are not all texts is a Defect, and so is what is too deep; but in the
    arguments of calls that stays as it is, as do members that nobody looks for calls in.
    """
    return _Opening().read(value, _LEVELS)


class _Opening:
    """Opens each object but once at a level, however often it is there, even in itself."""

    def __init__(self) -> None:
        self._opened: dict[tuple[int, int, bool], tuple[Any, Any]] = {}
        """With the object itself, so that no other one gets its id."""

    def read(self, value: Any, levels: int, *, in_arguments: bool = False) -> Any:
        key = (id(value), levels, in_arguments)
        if key not in self._opened:
            self._opened[key] = value, self._read(value, levels, in_arguments)
        return self._opened[key][1]

    def _read(self, value: Any, levels: int, in_arguments: bool) -> Any:
        if hasattr(type(value), "model_dump"):
            value = _dumped(value)
        elif is_dataclass(value) and not isinstance(value, type):
            value = {its.name: _member(value, its.name) for its in fields(value)}
        if not isinstance(value, (list, tuple, Mapping)):
            return value
        if not levels:
            return value if in_arguments else Defect("too_deep", "Nested too deeply")
        if not isinstance(value, Mapping):
            return [self.read(item, levels - 1, in_arguments=in_arguments) for item in value]
        if not all(isinstance(key, str) for key in value):
            return Defect("not_json", "Keys have to be texts")
        return {
            key: self.read(item, levels - 1, in_arguments=in_arguments or key in ARGUMENTS)
            if in_arguments or key in _AROUND_CALLS or key in ARGUMENTS
            else item
            for key, item in value.items()
        }


def _member(value: Any, name: str) -> Any:
    with suppress(Exception):  # a property's own code may raise anything
        return getattr(value, name, None)
    return None


def _dumped(model: Any) -> Any:
    """Return what a Pydantic model dumps: as JSON, else with the objects that are in it."""
    dumped = parse(model)
    if not isinstance(dumped, Defect):
        return dumped
    for dump in (partial(model.model_dump, mode="json"), model.model_dump):
        with suppress(Exception):  # the model's own code may raise anything
            return dump()
    return vars(model)
