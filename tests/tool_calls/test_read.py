"""Every shape that calls come in is read, and what is not a call says so."""

import json
import math
from types import MappingProxyType

import pytest
from pace import at_most

from llmeval_integrations import InputError
from llmeval_integrations.messages.read import read_answer
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.read import read_calls

ARGUMENTS = {"city": "Paris", "days": 3}
TEXT = json.dumps(ARGUMENTS)
CALL = ToolCall("weather", ARGUMENTS)
WITH_ID = ToolCall("weather", ARGUMENTS, "c1")

OPENAI = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": TEXT}}
RESPONSES = {"type": "function_call", "id": "fc", "call_id": "c1", "name": "weather", "arguments": TEXT}  # fmt: skip
ANTHROPIC = {"type": "tool_use", "id": "c1", "name": "weather", "input": ARGUMENTS}
GOOGLE = {"function_call": {"name": "weather", "args": ARGUMENTS}}
AMAZON = {"toolUse": {"toolUseId": "c1", "name": "weather", "input": ARGUMENTS}}
AMAZONS_OWN = {"toolUse": {**AMAZON["toolUse"], "type": "server_tool_use"}}
LANGCHAIN = {"type": "tool_call", "id": "c1", "name": "weather", "args": ARGUMENTS}
LLAMA_INDEX = {"tool_id": "c1", "tool_name": "weather", "tool_kwargs": ARGUMENTS}
PLAIN = {"name": "weather", "arguments": ARGUMENTS}
TAGS = f"<tool_call>{json.dumps(PLAIN)}</tool_call>"
STEPS = [
    {"type": "user_input", "content": [{"type": "text", "text": TAGS}]},
    {"type": "thought", "signature": "s", "summary": [{"type": "text", "text": "So."}]},
    {"type": "mcp_server_tool_call", "id": "m", "name": "weather", "server_name": "s", "arguments": ARGUMENTS},
    {"type": "google_search_call", "id": "g", "arguments": {"queries": ["rain"]}},
    {"type": "google_search_result", "call_id": "g", "result": []},
    {"type": "model_output", "content": [{"type": "text", "text": "It rains."}]},
]  # fmt: skip

