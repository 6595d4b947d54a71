"""Read the references of BFCL, which list the accepted values of each argument."""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.core.errors import InvalidReferenceError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.matching.node import AnyOf
from llmeval_integrations.tool_calls.call import read_parts

_OPTIONAL: Final = ""


def read_answers(reference: Any, parsing: Parsing) -> Any:
    """Write BFCL's own answers, `{NAME: {argument: [accepted, ...]}, ...}`, as calls.

    Such an object has no shape that `read_calls` knows. Other references are returned unchanged.
    """
    things = reference if isinstance(reference, (list, tuple)) else [reference]
    if any(isinstance(one, dict) and isinstance(one.get("name"), str) for one in things):
        return reference
    value = parse(reference, parsing)
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, dict) and read_parts(item) is None for item in items):
        return reference
    calls = [(name, arguments) for item in items for name, arguments in item.items()]
    for _, arguments in calls:
        if not isinstance(arguments, dict) or any(
            type(one) is not list for one in arguments.values()
        ):
            return reference
    return [{"name": name, "arguments": arguments} for name, arguments in calls]


def read_lists(arguments: dict[str, Any]) -> dict[str, Any]:
    """Read arguments that are lists of accepted values.

    An empty text in a list means that the argument may be left out. If it is the only entry, it is
    also an accepted value. Members of accepted objects, also of those in arrays, are such lists,
    too.
    """
    found = {}
    for name, values in arguments.items():
        if not isinstance(values, list) or not values:
            raise InvalidReferenceError(
                f"with alternatives='listed', each argument needs a list of accepted values, "
                f"but {name!r} has {quote(values)}"
            )
        given = [value for value in values if value != _OPTIONAL] or values
        found[name] = AnyOf(tuple(map(_read_accepted, given)), _OPTIONAL in values)
    return found


def _read_accepted(value: Any) -> Any:
    if isinstance(value, dict):
        return read_lists(value)
    if isinstance(value, list):
        return [read_lists(item) if isinstance(item, dict) else item for item in value]
    return value
