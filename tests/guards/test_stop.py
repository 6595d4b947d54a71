"""The SDKs' own streams, from a server on this machine, end where their text is lost."""

import asyncio
import json

import pytest
import sdk_replies
from sdk_replies import pieces
from server import ModelServer

from llmeval_integrations import JsonSchema, ToolCallSchema
from llmeval_integrations.guards import stop_early, watch

SCHEMA = {"properties": {"total": {"minimum": 0}, "note": {"type": "string"}}}
WRONG = json.dumps({"total": -5, "note": "a long remark that nobody needs any more " * 5})
RIGHT = WRONG.replace("-5", "5")
TOOLS = [{"name": "pay", "parameters": SCHEMA}]
READ = 14  # '{"total": -5, "' in pieces of seven: the comma is in the second

ASKED = {"model": "m", "messages": [{"role": "user", "content": "?"}], "stream": True}
SDKS = {
    "chat": ("openai", "OpenAI", lambda sdk: sdk.chat.completions.create(**ASKED)),
    "response": ("openai", "OpenAI", lambda sdk: sdk.responses.create(model="m", input="?", stream=True)),
    "message": ("anthropic", "Anthropic", lambda sdk: sdk.messages.create(**ASKED, max_tokens=9)),
}  # fmt: skip


@pytest.mark.parametrize("api", SDKS)
def test_a_lost_stream_is_closed_and_a_good_one_is_passed_on(api):
    package, name, ask = SDKS[api]
    module = pytest.importorskip(package)
    text, call = (getattr(sdk_replies, f"{api}_{kind}_stream") for kind in ("text", "call"))
    with ModelServer() as server:
        path = "/v1" if package == "openai" else ""
        options = {"base_url": server.url + path, "api_key": "sk-1", "max_retries": 0}
        client = getattr(module, name)(**options)
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
            async with getattr(module, f"Async{name}")(**options) as client:
                stream = await ask(client)
                lost = stop_early(stream, watch(JsonSchema(SCHEMA)))
                assert len([chunk async for chunk in lost]) < 5
                assert stream.response.is_closed
                return lost

        server.plays(text(WRONG))
        lost = asyncio.run(read())
        assert (lost.doomed.offset, lost.characters) == (13, READ)


async def write():
    for piece in pieces(WRONG):
        yield piece


class Stream:
    """An asynchronous stream that cannot be closed."""

    def __aiter__(self):
        return write()


class LiteLLMs(Stream):
    """A stream with both ways to close it, as LiteLLM's; only one does not block."""

    close = None

    async def aclose(self):
        self.is_closed = True


def test_texts_of_any_iterator_are_watched():
    async def read(stream):
        return [piece async for piece in stop_early(stream, watch(JsonSchema(SCHEMA)))]

    texts = (piece for piece in pieces(WRONG))
    assert list(stop_early(texts, watch(JsonSchema(SCHEMA)))) == pieces(WRONG)[:2]
    assert list(texts) == []
    both = LiteLLMs()
    for stream in (write(), Stream(), both):
        assert asyncio.run(read(stream)) == pieces(WRONG)[:2]
    assert both.is_closed