SHAPES = {
    "OpenAI, a message": ({"role": "assistant", "content": None, "tool_calls": [OPENAI]}, [WITH_ID]),
    "OpenAI, a response": ({"choices": [{"index": 0, "message": {"tool_calls": [OPENAI]}}]}, [WITH_ID]),
    "OpenAI, before tools": ({"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": TEXT}}, [CALL]),
    "OpenAI responses, a response": ({"id": "r", "output": [{"type": "message", "content": []}, RESPONSES]}, [WITH_ID]),
    "Anthropic, a message": ({"role": "assistant", "content": [{"type": "text", "text": "So."}, ANTHROPIC, ANTHROPIC]}, [WITH_ID, WITH_ID]),
    "Google, a content": ({"role": "model", "parts": [{"text": "So."}, GOOGLE]}, [CALL]),
    "Google, a response": ({"candidates": [{"content": {"parts": [GOOGLE]}}]}, [CALL]),
    "Google, an interaction": ({"id": "i", "status": "requires_action", "steps": [*STEPS, RESPONSES]}, [WITH_ID]),
    "Google, an interaction that ends in tags": ({"id": "i", "steps": [STEPS[1], {"type": "model_output", "content": [{"type": "text", "text": TAGS}]}]}, [CALL]),
    "Amazon, blocks": ([{"reasoningContent": {"reasoningText": {"text": TAGS}}}, {"text": "So."}, AMAZON], [WITH_ID]),
    "Amazon, messages": ([{"role": "assistant", "content": [AMAZON]}, {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"json": PLAIN}]}}]}], [WITH_ID]),
    "Amazon, a response": ({"output": {"message": {"role": "assistant", "content": [{"text": "So."}, AMAZON]}}, "stopReason": "tool_use"}, [WITH_ID]),
    "Amazon, a call of its own": ([AMAZONS_OWN, AMAZON], [WITH_ID]),
    "LangChain, a call": (LANGCHAIN, [WITH_ID]),
    "LangChain, a message": ({"type": "ai", "name": None, "content": "", "tool_calls": [LANGCHAIN], "invalid_tool_calls": []}, [WITH_ID]),
    "LlamaIndex, a selection": (LLAMA_INDEX, [WITH_ID]),
    "LlamaIndex, a message": ({"role": "assistant", "blocks": [{"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "weather", "tool_kwargs": ARGUMENTS}]}, [WITH_ID]),
    "Pydantic AI, messages": ([{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": TAGS}]}, {"kind": "response", "parts": [{"part_kind": "text", "content": "So."}, {"part_kind": "tool-call", "tool_name": "weather", "args": TEXT, "tool_call_id": "c1", "id": None}]}, {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "weather", "content": None, "tool_call_id": "c1"}]}], [WITH_ID]),
    "Pydantic AI, parts": ([{"part_kind": kind, "content": TAGS} for kind in ("system-prompt", "user-prompt", "retry-prompt")] + [{"part_kind": "tool-call", "tool_name": "weather", "args": TEXT, "tool_call_id": "c1"}], [WITH_ID]),
    "plain": (PLAIN, [CALL]),
    "plain, as Llama writes it": ({"name": "weather", "parameters": ARGUMENTS}, [CALL]),
    "arguments an empty text": ({"name": "weather", "arguments": ""}, [ToolCall("weather")]),
    "messages": ([{"role": "user", "content": '<tool_call>{"name": "x"}</tool_call>'}, {"role": "assistant", "tool_calls": [OPENAI]}, {"role": "tool", "content": TEXT, "name": "weather"}, {"role": "assistant", "content": "Rain."}], [WITH_ID]),
    "LangGraph, a state": ({"messages": [{"type": "human", "content": "Rain?"}, {"type": "ai", "content": "", "tool_calls": [LANGCHAIN]}], "output": "Rain."}, [WITH_ID]),
    "a record of a request with its response": ({"messages": [PLAIN], "choices": [{"message": {"tool_calls": [OPENAI]}}]}, [WITH_ID]),
    "tags in a message": ({"role": "assistant", "content": f"<tool_call>{json.dumps(PLAIN)}</tool_call>"}, [CALL]),
    "Google, parts": ([{"text": "So.", "thought": True, "thought_signature": "_w"}, {"text": "So.", "inline_data": None}, GOOGLE], [CALL]),
    "Google, parts of other kinds": ([{"executableCode": {"code": "1"}}, {"function_response": {"name": "f", "response": {}}}], []),
    "OpenAI responses, an output": ([{"type": "reasoning", "id": "r", "summary": []}, {"type": "message", "role": "assistant", "content": []}, {"type": "web_search_call", "id": "w", "status": "completed"}, RESPONSES], [WITH_ID]),
    "LlamaIndex, blocks": ([{"block_type": "text", "text": "So."}, {"block_type": "thinking", "content": "<tool_call>{</tool_call>"}], []),
    "tags in two blocks": ({"content": ["So. ", {"type": "text", "text": TAGS[:20]}, {"type": "thinking", "thinking": TAGS}, {"type": "text", "text": TAGS[20:]}]}, [CALL]),
    "tags, OpenAI responses, an output": ([{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TAGS}]}], [CALL]),
    "tags, OpenTelemetry": ({"role": "assistant", "parts": [{"type": "text", "content": TAGS}]}, [CALL]),
    "tags in thoughts of Google's": ({"role": "model", "parts": [{"text": TAGS, "thought": True}]}, []),
    "tags in blocks of a user": ([{"role": "user", "content": [{"type": "text", "text": TAGS}]}, {"role": "assistant", "content": "So."}], []),
    "JSON in the last message": ([{"role": "user", "content": "Rain?"}, {"role": "assistant", "content": [{"type": "text", "text": json.dumps(PLAIN)}]}], [CALL]),
    "JSON in a message behind a call": ([{"role": "assistant", "tool_calls": [OPENAI]}, {"role": "assistant", "content": json.dumps(PLAIN)}], [WITH_ID]),
    "Google, a call of its own": ([{"tool_call": {"id": "s", "tool_type": "GOOGLE_SEARCH_WEB", "args": {}}}, {"tool_response": {}, "speechMetadata": {}}, GOOGLE], [CALL]),
    "LlamaIndex, a message before tools": ({"role": "assistant", "blocks": [], "additional_kwargs": {"function_call": {"name": "weather", "arguments": TEXT}}}, [CALL]),
    "OpenAI, a custom tool": ({"tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "run", "input": "print(1)"}}]}, [ToolCall("run", {"input": "print(1)"}, "c1")]),
    "OpenAI responses, a custom tool": ({"type": "custom_tool_call", "id": "x", "call_id": "c1", "name": "run", "input": "print(1)"}, [ToolCall("run", {"input": "print(1)"}, "c1")]),
    "a custom tool's input that is JSON": ([{"type": "custom_tool_call", "call_id": "c1", "name": "run", "input": TEXT}], [ToolCall("run", {"input": TEXT}, "c1")]),
    "a block of text with tags by itself": ({"type": "text", "text": TAGS}, [CALL]),
    "Google, a question that it blocks": ({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}, "modelVersion": "g"}, []),
}  # fmt: skip


@pytest.mark.parametrize(("value", "calls"), SHAPES.values(), ids=SHAPES)
def test_a_shape_is_read_as_a_value_and_as_text(value, calls):
    assert read_calls(value) == calls
    assert read_calls(json.dumps(value)) == calls
    assert read_calls(f"```json\n{json.dumps(value)}\n```") == calls


TAGGED = f"<tool_call>\n{json.dumps(PLAIN)}\n</tool_call>"


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (TAGGED, [CALL]),
        ("I look. " + TAGGED + " Wait.", [CALL]),
        (TAGGED.removesuffix("\n</tool_call>"), [CALL]),
        (f"<tool_call>[{json.dumps(PLAIN)}, {json.dumps(PLAIN)}]</tool_call>", [CALL, CALL]),
        ('<tool_call>{"name": "say", "arguments": {"text": "a </tool_call> b"}}</tool_call>' + TAGGED,
         [ToolCall("say", {"text": "a </tool_call> b"}), CALL]),
        ("Maybe " + TAGGED + "?</think>" + TAGGED, [CALL]),
        (TAGGED + "<think>More?</think>" + TAGGED, [CALL, CALL]),
        ('<tool_call>{"name": "say", "arguments": {"text": "a </think> b"}}</tool_call>',
         [ToolCall("say", {"text": "a </think> b"})]),
        ('Hm.</think><tool_call>{"name": "say", "arguments": {"text": "a </think> b"}}</tool_call>',
         [ToolCall("say", {"text": "a </think> b"})]),
        ('<tool_call>\n```json\n{"name": "say", "arguments": {"text": "a </tool_call> b"}}\n```\n</tool_call>' + TAGGED,
         [ToolCall("say", {"text": "a </tool_call> b"}), CALL]),
        ('<tool_call>```{"name": "say", "arguments": {"text": "a </tool_call> b"}}',
         [ToolCall("say", {"text": "a </tool_call> b"})]),
        ('<tool_call>{"name": "say", "arguments": {"text": "<tool_call> </think>"}}</tool_call>',
         [ToolCall("say", {"text": "<tool_call> </think>"})]),
        ('<tool_call>{"name": "say", "arguments": {"text": "<think>a</think> b"}}</tool_call>',
         [ToolCall("say", {"text": "<think>a</think> b"})]),
        (TAGGED + "\n</think>", [CALL]),
        (TAGGED + " I used the </think> tag.", [CALL]),
        (TAGGED + "<think>Or " + TAGGED + "?</think>" + TAGGED, [CALL, CALL]),
        ("I see. <think>A <tool_call>?</think>" + TAGGED, [CALL]),
        ("Maybe a <tool_call>?</think>" + TAGGED, [CALL]),
        ("<think> is a tag. " + TAGGED, [CALL]),
        ("It rains.", []), ("", []), ("42", []), ('"text"', []), ("null", []),
    ],
)  # fmt: skip
def test_a_text_holds_calls_in_tags_or_none(text, calls):
    assert read_calls(text) == calls
    assert read_calls(turns(text)) == calls * 2


def turns(text):
    """A conversation in which a model writes the text twice, and then an answer."""
    said = [{"role": "assistant", "content": one} for one in (text, text, "It rains.")]
    return [said[0], {"role": "tool", "content": "rain"}, *said[1:]]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"name": "f", "arguments": '{"a": 1'}, "truncated"),
        ({"name": "f", "arguments": "[1]"}, "not a JSON object"),
        ([1], "not a tool call: 1"),
        ([{"tool_call": "f()"}], "not a tool call"),
        ({"candidates": [{"content": {"parts": []}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "bad call"}]}, "bad call"),
        ([{"content": None, "finish_reason": "UNEXPECTED_TOOL_CALL", "finish_message": None}], "UNEXPECTED_TOOL_CALL"),
        ({"name": "f", "arguments": {"a": object()}}, "not JSON (not_json)"),
        ({"name": "f", "arguments": {"a": 1, 2: 3}}, "not JSON (not_json)"),
        ([{"name": "f", "arguments": {"a": [math.nan]}}], "not JSON (nan_or_infinity)"),
        ({"tool_calls": [{"name": "f", "args": {"a": "\ud800"}}]}, "not JSON (lone_surrogate)"),
        ([{"type": "weather", "name": "f", "args": {}}], "not a tool call"),
        ([{"type": ["text"], "text": "So."}], "not a tool call"),
        ([{"text": {"city": "Paris"}}], "not a tool call"),
        ([{"text": None}], "not a tool call"),
        ([{}], "not a tool call"),
        ('<tool_call>{"text": "So."}</tool_call>', "not a tool call"),
        ({"type": "function", "function": {"arguments": "{}"}}, "not a tool call"),
        ([{"name": "", "arguments": {}}], "not a tool call"),
        ({"content": [{"type": "tool_use", "input": {}}]}, "not a tool call"),
        ({"invalid_tool_calls": [{"name": "f", "args": "{}", "error": "bad JSON"}]}, "bad JSON"),
        ('<tool_call>{"name": "f"</tool_call>', "truncated"),
        ("<tool_call>{'name': 'f'}</tool_call>", "single_quotes"),
        ('<tool_call>{"name": "f"} and so</tool_call>', "prose_around"),
        ("<tool_call>3</tool_call>", "not a tool call"),
        ('<tool_call>{"name": "f", "arguments": {"a": "</think>', "truncated"),
        ('<tool_call>{"name": "f", "arguments": {"a": "</think>"}</tool_call>', "truncated"),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_read_says_why(value, words):
    calls = read_calls(value)
    assert len(calls) == 1
    assert words in calls[0].problem


ANSWERS = [
    "It rains.", "True", '"Paris" is the capital', "[Paris](http://x) is nice", "[1] see docs", "const u = {name: 'Bob'};",
    'Use `{"name": "x"}`.', 'Sure: [{"name": "f", "args": {}}]', "42", '[{"name": "x"}, {"input": 3}] or',
    '```json\n{"name": "my-app"}\n```\nRun it.', "f(a=1)", "null", '"{}"', "", "<think>{}</think> So.",
]  # fmt: skip


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_holds_no_calls(text):
    assert read_calls(text) == read_calls(message(text)) == []


def message(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"answer": 42}', "not_a_call"),
        ('{"tool_call": "f()"}', "not_a_call"),
        ('[{"name": "f"', "truncated"),
        ('[{"answer": 42}]', None),
        ('{"calls": [{"name": "f", "arguments": {"a": 1}}]}', "not_a_call"),
        ('{"name": "f", "city": "Paris"}', "not_a_call"),
        ("{'name': 'f', 'arguments': {}}", "single_quotes"),
        ('```json\n{"type": "function", "fun', "truncated"),
        ('{name="f", arguments={a=1}}', "unquoted_key"),
    ],
)
def test_json_that_no_reader_knows_is_no_call_and_broken_json_its_defect(text, name):
    for read in (read_calls(text), read_calls(message(text)), read_calls([message(text)])):
        if name is None:  # among others in a list
            assert all("not a tool call" in call.problem for call in read)
        else:
            assert read.name == name
        assert read != []


