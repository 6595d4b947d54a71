"""A real inference server, llama.cpp's own on a tiny llama, through the clients that reach it."""

import json

import jsonschema_rs
import pytest
from remote_model import question
from tiny_llm import CONTEXT, address, serve
from vendors import BY_NAME, ask_client

from llmeval_integrations.core.errors import ClientError

pytest.importorskip("xllamacpp")
pytest.importorskip("gguf")
pytest.importorskip("pydantic")

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


def test_a_judgement_has_the_form_that_was_asked_for(client):
    for number in range(5):
        reply = ask_client(client, question(f"Is {number} a prime?", schema=SCHEMA))
        found = json.loads(reply.text)
        assert list(found) == SCHEMA["required"]
        jsonschema_rs.validate(SCHEMA, found)
        assert (reply.finish, reply.output, reply.model) == ("stop", "json_schema", "tiny")
        assert reply.usage.input_tokens > 10
        assert 20 < reply.usage.output_tokens < CONTEXT


def test_a_prompt_longer_than_the_context(client):
    with pytest.raises(ClientError) as caught:
        ask_client(client, question("Where? " * CONTEXT, schema=SCHEMA))
    assert (caught.value.kind, caught.value.status) == ("context_overflow", 400)
