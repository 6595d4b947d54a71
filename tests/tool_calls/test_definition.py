"""Every shape that definitions of tools come in gives the same JSON Schema."""

import json

import pytest

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.tool_calls.definition import convert_schema, read_tools

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
    "required": ["city"],
}
GOOGLE = {
    "type": "OBJECT",
    "properties": {"city": {"type": "STRING"}, "days": {"type": "INTEGER", "default": 1}},
    "required": ["city"],
}
SHAPES = {
    "OpenAI": {"type": "function", "function": {"name": "weather", "parameters": SCHEMA, "strict": True}},
    "OpenAI responses": {"type": "function", "name": "weather", "parameters": SCHEMA},
    "Anthropic": {"name": "weather", "description": "Weather.", "input_schema": SCHEMA},
    "Google": {"function_declarations": [{"name": "weather", "parameters": GOOGLE}]},
    "Google, JSON Schema": {"functionDeclarations": [{"name": "weather", "parametersJsonSchema": SCHEMA}]},
    "MCP": {"name": "weather", "inputSchema": SCHEMA},
    "Amazon": {"toolSpec": {"name": "weather", "inputSchema": {"json": SCHEMA}}},
    "Amazon, beside its own": {"tools": [{"systemTool": {"name": "search"}}, {"toolSpec": {"name": "weather", "inputSchema": {"json": SCHEMA}}}, {"cachePoint": {"type": "default"}}]},
    "plain": {"name": "weather", "description": "Weather.", "parameters": SCHEMA},
    "BFCL": {"name": "weather", "parameters": {**SCHEMA, "type": "dict"}},
}  # fmt: skip


@pytest.mark.parametrize("tool", SHAPES.values(), ids=SHAPES)
def test_a_definition_is_read_by_itself_in_a_list_and_as_text(tool):
    for tools in (tool, [tool], (tool,), {"tools": [tool]}, json.dumps(tool), json.dumps([tool])):
        assert read_tools(tools) == {"weather": SCHEMA}


NOTHING = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("tools", "read"),
    [
        ([], {}),
        ({"name": "f"}, {"f": NOTHING}),
        ([{"name": "f", "description": "Says it.", "strict": True, "metadata": {}}], {"f": NOTHING}),
        ([{"name": "f", "parameters": {"properties": {}}}], {"f": NOTHING}),
        ([{"name": "f", "parameters": {**NOTHING, "type": ["object", "null"]}}], {"f": {**NOTHING, "type": ["object", "null"]}}),
        ([{"name": "f", "type": "tool"}, {"name": "g", "type": "object"}], {"f": NOTHING, "g": NOTHING}),
    ],
)  # fmt: skip
def test_a_tool_without_a_schema_has_no_arguments(tools, read):
    assert read_tools(tools) == read


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"type": "dict"}, {"type": "object"}),
        ({"type": "float"}, {"type": "number"}),
        ({"type": "tuple", "items": {"type": "int"}}, {"type": "array", "items": {"type": "integer"}}),
        ({"type": "str"}, {"type": "string"}),
        ({"type": "any"}, {}),
        ({"type": ["str", "None"]}, {"type": ["string", "null"]}),
        ({"type": "NUMBER", "nullable": True}, {"type": ["number", "null"]}),
        ({"type": "string", "enum": ["a"], "nullable": True}, {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
        ({"anyOf": [{"type": "float"}]}, {"anyOf": [{"type": "number"}]}),
        ({"any_of": [{"type": "STRING"}], "min_items": None, "default": None}, {"anyOf": [{"type": "string"}]}),
        ({"type": "ARRAY", "min_items": 2, "items": {"max_length": 3}}, {"type": "array", "minItems": 2, "items": {"maxLength": 3}}),
        ({"type": "OBJECT", "additional_properties": False, "properties": {"min_items": {}}}, {"type": "object", "additionalProperties": False, "properties": {"min_items": {}}}),
        ({"type": "ARRAY", "minItems": "1", "items": {"type": "STRING", "maxLength": "5"}}, {"type": "array", "minItems": 1, "items": {"type": "string", "maxLength": 5}}),
        ({"properties": {"type": {"type": "str"}, "default": {"type": "float"}}}, {"properties": {"type": {"type": "string"}, "default": {"type": "number"}}}),
        ({"type": "string", "enum": ["dict"], "default": "dict"}, {"type": "string", "enum": ["dict"], "default": "dict"}),
        (True, True),
    ],
)  # fmt: skip
def test_what_is_called_a_schema_becomes_json_schema(given, meant):
    assert convert_schema(given) == meant


def test_a_pydantic_model_is_a_tool_also_one_that_holds_itself():
    pydantic = pytest.importorskip("pydantic")

    class Node(pydantic.BaseModel):
        size: int
        nodes: list["Node"] = []

    class Weather(pydantic.BaseModel):
        city: str

    read = read_tools([Node, Weather])
    assert read["Weather"]["required"] == ["city"]
    node = read["Node"]
    assert (list(node["properties"]), node["required"]) == (["size", "nodes"], ["size"])
    assert node["properties"]["nodes"]["items"] == {"$ref": "#/$defs/Node"}
    assert "Node" in node["$defs"]