def test_bytes_are_read_as_their_text():
    for text in ('Use {"a": 1} here', TAGS, json.dumps(PLAIN)):
        assert read_calls(text.encode()) == read_calls(text)
    assert read_calls(b'\xff{"a": 1}').name == "encoding"


@pytest.mark.parametrize("text", ['{"to": "Ann", "am', TEXT])
def test_a_streamed_message_is_read_by_its_own_text(text):
    messages = pytest.importorskip("langchain_core.messages")
    chunks = [{"name": "mail", "args": text[:9], "id": "c1", "index": 0}, {"name": None, "args": text[9:], "id": None, "index": 0}]  # fmt: skip
    first, second = (messages.AIMessageChunk("", tool_call_chunks=[chunk]) for chunk in chunks)
    said = first + second
    expected = read_calls({"tool_calls": [{"id": "c1", "name": "mail", "arguments": text}]})
    for value in (said, [said], said.model_dump(), said.model_dump_json()):
        assert read_calls(value) == expected
    assert ("truncated" in (expected[0].problem or "")) is (text != TEXT)


CHUNK = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {"content": "It rains."}, "finish_reason": None}]}  # fmt: skip


@pytest.mark.parametrize(
    "last", [CHUNK, {"type": "message_stop"}, {"type": "response.completed", "sequence_number": 3}]
)
def test_the_chunks_of_a_stream_are_refused(last):
    chat = pytest.importorskip("openai.types.chat")
    chunk = chat.ChatCompletionChunk.model_validate(CHUNK)
    for stream in ([last], [{"type": "ping"}, last], [chunk]):
        with pytest.raises(InputError, match="pass the message that the SDK joins"):
            read_calls(stream)
    for thing in (chunk, [chunk, chunk]):
        with pytest.raises(InputError, match="or the joined text"):
            read_answer(thing)


