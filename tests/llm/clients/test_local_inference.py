"""A real inference server, llama.cpp's own on a tiny llama, through the clients that reach it."""

import asyncio
import json
import time

import jsonschema_rs
import pytest
from pace import at_most
from remote_model import question
from tiny_llm import CONTEXT, address, serve
from vendors import BY_NAME, ask_client

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.loop import start, wait
from llmeval_integrations.llm.session import Session

pytest.importorskip("xllamacpp")
pytest.importorskip("gguf")
pytest.importorskip("pydantic")

CALLS, SIDE_BY_SIDE = 200, 32
SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": 120},
        "verdict": {"type": "string", "enum": ["Pass", "Fail"]},
        "confidence": {"type": "string", "enum": ["low", "medium", "high"]},
    },
    "required": ["reasoning", "verdict", "confidence"],
}


@pytest.fixture(scope="session")
def local():
    """Serve for as long as the tests run, and give the address."""
    server = serve()
    yield address(server)
    del server


@pytest.fixture(params=["openai", "langchain", "llama_index", "litellm"])
def client(request, local):
    vendor = BY_NAME[request.param]
    pytest.importorskip(vendor.package)
    if vendor.is_framework:
        return vendor.load("", base_url=local, model={"model": "tiny", "temperature": 0})
    return vendor.load(
        "", base_url=local, name=vendor.model.partition(":")[2].replace("gpt-4o", "tiny")
    )


def judgement(reply):
    found = json.loads(reply.text)
    assert list(found) == SCHEMA["required"]
    jsonschema_rs.validate(SCHEMA, found)
    assert (reply.finish, reply.output, reply.model) == ("stop", "json_schema", "tiny")
    assert reply.usage.input_tokens > 10
    assert 20 < reply.usage.output_tokens < CONTEXT
    return found["verdict"]


def test_a_judgement_has_the_form_that_was_asked_for(client):
    for number in range(5):
        judgement(ask_client(client, question(f"Is {number} a prime?", schema=SCHEMA)))


def test_a_prompt_longer_than_the_context(client):
    with pytest.raises(ClientError) as caught:
        ask_client(client, question("Where? " * CONTEXT, schema=SCHEMA))
    assert (caught.value.kind, caught.value.status) == ("context_overflow", 400)


@pytest.mark.parametrize("client", ["openai"], indirect=True)
def test_200_calls_side_by_side(client):
    async def many():
        session = Session(SIDE_BY_SIDE)

        def one(number):
            text = f"Is {number} a prime?"
            return session.reply(client, question(text, schema=SCHEMA, temperature=1.0))

        return await asyncio.gather(*map(one, range(CALLS)))

    with at_most(60, time.perf_counter):
        verdicts = [judgement(reply) for reply in wait(start(many()))]
        assert len(verdicts) == CALLS
        assert set(verdicts) == {"Pass", "Fail"}
