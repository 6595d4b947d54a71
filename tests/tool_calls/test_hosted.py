"""Tools that an API runs by itself are skipped, those that a model was taught may take anything."""

import pytest

from llmeval_integrations import ToolCallSchema
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.tool_calls.definition import read_tools

NOW = {"name": "now"}
HOSTED = [
    {"type": "web_search"},
    {"type": "mcp_toolset", "mcp_server_name": "s", "default_config": {"enabled": True}},
    {"googleSearch": {}},
    {"type": "google_search"},
    {"type": "url_context"},
    {"code_execution": {}, "function_declarations": None, "url_context": None},
]
OPEN = [
    {"type": "bash_20250124", "name": "f"},
    {"type": "computer_20250124", "name": "f", "display_width_px": 1},
    {"type": "custom", "name": "f"},
    {"type": "custom", "custom": {"name": "f", "format": {"type": "text"}}},
]


@pytest.mark.parametrize("tool", HOSTED)
def test_a_hosted_tool_without_a_name_is_skipped(tool):
    assert list(read_tools([tool, NOW])) == ["now"]


@pytest.mark.parametrize("tool", [*HOSTED, HOSTED])
def test_hosted_tools_alone_are_no_tools(tool):
    with pytest.raises(InvalidOptionError, match="no definition of a tool"):
        read_tools(tool)


@pytest.mark.parametrize(
    "odd",
    [3, {"foo": 1}, {"googleSearch": {}, "foo": 1}, {"type": "function"}, {"type": "custom"},
     {"type": "object", "properties": {"a": {}}}, {"type": "web_search", "name": 3}, {"googleSearch": None}],
)  # fmt: skip
def test_what_is_no_definition_is_an_error_beside_tools(odd):
    with pytest.raises(InvalidOptionError, match="no definition of a tool"):
        read_tools([odd, NOW])


@pytest.mark.parametrize("tool", OPEN)
def test_a_tool_that_needs_no_schema_takes_any_arguments(tool):
    assert ToolCallSchema([tool])({"name": "f", "arguments": {"command": "ls"}}).passed


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "name": "f"},
        {"type": "function", "function": {"name": "f"}},
        {"type": "custom", "name": "f", "input_schema": {"properties": {"a": {}}}},
        {"name": "f", "parameters": {"properties": {"a": {}}}, "custom": {"name": "g"}},
    ],
)
def test_another_tool_takes_what_it_declares(tool):
    assert not ToolCallSchema([tool])({"name": "f", "arguments": {"command": "ls"}}).passed


def test_hosted_tools_of_googles_sdk_are_skipped():
    types = pytest.importorskip("google.genai.types")
    search = types.Tool(google_search=types.GoogleSearch())
    own = types.Tool(function_declarations=[types.FunctionDeclaration(name="now")])
    assert list(read_tools([search, own])) == ["now"]
    assert list(read_tools([search.model_dump(exclude_none=True), own])) == ["now"]


@pytest.mark.parametrize(
    "misspelt",
    [
        {"type": "tool", "nmae": "f", "parameters": {"properties": {}}},
        {"type": "function ", "fucntion": {"name": "f"}},
        {"type": "object", "title": "Weather", "required": ["a"]},
        {"type": "text", "text": "hi"},
        {"type": "web_search", "parameters": {"properties": {}}},
    ],
    ids=str,
)
def test_a_misspelt_definition_is_no_hosted_tool(misspelt):
    with pytest.raises(InvalidOptionError, match="no definition of a tool"):
        read_tools([{"name": "now"}, misspelt])


def test_a_name_beside_another_type_is_a_tool_without_arguments():
    for kind in ("object", "tool"):
        assert read_tools([{"name": "f", "type": kind}])["f"].get("properties") == {}


def test_a_schema_that_refers_to_a_text_is_refused():
    schema = {"$ref": "#/$defs/S", "$defs": {"S": {"type": "string"}}}
    with pytest.raises(InvalidOptionError, match="has the"):
        read_tools([{"name": "f", "parameters": schema}])
