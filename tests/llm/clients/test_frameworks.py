"""Models of LangChain and LlamaIndex, as their owners have set them up."""

import asyncio
import json

import pytest
from remote_model import question
from server import answer, chat
from vendors import BY_NAME, KEY, PASSED, SCHEMA, ask_client

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.judges import aask
from llmeval_integrations.llm.client import load_client
from llmeval_integrations.llm.reply import Usage


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
    ask_client(load_client(bound, temperature=0.25), question(schema=SCHEMA))
    body = server.last.body
    assert (body["stop"], body["temperature"]) == (["END"], 0.25)
    assert "response_format" in body
    others = ({}, {"temperature": 0.5}, {"base_url": "http://localhost:9/v1"}, {"api_key": "sk-2"})
    chains = (load_client(model_of(**each).with_retry()) for each in others)
    first, *rest, same = (each.identity()["model"] for each in chains)
    assert len({first, *rest}) == 3
    assert first == same


def test_langchains_models_of_other_forms():
    models = pytest.importorskip("langchain_core.language_models")
    from langchain_core.output_parsers import StrOutputParser

    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    plain = models.FakeListChatModel(responses=["Paris"])
    with_others = plain.with_fallbacks([models.FakeListChatModel(responses=["Rome"])])
    text = models.FakeListLLM(responses=["Paris"])

    class Own(models.FakeListChatModel):
        owner: object = None

    own = Own(responses=["Paris"])
    own.owner = own  # which cannot be written as JSON
    wrapped = (
        own,
        with_others,
        plain.with_retry(),
        plain.bind(stop=["x"]),
        plain | StrOutputParser(),
    )
    for model in (plain, text, *wrapped):
        reply = ask_client(load_client(model), question(schema=schema))
        assert (reply.text, reply.output) == ("Paris", "json")
    with pytest.raises(InvalidOptionError, match="max_tokens=5: FakeListChatModel"):
        load_client(plain, max_tokens=5)
    with pytest.raises(InvalidOptionError, match="name: the FakeListChatModel object already"):
        load_client(plain, name="x")
    with pytest.raises(InvalidOptionError, match="expected a chat model of LangChain"):
        load_client(StrOutputParser())


@pytest.mark.parametrize(
    ("about", "finish"),
    [
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stopReason": "guardrail_intervened"}, "refused"),
    ],
)
def test_what_langchains_messages_say_beside_the_text(about, finish):
    pytest.importorskip("langchain_core")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    content = [{"type": "thinking", "thinking": "Rome?"}, {"type": "text", "text": "Paris"}]
    usage = {
        "input_tokens": 15, "output_tokens": 9, "total_tokens": 24,
        "input_token_details": {"cache_read": 4, "cache_creation": 1},
    }  # fmt: skip
    message = AIMessage(content, response_metadata=about, usage_metadata=usage)
    reply = ask_client(load_client(GenericFakeChatModel(messages=iter([message]))), question())
    assert (reply.text, reply.finish, reply.usage) == ("Paris", finish, Usage(15, 9, 4, 1))


COUNTS = {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 3}


@pytest.mark.parametrize(
    ("raw", "finish", "usage"),
    [
        (None, "stop", Usage()),
        ({"stop_reason": "max_tokens", "usage": COUNTS}, "length", Usage(14, 7, 3)),
        ({"done_reason": "length", "prompt_eval_count": 4, "eval_count": 5}, "length", Usage(4, 5)),
    ],
)
def test_what_llama_indexs_responses_say_beside_the_text(raw, finish, usage):
    pytest.importorskip("llama_index.core")
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
    from llama_index.core.llms import CustomLLM, MockLLM

    class Scripted(CustomLLM):
        @property
        def metadata(self):
            return LLMMetadata(model_name="scripted", is_chat_model=True)

        def chat(self, *_, **__):
            raise NotImplementedError

        async def achat(self, *_, **__):
            return ChatResponse(message=ChatMessage(role="assistant", content="Paris"), raw=raw)

        complete = stream_complete = chat

    client = load_client(Scripted())
    reply = ask_client(client, question())
    assert (reply.text, reply.finish, reply.usage) == ("Paris", finish, usage)
    assert reply.model == "scripted"
    if finish == "stop":
        assert asyncio.run(aask(client, "Where?")) == "Paris"
    assert ask_client(load_client(MockLLM(), max_tokens=2), question()).text == "text text"
    with pytest.raises(InvalidOptionError, match="expected an LLM of LlamaIndex"):
        load_client(ChatMessage(role="user", content="x"))


@pytest.mark.parametrize("vendor", ["langchain", "llama_index"])
def test_who_a_framework_s_model_is(vendor, server):
    pytest.importorskip(BY_NAME[vendor].package)

    def client(**model):
        return BY_NAME[vendor].load(server.url, model=model)

    first = client()
    assert (first.config.name, first.config.platform) == ("gpt-4o", "openai")
    assert first.config.base_url == f"{server.url}/v1"
    assert first.identity() == client(api_key="sk-another-key").identity()
    assert first.identity() != client(temperature=0.9).identity()
    assert KEY not in json.dumps(first.identity())
    ask_client(client(temperature=0.3), question())
    assert server.last.body["temperature"] == 0.3
    assert not server.last.body.keys() & {"max_tokens", "max_completion_tokens"}
