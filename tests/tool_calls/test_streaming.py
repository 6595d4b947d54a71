"""The chunks of a streamed chat hold the calls that their message has."""

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
