"""What tools there are, read from any of the shapes that definitions come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmeval_integrations.errors import InvalidOptionError
from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_text import parse
from llmeval_integrations.tool_calls.schema_types import as_json_schema
from llmeval_integrations.wording import shown

_SCHEMAS = (
    *("parameters", "input_schema", "inputSchema", "parameters_json_schema"),
    *("parametersJsonSchema", "args_schema", "schema"),
)
_OF_RESULTS = ("output", "response", "result", "return")
_LISTS = ("tools", "function_declarations", "functionDeclarations")


def read_tools(tools: Any) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each tool's arguments, by the tool's name.

    A definition is an object with a `name` and the schema under `parameters`, `input_schema`,
    `inputSchema`, `parameters_json_schema` or `args_schema`, which may stand under `function`; an
    object of LangChain or LlamaIndex; a Pydantic model, whose name is the tool's. A tool without
    a schema has no arguments. Definitions come in a list, under `tools` or
    `function_declarations`, as JSON text or one by itself. Raises InvalidOptionError.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, schema in _definitions(tools):
        if name in found:
            raise InvalidOptionError(f"two tools have the name {name!r}")
        if schema is not None and not isinstance(schema, dict):
            raise InvalidOptionError(f"the tool {name!r} has no JSON Schema: {shown(schema)}")
        meant = {"type": "object", **as_json_schema(schema or {"properties": {}})}
        if "object" not in (meant["type"] if isinstance(meant["type"], list) else [meant["type"]]):
            raise InvalidOptionError(
                f"the tool {name!r} takes arguments, which are an object, and its schema has the "
                f"type {shown(meant['type'])}"
            )
        found[name] = meant
    return found


def _definitions(tools: Any) -> Iterable[tuple[str, Any]]:
    """Walk the definitions, whatever they are in."""
    value = _plain(tools)
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _definitions(item)
        return
    if isinstance(value, dict):
        inner = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
        if inner is not None:
            yield from _definitions(inner)
            return
        function = value.get("function")
        if isinstance(function, dict):
            value = function
        name = value.get("name")
        if isinstance(name, str) and name:
            yield name, _schema_in(value)
            return
    raise InvalidOptionError(f"no definition of a tool: {shown(tools)}")


def _schema_in(definition: dict[str, Any]) -> Any:
    """Return a definition's schema; None where it has none, and nothing that is one misspelt."""
    if definition.keys().isdisjoint(_SCHEMAS):
        for key, value in definition.items():
            if not isinstance(value, dict) or key.lower().startswith(_OF_RESULTS):
                continue
            if meant := _nearest(key):
                name = definition["name"]
                raise InvalidOptionError(f"the tool {name!r} has {key!r}; did you mean {meant!r}?")
    return next((definition[key] for key in _SCHEMAS if definition.get(key) is not None), None)


def _nearest(key: str) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(key, _SCHEMAS, 1, cutoff=0.8)), None)


def _plain(tool: Any) -> Any:
    """Return a definition as JSON values; objects of frameworks are told by their attributes."""
    if isinstance(tool, (list, tuple)):
        return tool
    if isinstance(tool, type) and hasattr(tool, "model_json_schema"):
        return {"name": tool.__name__, "parameters": tool.model_json_schema()}
    if hasattr(tool, "args_schema"):  # LangChain
        schema = getattr(tool, "tool_call_schema", tool.args_schema)
        return {"name": tool.name, "parameters": _schema_of(schema)}
    metadata: Any = getattr(tool, "metadata", None)
    if hasattr(metadata, "get_parameters_dict"):  # LlamaIndex
        return {"name": metadata.name, "parameters": metadata.get_parameters_dict()}
    value = parse(dict(tool) if isinstance(tool, Mapping) else tool)
    if isinstance(value, Defect):
        raise InvalidOptionError(f"no definition of a tool: {shown(tool)}: {value.reason}")
    return value


def _schema_of(schema: Any) -> Any:
    return schema.model_json_schema() if hasattr(schema, "model_json_schema") else schema
