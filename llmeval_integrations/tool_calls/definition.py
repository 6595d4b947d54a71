"""Read tool definitions in the shapes of all APIs and frameworks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.json_values.values import TYPES
from llmeval_integrations.schemas.document import DEFINITIONS, NAMED, resolve

_SCHEMAS: Final = (
    *("parameters", "input_schema", "inputSchema", "parameters_json_schema"),
    *("parametersJsonSchema", "args_schema", "schema"),
)
_LISTS: Final = ("tools", "function_declarations", "functionDeclarations")
_RESULTS: Final = ("output", "response", "result", "return")
"""The beginnings of the keys of the schema of what a tool returns."""

_BESIDE_REFERENCE: Final = frozenset(
    ("$ref", "$schema", "type", "title", "description", *DEFINITIONS)
)

# The `args` of LangChain's tools with a single input, and the schema that models get for them.
_ONE_INPUT: Final = {"tool_input": {"type": "string"}}
_ONE_INPUT_SCHEMA: Final = {
    "type": "object",
    "properties": {"__arg1": {"type": "string"}},
    "required": ["__arg1"],
}

_OWN_TYPES: Final = frozenset(("function", "custom", "tool", *TYPES.values()))
"""The types of definitions of a user's own tools. An API runs tools of other types by itself, or
the model knows their arguments: `web_search`, `bash_20250124`."""

# The names of Python's and Google's types; Google's are written in capitals.
_TYPES: Final[dict[str, str | None]] = {
    **dict.fromkeys(("dict", "map"), "object"),
    **dict.fromkeys(("list", "tuple", "set"), "array"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("int", "long"), "integer"),
    **dict.fromkeys(("none", "nonetype"), "null"),
    **dict.fromkeys(("any", "type_unspecified"), None),  # any value is valid
    "bool": "boolean",
    "str": "string",
}
_WITH_SCHEMAS: Final = frozenset(
    [
        *("items", "additionalItems", "additionalProperties", "propertyNames", "contains", "not"),
        *("if", "then", "else", "anyOf", "oneOf", "allOf", "prefixItems"),
    ]
)


def read_tools(tools: Any) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each tool's arguments, by the tool's name.

    A definition is an object with a `name` and a schema, in the shape of OpenAI, Anthropic, Google,
    Amazon or MCP. It may also be a tool of LangChain or LlamaIndex, or a Pydantic model with the
    tool's name. `tools` is one definition, a list, an object with the list under `tools` or
    `function_declarations`, or JSON text of these. A tool without a schema has no arguments. But if
    its type is one that models know, such as Anthropic's `bash_20250124`, it may have any. Tools
    without a name, which an API runs by itself, are skipped. Raises InvalidOptionError.
    """
    definitions = [*_list_definitions(tools)]
    if definitions and not any(definitions):
        raise InvalidOptionError(f"not a tool definition: {quote(tools)}")
    found: dict[str, dict[str, Any]] = {}
    for name, schema in filter(None, definitions):
        if name in found:
            raise InvalidOptionError(f"two tools have the name {name!r}")
        found[name] = _read_schema(name, schema)
    return found


def _read_schema(name: str, schema: Any) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, whose type must be an object."""
    if schema is not None and not isinstance(schema, dict):
        raise InvalidOptionError(
            f"the schema of the tool {name!r} is not a JSON Schema: {quote(schema)}"
        )
    read = convert_schema(schema or {"properties": {}})
    target = resolve(read, read.get("$ref"))
    # Pydantic writes a model that contains itself as a reference and nothing else.
    if isinstance(target, dict) and "$id" not in target and read.keys() <= _BESIDE_REFERENCE:
        read = {**{key: value for key, value in read.items() if key != "$ref"}, **target}
    read = {"type": "object", **read}
    kind = read["type"]
    if "object" not in (kind if isinstance(kind, list) else [kind]):
        raise InvalidOptionError(
            f"the schema of the tool {name!r} must have the type 'object', not {quote(kind)}"
        )
    return read


def _list_definitions(tools: Any) -> Iterable[tuple[str, Any] | None]:
    """Yield the name and schema of each definition; None for a tool without a name."""
    value = _convert(tools)
    if isinstance(value, dict):
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), value)
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _list_definitions(item)
        return
    if not isinstance(value, dict):
        raise InvalidOptionError(f"not a tool definition: {quote(tools)}")
    # OpenAI's chat API and Amazon put the definition inside another object.
    keys = ("custom",) if value.get("type") == "custom" else ("function", "toolSpec")
    inner = next((value[key] for key in keys if isinstance(value.get(key), dict)), value)
    name, is_hosted = inner.get("name"), _is_hosted(value)
    if isinstance(name, str) and name:
        schema = _find_schema(name, inner)
        yield name, {"type": "object"} if schema is None and is_hosted else schema
    elif is_hosted and name is None:
        yield None
    else:
        raise InvalidOptionError(f"not a tool definition: {quote(tools)}")


def _is_hosted(definition: dict[str, Any]) -> bool:
    """Return whether an API runs this tool by itself, or the model knows its arguments."""
    kind = definition.get("type")
    if isinstance(kind, str):
        has_schema = not definition.keys().isdisjoint((*_SCHEMAS, "properties", "function"))
        return not (kind in _OWN_TYPES or has_schema)
    # Google's and Amazon's have no type but one member with their options, as `googleSearch`.
    options = [value for value in definition.values() if value is not None]
    return bool(options) and all(isinstance(value, (dict, list)) for value in options)


def _find_schema(name: str, definition: dict[str, Any]) -> Any:
    """Return a definition's schema or None; raise InvalidOptionError if its key is unknown."""
    schema = next((definition[key] for key in _SCHEMAS if definition.get(key) is not None), None)
    if isinstance(schema, dict) and schema.keys() == {"json"}:  # Amazon's
        return schema["json"]
    if not definition.keys().isdisjoint(_SCHEMAS):
        return schema
    for key, value in definition.items():
        is_schema = isinstance(value, dict) and "properties" in value
        if is_schema and not key.lower().startswith(_RESULTS):
            raise InvalidOptionError(f"the tool {name!r} has {key!r}; did you mean 'parameters'?")
    return None