def test_a_call_that_googles_api_could_not_read_is_no_answer():
    google = pytest.importorskip("google.genai.types")
    candidate = {"content": {"role": "model"}, "finishReason": "MALFORMED_FUNCTION_CALL"}
    said = google.GenerateContentResponse.model_validate({"candidates": [candidate]})
    by_alias = said.model_dump(by_alias=True, exclude_none=True, mode="json")
    for value in (said, said.candidates, said.model_dump(), by_alias, said.model_dump_json()):
        (call,) = read_calls(value)
        assert call.problem == "MALFORMED_FUNCTION_CALL"


def test_a_call_that_langchain_lists_among_the_blocks_alone_is_read():
    broken = {"type": "invalid_tool_call", "id": "c2", "name": "f", "args": "{", "error": "bad"}
    for listed in ({"tool_calls": [LANGCHAIN], "invalid_tool_calls": []}, {}):
        read, wrong = read_calls({"type": "ai", "content": [LANGCHAIN, broken], **listed})
        assert (read, wrong.name, wrong.problem is None) == (WITH_ID, "f", False)


def test_objects_of_sdks_and_frameworks_are_read():
    messages = pytest.importorskip("langchain_core.messages")
    called = messages.AIMessage("", tool_calls=[{"name": "weather", "args": ARGUMENTS, "id": "c1"}])
    assert read_calls(called) == read_calls([called]) == [WITH_ID]
    assert read_calls(called.tool_calls) == [WITH_ID]
    state = {"messages": [messages.HumanMessage("Rain?"), called], "store": object()}
    assert read_calls(state) == read_calls(MappingProxyType(state)) == [WITH_ID]
    bad = messages.AIMessage(
        "", invalid_tool_calls=[{"name": "f", "args": "{", "id": "", "error": ""}]
    )
    assert "truncated" in read_calls(bad)[0].problem
    openai = pytest.importorskip("openai.types.chat")
    said = openai.ChatCompletionMessage.model_validate(
        {"role": "assistant", "tool_calls": [OPENAI]}
    )
    assert read_calls(said) == read_calls(said.tool_calls) == [WITH_ID]
    anthropic = pytest.importorskip("anthropic.types")
    block = anthropic.ToolUseBlock.model_validate(ANTHROPIC)
    text = anthropic.TextBlock(type="text", text="So.")
    assert read_calls([block]) == read_calls([text, block]) == [WITH_ID]
    google = pytest.importorskip("google.genai.types")
    part = google.Part(function_call=google.FunctionCall(name="weather", args=ARGUMENTS))
    assert read_calls(google.Content(role="model", parts=[part])) == [CALL]
    assert read_calls([google.Part(text="So.", thought_signature=b"\xff"), part]) == [CALL]
    items = pytest.importorskip("openai.types.responses")
    reasoning = items.ResponseReasoningItem(type="reasoning", id="r", summary=[])
    called = items.ResponseFunctionToolCall.model_validate(RESPONSES)
    assert read_calls([reasoning, called]) == [WITH_ID]


