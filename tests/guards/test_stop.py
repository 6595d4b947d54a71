"""The SDKs' own streams, from a server on this machine, end where their text is lost."""

import asyncio
import json

import pytest
from server import ModelServer, answer

from llmeval_integrations import JsonSchema, ToolCallSchema
from llmeval_integrations.guards import stop_early, watch

SCHEMA = {"properties": {"total": {"minimum": 0}, "note": {"type": "string"}}}
WRONG = json.dumps({"total": -5, "note": "a long remark that nobody needs any more " * 5})
RIGHT = WRONG.replace("-5", "5")
TOOLS = [{"name": "pay", "parameters": SCHEMA}]
PIECES = 7
READ = 14  # '{"total": -5, "' in pieces of seven: the comma is in the second


def pieces(text):
    return [text[start : start + PIECES] for start in range(0, len(text), PIECES)]


def events(bodies):
    """Write the events of a stream as servers send them."""
    lines = [f"event: {body['type']}\n" if "type" in body else "" for body in bodies]
    data = "".join(f"{line}data: {json.dumps(body)}\n\n" for line, body in zip(lines, bodies))
    return answer(data + "data: [DONE]\n\n", headers={"content-type": "text/event-stream"})


def chat_chunk(delta):
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [choice]}  # fmt: skip


def chat_text(text):
    return events([chat_chunk({"content": piece}) for piece in pieces(text)])


def chat_call(text):
    named = {"index": 0, "id": "c", "function": {"name": "pay", "arguments": ""}}
    calls = [named, *({"index": 0, "function": {"arguments": one}} for one in pieces(text))]
    return events([chat_chunk({"tool_calls": [call]}) for call in calls])


def response_text(text):
    place = {"item_id": "i", "output_index": 0, "content_index": 0, "sequence_number": 1}
    kind = "response.output_text.delta"
    return events([{"type": kind, "delta": one, "logprobs": [], **place} for one in pieces(text)])


def response_call(text):
    item = {"type": "function_call", "name": "pay", "arguments": "", "call_id": "c", "id": "i"}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    kind, place = "response.function_call_arguments.delta", {"item_id": "i", "output_index": 0}
    deltas = [{"type": kind, "delta": one, **place} for one in pieces(text)]
    return events([{"sequence_number": 1, **one} for one in (added, *deltas)])


def message(block, kind, name):
    def body(text):
        start = {"type": "content_block_start", "index": 0, "content_block": block}
        deltas = [{"type": kind, name: piece} for piece in pieces(text)]
        deltas = [{"type": "content_block_delta", "index": 0, "delta": one} for one in deltas]
        return events([start, *deltas, {"type": "message_stop"}])

    return body


message_text = message({"type": "text", "text": ""}, "text_delta", "text")
message_call = message(
    {"type": "tool_use", "id": "t", "name": "pay", "input": {}}, "input_json_delta", "partial_json"
)

ASKED = {"model": "m", "messages": [{"role": "user", "content": "?"}], "stream": True}


STREAMS = [
    ("openai", "OpenAI", lambda sdk: sdk.chat.completions.create(**ASKED), chat_text, chat_call),
    ("openai", "OpenAI", lambda sdk: sdk.responses.create(model="m", input="?", stream=True), response_text, response_call),
    ("anthropic", "Anthropic", lambda sdk: sdk.messages.create(**ASKED, max_tokens=9), message_text, message_call),
]  # fmt: skip


@pytest.fixture
def server():
    with ModelServer() as server:
        yield server


def sdk(package, name, server):
    kind = getattr(pytest.importorskip(package), name)
    path = "/v1" if package == "openai" else ""
    return kind(base_url=server.url + path, api_key="sk-1", max_retries=0)


@pytest.mark.parametrize(("package", "name", "ask", "text", "call"), STREAMS)
def test_a_lost_stream_is_closed_and_a_good_one_is_passed_on(
    server, package, name, ask, text, call
):
    client = sdk(package, name, server)
    for body, evaluator in ((text, JsonSchema(SCHEMA)), (call, ToolCallSchema(TOOLS))):
        server.plays(body(WRONG), body(RIGHT))
        lost = stop_early(ask(client), watch(evaluator), length=len(WRONG))
        chunks = list(lost)
        assert lost.doomed[:3] == (13, "/total", "minimum")
        assert (lost.characters, lost.saved) == (READ, len(WRONG) - READ)
        good = stop_early(ask(client), watch(evaluator))
        assert len(list(good)) > len(chunks)
        assert (good.doomed, good.saved, good.characters) == (None, None, len(RIGHT))

    async def read():
        async with sdk(package, f"Async{name}", server) as client:
            stream = await ask(client)
            lost = stop_early(stream, watch(JsonSchema(SCHEMA)))
            assert len([chunk async for chunk in lost]) < 5
            assert stream.response.is_closed
            return lost

    server.plays(text(WRONG))
    lost = asyncio.run(read())
    assert (lost.doomed.offset, lost.characters) == (13, READ)


def test_texts_of_any_iterator_are_watched():
    texts = (piece for piece in pieces(WRONG))
    assert list(stop_early(texts, watch(JsonSchema(SCHEMA)))) == pieces(WRONG)[:2]
    assert list(texts) == []

    async def read():
        later = (piece async for piece in _write())
        return [piece async for piece in stop_early(later, watch(JsonSchema(SCHEMA)))]

    assert asyncio.run(read()) == pieces(WRONG)[:2]


async def _write():
    for piece in pieces(WRONG):
        yield piece
