"""Clients and judges on a real inference server: llama.cpp's own, on a tiny random llama."""

import json

import jsonschema_rs
import pytest
from remote_model import question
from tiny_llm import CONTEXT, address, serve
from vendors import BY_NAME, SCHEMA, ask_client

from llmeval_integrations import judges
from llmeval_integrations.core.errors import ClientError

pytest.importorskip("xllamacpp")
pytest.importorskip("gguf")


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
        assert 5 < reply.usage.output_tokens < CONTEXT
    with pytest.raises(ClientError) as caught:
        ask_client(client, question("Where? " * CONTEXT, schema=SCHEMA))
    assert (caught.value.kind, caught.value.status) == ("context_overflow", 400)


@pytest.mark.parametrize(
    ("make", "labels", "calls"),
    [
        (lambda model: judges.PassFail(model, "Is it right?"), {"Pass", "Fail"}, 1),
        (lambda model: judges.Questionnaire(model, ["Is it?", "Was it?"]), {"Pass", "Fail"}, 2),
        (lambda model: judges.Rubric(model, {1: "bad", 3: "good"}, "?"), {"1", "2", "3"}, 1),
        (judges.Preference, {"A", "B", "tie"}, 2),
        (judges.ClaimFaithfulness, {None, "no_claims"}, 1),
        (judges.AnswerRelevance, {None, "no_claims"}, 1),
    ],
)
def test_each_judge_reads_what_a_model_writes_in_its_form(make, labels, calls, local):
    """What it says is nonsense, in the form that was asked for, unless it goes on too long."""
    pytest.importorskip("openai")
    model = judges.load_client("openai:tiny", base_url=local, max_tokens=600)
    fields = {"input": "Capital?", "contexts": ["Rome is the capital."], "output_b": "Milan."}
    result = make(model)("It is Rome.", **fields)
    assert result.label in {*labels, "cut", "unreadable", "unanswered"}
    assert result.metadata["judge"]["calls"] >= (calls if result.label in labels else 1)
    assert result.is_unscored is (result.label not in labels - {"no_claims"})
