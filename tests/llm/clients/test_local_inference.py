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
SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": 120},
        "verdict": {"type": "string", "enum": ["Pass", "Fail"]},
    },
    "required": ["reasoning", "verdict"],
}


@pytest.fixture(scope="session")
def local():
    """Serve for as long as the tests run, and give the address."""
    server = serve()
    yield address(server)
    del server


@pytest.mark.parametrize("name", ["openai", "langchain", "llama_index", "litellm"])
def test_a_judgement_has_the_form_that_was_asked_for(name, local):
    vendor = BY_NAME[name]
    pytest.importorskip(vendor.package)
    own = {"name": vendor.model.partition(":")[2].replace("gpt-4o", "tiny")}
    own = {"model": {"model": "tiny", "temperature": 0}} if vendor.is_framework else own
    client = vendor.load("", base_url=local, **own)
    for number in range(3):
        reply = ask_client(client, question(f"Is {number} a prime?", schema=SCHEMA))
        jsonschema_rs.validate(SCHEMA, json.loads(reply.text))
        assert (reply.finish, reply.output, reply.model) == ("stop", "json_schema", "tiny")
        assert reply.usage.input_tokens > 10
        assert 20 < reply.usage.output_tokens < CONTEXT
    with pytest.raises(ClientError) as caught:
        ask_client(client, question("Where? " * CONTEXT, schema=SCHEMA))
    assert (caught.value.kind, caught.value.status) == ("context_overflow", 400)
