"""One call of a tool, read from any of the shapes that it comes in."""

from __future__ import annotations

from typing import Any

import msgspec

from llmeval_integrations.core.quoting import shown
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.tool_calls.blocks import (
    NAMES,
    is_googles_own,
    named_by_type,
    only_looks_like_a_call,
    text_under,
    type_of,
)


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


WRAPPERS = (
    *("function", "function_call", "functionCall", "toolUse", "toolInvocation"),
    *("tool_call", "toolCall"),
)
# Null there is a call without arguments, whatever DeepEval records beside it.
_OF_DEEPEVAL = ("input_parameters", "inputParameters")
ARGUMENTS = (
    *("arguments", "args", "input", "parameters", "tool_kwargs", "rawInput"),
    *_OF_DEEPEVAL,
)
# Some APIs number the items that calls come in, too, under `id`.
_IDS = ("call_id", "tool_call_id", "tool_id", "toolUseId", "toolCallId", "id")
_BESIDE_A_NAME = frozenset((*NAMES, *_IDS, "type", "index"))
_OF_A_MESSAGE = frozenset(("role", "content"))


def read_call(item: dict[str, Any], parsing: Parsing) -> ToolCall | None:
    """Read one call; None where the object is something else.

    The first rule that fits applies: what an API calls by itself, such as `mcp_call` and
    `server_tool_use`, is something else, and so is what announces or answers a call; the input of a
    custom tool is one text, under the argument `input`, even where it is JSON; an object under
    `function`, `function_call`, `functionCall`, `toolUse` or `toolInvocation`, or with a name under
    `tool_call` or `toolCall`, is the call; a text under `name`, `tool_name` or `toolName` is its
    name, or what follows `tool-` in the type of a part of a UI message, with the arguments under
    `arguments`, `args`, `input`, `parameters`, `tool_kwargs`, `rawInput`, `input_parameters` or
    `inputParameters`; a name with no more than an `id`, `type` or `index` beside it, and what is
    null, is a call without arguments.
    """
    if only_looks_like_a_call(item):
        return None
    number = text_under(_IDS, item)
    custom = _custom(item)
    if custom is not None:
        return ToolCall(custom["name"], {"input": custom["input"]}, number)
    for wrapper in WRAPPERS:
        inner = item.get(wrapper)
        if isinstance(inner, dict) and not is_googles_own(wrapper, inner):
            call = read_call(inner, parsing) or not_a_call(inner)
            return call if number is None else msgspec.structs.replace(call, id=number)
    name = text_under(NAMES, item) or named_by_type(item)
    if not name:
        return None
    given = next((item[key] for key in ARGUMENTS if item.get(key) is not None), None)
    if given is None and item.keys().isdisjoint(_OF_DEEPEVAL) and not _is_name_alone(item):
        return None
    arguments = _read_arguments(given, parsing)
    if isinstance(arguments, str):
        return ToolCall(name, {}, number, arguments)
    return ToolCall(name, arguments, number)


def _custom(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the name and input of a custom tool of OpenAI's; None where this calls another."""
    kind = type_of(item)
    call = item.get("custom") if kind == "custom" else item
    if kind not in ("custom", "custom_tool_call") or not isinstance(call, dict):
        return None
    name, text = call.get("name"), call.get("input")
    return call if name and isinstance(name, str) and isinstance(text, str) else None


def _is_name_alone(item: dict[str, Any]) -> bool:
    """Whether nothing but a name is given: Google's SDK dumps all that it might have, as null."""
    if not _OF_A_MESSAGE.isdisjoint(item):
        return False
    return all(item[key] is None for key in item.keys() - _BESIDE_A_NAME)


def not_a_call(item: Any) -> ToolCall:
    """Stand in for a call where something else is, and say so."""
    return ToolCall("", problem=f"no tool call: {shown(item)}")


def _read_arguments(given: Any, parsing: Parsing) -> dict[str, Any] | str:
    """Return the arguments, or what is wrong with them.

    Nothing, or an empty text, is what some APIs send for a tool without arguments.
    """
    if given is None or given == "":
        return {}
    value = parse(given, parsing) if isinstance(given, str) else given
    if isinstance(value, Defect):
        return f"the arguments are not JSON ({value.name}): {value.reason}"
    if not isinstance(value, dict):
        return f"the arguments are not a JSON object: {shown(given)}"
    return value
