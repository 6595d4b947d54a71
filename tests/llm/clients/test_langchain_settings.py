"""LangChain's chat models as their owners set them: bound settings, models around models."""

import pytest
from remote_model import question
from server import answer, chat
from vendors import KEY, PASSED, SCHEMA, ask_client

from llmeval_integrations.llm.loading import load_client

pytest.importorskip("langchain_core")
pytest.importorskip("pydantic")


@pytest.fixture
def model_of(server):
    openai = pytest.importorskip("langchain_openai")

    def make(**settings):
        fields = {"base_url": f"{server.url}/v1", "api_key": KEY, "max_retries": 0, **settings}
        return openai.ChatOpenAI(model="gpt-4o", **fields)

    return make


def test_openais_responses(model_of, server):
    def play(status, *parts):
        message = {"id": "m1", "type": "message", "role": "assistant", "status": status}
        usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
        reason = None if status == "completed" else {"reason": "max_output_tokens"}
        return answer({
            "id": "resp_1", "object": "response", "created_at": 1, "model": "answering-model",
            "status": status, "incomplete_details": reason, "error": None, "usage": usage,
            "output": [{**message, "content": list(parts)}], "tools": [], "tool_choice": "auto",
            "parallel_tool_calls": True,
        })  # fmt: skip

    text = {"type": "output_text", "text": PASSED, "annotations": []}
    client = load_client(model_of(use_responses_api=True))
    server.plays(play("completed", text))
    reply = ask_client(client, question(schema=SCHEMA))
    assert (reply.text, reply.finish, reply.output) == (PASSED, "stop", "json_schema")
    assert server.last.path == "/v1/responses"
    assert server.last.body["text"]["format"]["schema"]["required"] == ["verdict"]
    server.plays(play("incomplete", {**text, "text": '{"ver'}))
    assert ask_client(client, question()).finish == "length"
    server.plays(play("completed", {"type": "refusal", "refusal": "I may not"}))
    reply = ask_client(client, question())
    assert (reply.text, reply.finish) == ("I may not", "refused")


def test_what_is_bound_to_a_model_stays_bound(model_of, server):
    server.plays(chat(PASSED))
    bound = model_of().bind(stop=["END"]).with_config(tags=["t"])
    client = load_client(bound, temperature=0.25)
    ask_client(client, question(schema=SCHEMA))
    body = server.last.body
    assert (body["stop"], body["temperature"]) == (["END"], 0.25)
    assert "response_format" in body
    others = ({}, {"temperature": 0.5}, {"base_url": "http://localhost:9/v1"}, {"api_key": "sk-2"})
    chains = [load_client(model_of(**each).with_retry()) for each in others]
    digests = [each.identity()["model"] for each in (client, *chains)]
    assert (len({*digests}), digests[1]) == (4, digests[4])