@pytest.mark.parametrize(
    ("module", "make"),
    [
        ("langchain_core.tools", lambda tools: tools.tool),
        ("llama_index.core.tools", lambda tools: tools.FunctionTool.from_defaults),
        ("pydantic_ai", lambda ai: ai.Tool),
        ("pydantic_ai", lambda ai: lambda function: ai.Tool(function).tool_def),
        ("anthropic", lambda sdk: sdk.beta_tool),
    ],
)
def test_tools_of_frameworks_are_read(module, make):
    def weather(city: str, days: int = 1) -> str:
        """Say what the weather is."""
        return city * days

    read = read_tools([make(pytest.importorskip(module))(weather)])["weather"]
    assert (read["properties"]["days"]["default"], read["required"]) == (1, ["city"])


def test_tools_of_googles_sdk_and_their_dumps_are_read_and_hosted_ones_skipped():
    types = pytest.importorskip("google.genai.types")
    names = types.Schema(type="ARRAY", items=types.Schema(type="STRING", max_length=3), min_items=2)
    number = types.Schema(type="INTEGER", nullable=True)
    schema = types.Schema(type="OBJECT", properties={"min_items": names, "n": number})
    declared = types.FunctionDeclaration(name="f", parameters=schema)
    tool = types.Tool(function_declarations=[declared])
    search = types.Tool(google_search=types.GoogleSearch())
    properties = {
        "min_items": {"type": "array", "items": {"type": "string", "maxLength": 3}, "minItems": 2},
        "n": {"type": ["integer", "null"]},
    }
    for given in (tool, tool.model_dump(), tool.model_dump(exclude_none=True)):
        for hosted in (search, search.model_dump(exclude_none=True)):
            assert read_tools([hosted, given])["f"]["properties"] == properties
    dumped = dict.fromkeys(("anyOf", "default", "ref", "defs", "maxItems", "required"))
    by_alias = {"name": "f", "parameters": {**dumped, "type": "OBJECT", "properties": {"n": {**dumped, "type": "INTEGER"}}}}  # fmt: skip
    assert read_tools([by_alias])["f"]["properties"] == {"n": {"type": "integer"}}


def test_a_tool_of_langchains_with_one_input_has_the_argument_that_models_are_given():
    tools = pytest.importorskip("langchain_core.tools")
    calling = pytest.importorskip("langchain_core.utils.function_calling")
    tool = tools.Tool(name="say", description="Say it.", func=str)
    given = read_tools([calling.convert_to_openai_tool(tool)])["say"]
    given["properties"]["__arg1"].pop("title")
    assert read_tools([tool])["say"] == given


# --- tools that an API runs by itself, or that a model was taught ---------------------------------

NOW = {"name": "now"}
HOSTED = [
    {"type": "web_search"},
    {"type": "mcp_toolset", "mcp_server_name": "s", "default_config": {"enabled": True}},
    {"googleSearch": {}},
    {"type": "google_search"},
    {"type": "url_context"},
    {"code_execution": {}, "function_declarations": None, "url_context": None},
]


NO_DEFINITION = "not a tool definition"


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        *((odd, NO_DEFINITION) for odd in (3, "weather", "{", {}, {"name": 3}, [{}], [None], object(), HOSTED, *HOSTED)),
        *(([odd, NOW], NO_DEFINITION) for odd in (3, {"foo": 1}, {"googleSearch": {}, "foo": 1}, {"googleSearch": None})),
        *(([{"type": kind, **more}, NOW], NO_DEFINITION) for kind, more in (
            ("function", {}), ("custom", {}), ("object", {"properties": {"a": {}}}), ("object", {"title": "Weather", "required": ["a"]}),
            ("web_search", {"name": 3}), ("web_search", {"parameters": {"properties": {}}}),
            ("tool", {"nmae": "f", "parameters": {"properties": {}}}), ("function", {"fucntion": {"name": "f"}}))),
        ({"name": "f", "parameters": [1]}, "is not a JSON Schema"),
        ([SHAPES["MCP"], SHAPES["OpenAI"]], "two tools have the name 'weather'"),
        ({"name": "w", "paramters": {"properties": {}}}, "'paramters'; did you mean 'parameters'"),
        ({"name": "w", "parameters": {"type": "string"}}, "must have the type .object., not .string."),
        ({"name": "w", "parameters": {"$ref": "#/$defs/S", "$defs": {"S": {"type": "string"}}}}, "must have the type .object."),
    ],
)  # fmt: skip
def test_what_is_no_definition_of_a_tool_is_an_error(tools, words):
    with pytest.raises(InvalidOptionError, match=words):
        read_tools(tools)