OF_THE_API = {
    "OpenAI": {"type": "mcp_call", "id": "m", "name": "weather", "arguments": TEXT, "server_label": "s", "output": None},
    "OpenAI, to be approved": {"type": "mcp_approval_request", "id": "m", "name": "weather", "arguments": TEXT, "server_label": "s"},
    "Anthropic": {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "rain"}},
    "Google, MCP": {"type": "mcp_server_tool_call", "id": "s", "name": "weather", "arguments": ARGUMENTS, "server_name": "s"},
    "Anthropic, MCP": {"type": "mcp_tool_use", "id": "s", "name": "weather", "input": ARGUMENTS, "server_name": "s"},
    "LangChain": {"type": "server_tool_call", "id": "s", "name": "web_search", "args": {"query": "rain"}},
    "Pydantic AI": {"part_kind": "builtin-tool-call", "tool_name": "web_search", "args": {"query": "rain"}, "tool_call_id": "s"},
}  # fmt: skip


@pytest.mark.parametrize("own", OF_THE_API.values(), ids=OF_THE_API)
def test_what_an_api_calls_by_itself_is_no_call(own):
    for value in ([own, ANTHROPIC], {"content": [own, ANTHROPIC]}, {"output": [own, RESPONSES]}):
        assert read_calls(value) == read_calls(json.dumps(value)) == [WITH_ID]
    for value in (own, [own], {"role": "assistant", "content": [own]}):
        assert read_calls(value) == read_calls(json.dumps(value)) == []


