"""The chunks and events of a stream hold the calls that their message has."""

import json

import pytest

from llmeval_integrations import ToolCallSchema
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.reading import read_calls


def chunk(*, choice=0, **delta):
    """Return a chunk of a chat with this delta."""
    said = {"index": choice, "delta": delta, "finish_reason": None}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [said]}  # fmt: skip


def piece(index, arguments, **others):
    """Return a chunk with a piece of a call."""
    function = {"arguments": arguments, **others.pop("function", {})}
    return chunk(tool_calls=[{"index": index, "function": function, **others}])


USAGE = {**chunk(), "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}  # fmt: skip
PARALLEL = [
    chunk(role="assistant", content=None),
    piece(0, "", id="c1", type="function", function={"name": "mail"}),
    piece(0, '{"to":'),
    piece(0, ' "Ann"}'),
    piece(1, "", id="c2", type="function", function={"name": "now"}),
    chunk(),
    USAGE,
]
MAIL = ToolCall("mail", {"to": "Ann"}, "c1")

STREAMS = {
    "parallel calls": (PARALLEL, [MAIL, ToolCall("now", {}, "c2")]),
    "whole calls without an index": (
        [
            chunk(tool_calls=[{"id": number, "function": {"name": "mail", "arguments": "{}"}}])
            for number in ("c1", "c2")
        ],
        [ToolCall("mail", {}, "c1"), ToolCall("mail", {}, "c2")],
    ),
    "a custom tool": (
        [
            chunk(tool_calls=[{"index": 0, "id": "c1", "type": "custom", "custom": {"name": "run", "input": "pri"}}]),
            chunk(tool_calls=[{"index": 0, "custom": {"input": "nt"}}]),
        ],
        [ToolCall("run", {"input": "print"}, "c1")],
    ),
    "before tools": (
        [chunk(function_call={"name": "mail", "arguments": ""}), chunk(function_call={"arguments": "{}"})],
        [ToolCall("mail")],
    ),
    "tags": (
        [chunk(content="<tool_"), chunk(content='call>{"name": "mail", "arguments": {}}</tool_call>')],
        [ToolCall("mail")],
    ),
    "the first of several choices": ([*PARALLEL[:4], chunk(choice=1, content="<tool_call>")], [MAIL]),
    "one chunk with all": (
        chunk(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "mail", "arguments": '{"to": "Ann"}'}}]),
        [MAIL],
    ),
    "an answer": ([chunk(content="It "), chunk(content="rains."), USAGE], []),
}  # fmt: skip


@pytest.mark.parametrize(("chunks", "calls"), STREAMS.values(), ids=STREAMS)
def test_the_chunks_of_a_chat_are_one_message(chunks, calls):
    assert read_calls(chunks) == calls
    assert read_calls(json.dumps(chunks)) == calls


def test_chunks_of_the_sdk_are_one_message():
    chat = pytest.importorskip("openai.types.chat")
    chunks = [chat.ChatCompletionChunk.model_validate(each) for each in PARALLEL]
    assert read_calls(chunks) == STREAMS["parallel calls"][1]


def test_a_stream_that_broke_off_is_a_call_that_cannot_be_read():
    (call,) = read_calls(PARALLEL[:3])
    assert (call.name, call.id) == ("mail", "c1")
    assert "truncated" in call.problem
    assert not ToolCallSchema([{"name": "mail"}])(PARALLEL[:3]).passed


@pytest.mark.parametrize("odd", [5, None, [], {"id": [1]}, {"index": {}, "function": 5}])
def test_an_odd_piece_stops_nothing(odd):
    assert isinstance(read_calls([chunk(tool_calls=[odd])]), list)
    assert isinstance(read_calls([chunk(tool_calls=odd)]), list)


def begun(index, **block):
    """Return Anthropic's event at which a block begins."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def added(index, text, kind="input_json", key="partial_json"):
    """Return Anthropic's event that adds a piece to a block."""
    delta = {"type": f"{kind}_delta", key: text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


STARTED = {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}}  # fmt: skip
ANTHROPIC = [
    STARTED,
    begun(0, type="text", text=""),
    added(0, "So.", "text", "text"),
    {"type": "content_block_stop", "index": 0},
    begun(1, type="tool_use", id="c1", name="mail", input={}),
    added(1, ""),
    added(1, '{"to":'),
    {"type": "ping"},
    added(1, ' "Ann"}'),
    {"type": "content_block_stop", "index": 1},
    begun(2, type="server_tool_use", id="s", name="web_search", input={}),
    begun(3, type="tool_use", id="c2", name="now", input={}),
    {"type": "message_stop"},
]


def of_responses(kind, index, **members):
    """Return an event of OpenAI's Responses."""
    return {"type": f"response.{kind}", "sequence_number": 1, "output_index": index, **members}


ITEM = {"type": "function_call", "id": "f", "call_id": "c1", "name": "mail", "arguments": ""}
RESPONSES = [
    {"type": "response.created", "response": {}},
    of_responses("output_item.added", 0, item=ITEM),
    of_responses("function_call_arguments.delta", 0, item_id="f", delta='{"to":'),
    of_responses("function_call_arguments.delta", 0, item_id="f", delta=' "Ann"}'),
    of_responses("function_call_arguments.done", 0, item_id="f", arguments='{"to": "Ann"}'),
    of_responses("output_item.done", 0, item={**ITEM, "arguments": '{"to": "Ann"}'}),
]
NOW = ToolCall("now", {}, "c2")
EVENTS = {
    "Anthropic": (ANTHROPIC, [MAIL, NOW]),
    "Anthropic, two messages": ([*ANTHROPIC, *ANTHROPIC], [MAIL, NOW, MAIL, NOW]),
    "Anthropic, tags": (
        [begun(0, type="text", text=""), added(0, "<tool_", "text", "text"),
         added(0, 'call>{"name": "mail"}</tool_call>', "text", "text")],
        [ToolCall("mail")],
    ),
    "Anthropic, an answer": (ANTHROPIC[:4], []),
    "Responses": (RESPONSES, [MAIL]),
    "Responses, before the end": (RESPONSES[:4], [MAIL]),
    "Responses, the ends alone": (RESPONSES[-1:], [MAIL]),
}  # fmt: skip


@pytest.mark.parametrize(("events", "calls"), EVENTS.values(), ids=EVENTS)
def test_the_events_of_a_response_are_one_message(events, calls):
    assert read_calls(events) == calls
    assert read_calls(json.dumps(events)) == calls


def test_events_of_an_sdk_are_one_message():
    anthropic = pytest.importorskip("anthropic.types")
    pydantic = pytest.importorskip("pydantic")
    event = pydantic.TypeAdapter(anthropic.RawMessageStreamEvent)
    sent = [one for one in ANTHROPIC if one["type"] != "ping"]
    events = [event.validate_python(one) for one in sent]
    assert read_calls(events) == [MAIL, NOW]
    assert read_calls([*events, *events]) == [MAIL, NOW, MAIL, NOW]


def test_events_that_broke_off_are_a_call_that_cannot_be_read():
    for events in (ANTHROPIC[:7], RESPONSES[:3]):
        (call,) = read_calls(events)
        assert (call.name, call.id) == ("mail", "c1")
        assert "truncated" in call.problem


@pytest.mark.parametrize("odd", [{"index": []}, {"delta": 5}, {"delta": {"type": []}}, {"item": 5}])
def test_an_odd_event_stops_nothing(odd):
    assert read_calls([*ANTHROPIC, {"type": "content_block_delta", **odd}]) == [MAIL, NOW]