def _convert(tool: Any) -> Any:
    """Return a definition as JSON values; frameworks' objects are recognized by attributes."""
    if isinstance(tool, (list, tuple)):
        return tool
    if isinstance(tool, type) and hasattr(tool, "model_json_schema"):
        return {"name": tool.__name__, "parameters": tool.model_json_schema()}
    if hasattr(tool, "args_schema"):  # LangChain
        schema = getattr(tool, "tool_call_schema", tool.args_schema)
        if tool.args_schema is None and getattr(tool, "args", None) == _ONE_INPUT:
            schema = _ONE_INPUT_SCHEMA
        if hasattr(schema, "model_json_schema"):
            schema = schema.model_json_schema()
        return {"name": tool.name, "parameters": schema}
    metadata: Any = getattr(tool, "metadata", None)
    if hasattr(metadata, "get_parameters_dict"):  # LlamaIndex
        return {"name": metadata.name, "parameters": metadata.get_parameters_dict()}
    given = getattr(tool, "tool_def", tool)
    if is_dataclass(type(given)) and hasattr(given, "parameters_json_schema"):  # Pydantic AI
        return {"name": given.name, "parameters": given.parameters_json_schema}
    if type(tool).__module__.startswith("anthropic.") and hasattr(tool, "to_dict"):
        return tool.to_dict()
    value = parse(dict(tool) if isinstance(tool, Mapping) else tool)
    if isinstance(value, Defect):
        raise InvalidOptionError(f"not a tool definition: {quote(tool)}: {value.reason}")
    return value


def convert_schema(schema: Any) -> Any:
    """Convert a schema to plain JSON Schema.

    Names of types in Python's words or in capitals become JSON Schema's, `nullable` becomes the
    type null, and keywords that are null are dropped. As in Google's schemas, keywords may be in
    snake case, and counts may be texts. Names of properties, defaults and enums are not changed.
    """
    if isinstance(schema, list):  # `items` could be a list before draft 2020-12
        return [*map(convert_schema, schema)]
    if not isinstance(schema, dict):
        return schema
    # Google's SDK dumps each keyword without a value as null.
    is_dumped = "any_of" in schema or ("ref" in schema and "defs" in schema)
    found: dict[str, Any] = {}
    for given, value in schema.items():
        if value is None and (is_dumped or given not in ("default", "const")):
            continue
        first, *others = given.split("_")  # Google's SDK dumps keywords in its own spelling
        spelt = first + "".join(map(str.capitalize, others))
        key = f"${given}" if given in ("defs", "ref") else spelt
        if key in NAMED and isinstance(value, dict):
            found[key] = {name: convert_schema(part) for name, part in value.items()}
        elif key in _WITH_SCHEMAS:
            found[key] = convert_schema(value)
        else:  # Google's JSON writes 64-bit counts as texts
            is_count = isinstance(value, str) and key.startswith(("max", "min"))
            found[key] = int(value) if is_count and value.isdecimal() else value
    return _convert_type(found)


def _convert_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Write the type as JSON Schema does; leave it out if any value is valid."""
    given = schema.pop("type", [])
    names = given if isinstance(given, list) else [given]
    types = [_TYPES.get(str(name).lower(), str(name).lower()) for name in names]
    if types and None not in types:
        schema["type"] = types if isinstance(given, list) else types[0]
    if schema.pop("nullable", None) is not True:
        return schema
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    outside: dict[str, Any] = {
        key: schema.pop(key) for key in ("default", "$defs") if key in schema
    }
    return {**outside, "anyOf": [schema, {"type": "null"}]}