def test_an_interaction_of_googles_sdk_is_read():
    google = pytest.importorskip("google.genai.interactions")
    called = {"type": "function_call", "id": "c1", "name": "weather", "arguments": ARGUMENTS}
    made = google.Interaction.model_validate({"status": "requires_action", "steps": [*STEPS, called]})  # fmt: skip
    assert read_calls(made) == read_calls(made.steps) == [WITH_ID]


def test_messages_of_pydantic_ai_are_read():
    messages = pytest.importorskip("pydantic_ai.messages")
    asked = messages.ModelRequest(parts=[messages.UserPromptPart("Rain?")])
    called = messages.ToolCallPart("weather", ARGUMENTS, "c1")
    own = messages.NativeToolCallPart("web_search", {"query": "rain"}, "s")
    answer = messages.ToolCallPart("final_result", '{"rain": true}')
    made = messages.ModelResponse(parts=[messages.TextPart("So."), own, called, answer])
    back = messages.ModelRequest(parts=[messages.ToolReturnPart("weather", None, "c1")])
    assert read_calls([asked, made, back]) == read_calls(made) == read_calls(called) == [WITH_ID]
    assert read_calls(asked) == read_calls(back) == []


def test_objects_of_llama_index_are_read():
    tools = pytest.importorskip("llama_index.core.llms.llm")
    chosen = tools.ToolSelection(tool_id="c1", tool_name="weather", tool_kwargs=ARGUMENTS)
    assert read_calls(chosen) == read_calls([chosen]) == [WITH_ID]


