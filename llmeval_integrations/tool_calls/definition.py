"""What tools there are, read from any of the shapes that definitions come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import shown
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.schemas.document import DEFINITIONS, SchemaDocument
from llmeval_integrations.tool_calls.hosted import is_built_in, is_hosted
from llmeval_integrations.tool_calls.schema_types import as_json_schema

_SCHEMAS = (
    *("parameters", "input_schema", "inputSchema", "parameters_json_schema"),
    *("parametersJsonSchema", "args_schema", "schema"),
)
_AROUND_A_SCHEMA = ("json", "jsonSchema")  # Amazon's, and the Vercel AI SDK's
_CALLED_OTHERWISE = ("args", "arguments", "input", "inputs", "params")
_OF_RESULTS = ("output", "response", "result", "return")
_LISTS = ("tools", "function_declarations", "functionDeclarations")
_ANYTHING = {"type": "object"}
_OF_A_REFERENCE = {"$ref", "$schema", "type", "title", "description", *DEFINITIONS}

# What LangChain's tools of a single input say of it, and the schema that models are given.
_ONE_INPUT = {"tool_input": {"type": "string"}}
_OF_ONE_INPUT = {
    "type": "object",
    "properties": {"__arg1": {"type": "string"}},
    "required": ["__arg1"],
}


def read_tools(tools: Any) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each tool's arguments, by the tool's name.

    A definition is an object with a `name` and the schema under `parameters`, `input_schema`,
    `inputSchema`, `parameters_json_schema` or `args_schema`, which may stand under `function` or
    `toolSpec`, and may have `json` or `jsonSchema` around it; an object of LangChain or LlamaIndex;
    a Pydantic model, whose name is the tool's. A tool without a schema has no arguments, but any if
    its type is another than `function`: a custom tool, or one that the model was taught, such as
    Anthropic's `bash_20250124`. Those without a name, which an API runs by itself, are skipped.
    Definitions come in a list, under `tools` or `function_declarations`, as JSON text or one by
    itself. Raises InvalidOptionError.
    """
    found: dict[str, dict[str, Any]] = {}
    definitions = list(_definitions(tools))
    if definitions and not any(definitions):
        raise InvalidOptionError(f"no definition of a tool: {shown(tools)}")
    for name, schema in filter(None, definitions):
        if name in found:
            raise InvalidOptionError(f"two tools have the name {name!r}")
        if schema is not None and not isinstance(schema, dict):
            raise InvalidOptionError(f"the tool {name!r} has no JSON Schema: {shown(schema)}")
        meant = {"type": "object", **_referred(as_json_schema(schema or {"properties": {}}))}
        if "object" not in (meant["type"] if isinstance(meant["type"], list) else [meant["type"]]):
            raise InvalidOptionError(
                f"the tool {name!r} takes arguments, which are an object, and its schema has the "
                f"type {shown(meant['type'])}"
            )
        found[name] = meant
    return found


def _referred(schema: dict[str, Any]) -> dict[str, Any]:
    """Return what a schema consists in, where it does no more than refer to one of its own.

    So Pydantic writes a model that holds itself.
    """
    target = SchemaDocument(schema).resolve(schema.get("$ref"))
    if not isinstance(target, dict) or "$id" in target or schema.keys() - _OF_A_REFERENCE:
        return schema
    return {**{key: value for key, value in schema.items() if key != "$ref"}, **target}


def _definitions(tools: Any) -> Iterable[tuple[str, Any] | None]:
    """Walk the definitions, whatever they are in; None stands for one without a name."""
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
        definition = _unwrapped(value)
        name = definition.get("name")
        if isinstance(name, str) and name:
            schema = _schema_in(definition)
            yield name, _ANYTHING if schema is None and is_built_in(value) else schema
            return
        if is_hosted(value):
            yield None
            return
    raise InvalidOptionError(f"no definition of a tool: {shown(tools)}")


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """Return the definition, which OpenAI's chats have under the type of the tool, and Amazon."""
    keys = ("custom",) if value.get("type") == "custom" else ("function", "toolSpec")
    return next((value[key] for key in keys if isinstance(value.get(key), dict)), value)


def _schema_in(definition: dict[str, Any]) -> Any:
    """Return a definition's schema; None where it has none, and nothing that is one misspelt."""
    if definition.keys().isdisjoint(_SCHEMAS):
        for key, value in definition.items():
            if not isinstance(value, dict) or key.lower().startswith(_OF_RESULTS):
                continue
            if meant := _nearest(key):
                name = definition["name"]
                raise InvalidOptionError(f"the tool {name!r} has {key!r}; did you mean {meant!r}?")
    schema = next((definition[key] for key in _SCHEMAS if definition.get(key) is not None), None)
    for around in _AROUND_A_SCHEMA:
        if isinstance(schema, dict) and schema.keys() == {around}:
            return schema[around]
    return schema


def _nearest(key: str) -> str | None:
    from difflib import get_close_matches

    if key.lower() in _CALLED_OTHERWISE:
        return _SCHEMAS[0]
    return next(iter(get_close_matches(key, _SCHEMAS, 1, cutoff=0.8)), None)


def _plain(tool: Any) -> Any:
    """Return a definition as JSON values; objects of frameworks are told by their attributes."""
    if isinstance(tool, (list, tuple)):
        return tool
    if isinstance(tool, type) and hasattr(tool, "model_json_schema"):
        return {"name": tool.__name__, "parameters": tool.model_json_schema()}
    if hasattr(tool, "args_schema"):  # LangChain
        return {"name": tool.name, "parameters": _schema_of_langchain(tool)}
    metadata: Any = getattr(tool, "metadata", None)
    if hasattr(metadata, "get_parameters_dict"):  # LlamaIndex
        return {"name": metadata.name, "parameters": metadata.get_parameters_dict()}
    value = parse(dict(tool) if isinstance(tool, Mapping) else tool)
    if isinstance(value, Defect):
        raise InvalidOptionError(f"no definition of a tool: {shown(tool)}: {value.reason}")
    return value


def _schema_of_langchain(tool: Any) -> Any:
    if tool.args_schema is None and getattr(tool, "args", None) == _ONE_INPUT:
        return _OF_ONE_INPUT
    schema = getattr(tool, "tool_call_schema", tool.args_schema)
    return schema.model_json_schema() if hasattr(schema, "model_json_schema") else schema