@pytest.mark.parametrize(
    "piece",
    [" ", "<tool_call>", "<tool_call></tool_call>", '<tool_call>"', '<tool_call>["', "<tool_call>{</tool_call>", '<tool_call>{"a":"</tool_call>',
     "<tool_call><think></think>", "</think><tool_call>", "<think></think>", "<think>", "<think><tool_call></tool_call>", "<tool_call></think></tool_call>",
     '<tool_call>{"a":"</think><tool_call></tool_call>', '<tool_call>"</think><tool_call>"</tool_call>', ',"a":', '{"a":', "{a={b", "[f(", "functions.f:", "`", '{"""', "[a ", '<tool_call>```json\n{"a":"</tool_call>', ', " \' ', "{,  ", '<tool_call>{"name":"f"}</tool_call>'],
)  # fmt: skip
def test_a_hostile_text_takes_linear_time(piece):
    text = piece * (100_000 // len(piece))
    with at_most(1):
        read_calls(text)


def test_what_langchain_puts_around_messages_and_how_it_saves_them():
    load = pytest.importorskip("langchain_core.load")
    from langchain_core import messages, outputs

    asked = messages.HumanMessage('{"name": "asked", "arguments": {}}')
    call = {"name": "weather", "args": ARGUMENTS, "id": "c1"}
    called = messages.AIMessage("", tool_calls=[call], additional_kwargs={"own": object()})
    made = outputs.ChatGeneration(message=called)
    results = [outputs.ChatResult(generations=[made]), outputs.LLMResult(generations=[[made]])]
    called = messages.AIMessage("", tool_calls=[call])
    saved = [messages.messages_to_dict([asked, called]), load.dumpd([asked, called])]
    saved += [messages.message_to_dict(called), load.dumpd({"messages": [asked, called]})]
    for value in (made, [made], *results, *saved):
        assert read_calls(value) == [WITH_ID]
    for value in (messages.messages_to_dict([asked]), load.dumpd(asked), load.dumps([asked])):
        assert read_calls(value) == []


ROME = ToolCall("weather", {"city": "Rome"})


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('[weather(city="Rome")]', [ROME]),
        ("```python\n[weather(city='Rome'), geo.find(lat=-1.5, near=[1, (2, 3)], more={'a': None, 'b': True}, c=false)]\n```",
         [ROME, ToolCall("geo.find", {"lat": -1.5, "near": [1, [2, 3]], "more": {"a": None, "b": True}, "c": False})]),
        ("[now()]", [ToolCall("now")]),
        ('<think>[now()]</think>\n[weather(city="Rome")]', [ROME]),
        ('<function=weather>{"city": "Rome"}</function>', [ROME]),
        ('I will look. <function=weather>{"city": "Rome"}</function><function=now></function>', [ROME, ToolCall("now")]),
        ('<function=say>{"text": "</function>"}<|eom_id|>', [ToolCall("say", {"text": "</function>"})]),
        ('[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Rome"}}]', [ROME]),
        ('[TOOL_CALLS][{"name": "say", "arguments": {"text": "<function=f>"}}]', [ToolCall("say", {"text": "<function=f>"})]),
        ('So.[TOOL_CALLS]weather[ARGS]{"city": "Rome"}[TOOL_CALLS]say[CALL_ID]a1[ARGS]{"text": "[TOOL_CALLS]"}</s>', [ROME, ToolCall("say", {"text": "[TOOL_CALLS]"})]),
        ('[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Rome"}}, {"name": "now", "arguments": {}}]</s>', [ROME, ToolCall("now")]),
        # Prose, and JSON that only quotes such a form, are answers.
        ("[Rome](http://example.org/weather(1))", []),
        ("[see (1), (2)]", []),
        ("[sic (it rains)]", []),
        ("f(x) is [g(x) for x in y]", []),
    ],
)  # fmt: skip
def test_calls_are_read_of_the_forms_that_models_write_into_texts(text, calls):
    for value in (text, {"role": "assistant", "content": text}, [{"type": "text", "text": text}]):
        assert read_calls(value, expects_calls=False) == calls
    assert read_calls(turns(text), expects_calls=False) == calls * 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[weather("Rome")]', "has no name"),
        ("[weather(city=Rome)]", "'Rome' is not a JSON value"),
        ("[weather(city=open('x').read())]", "is not a JSON value"),
        ("[weather(size=1e999)]", "not JSON (nan_or_infinity)"),
        ('[weather(city="Ro', "incomplete"),
        ("[weather(city=" + "(" * 5_000 + ")]", "incomplete"),
        ('<function=weather>{"city": "Ro', "truncated"),
        ("<function=weather>Rome</function>", "not JSON"),
        ('[TOOL_CALLS][{"name": "weather", "argum', "truncated"),
        ('[TOOL_CALLS]weather[ARGS]{"city": "Ro', "truncated"),
        (
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n{"city": "Rome"}',
            "unknown form, after '<｜tool▁calls'",
        ),
        ("<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0", "unknown form"),
        ('<function_call>{"name": "weather", "arguments": {}}</function_call>', "unknown form"),
        ('<|python_tag|>{"name": "weather", "parameters": {}}', "unknown form"),
        ("<|channel|>commentary to=functions.weather <|message|>{}<|call|>", "unknown form"),
    ],
)
def test_a_call_in_such_a_form_that_cannot_be_read_says_why(text, problem):
    [call] = read_calls(text)
    assert problem in call.problem


def test_json_that_quotes_such_a_form_is_json():
    said = {"t": "[TOOL_CALLS] <function=f> <function_call>"}
    assert read_calls(json.dumps({"name": "say", "arguments": said})) == [ToolCall("say", said)]
    assert read_calls("<think>A <function_call>?</think> It rains.") == []
