"""Clients of objects of SDKs and frameworks as their owners made them; loops and processes."""

import asyncio
import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from remote_model import question
from sdk_replies import response
from server import answer, chat
from vendors import BY_NAME, KEY, PASSED, SCHEMA, VENDORS, VERDICT, ask_client, google_said

from llmeval_integrations.core.errors import ClientError, InvalidOptionError
from llmeval_integrations.judges import aask, ask
from llmeval_integrations.llm.client import load_client
from llmeval_integrations.llm.loop import join
from llmeval_integrations.llm.reply import Usage
from llmeval_integrations.llm.session import Session


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI", "Anthropic", "AsyncAnthropic"])
def test_an_object_of_an_sdk_is_asked_with_its_settings(kind, server):
    package = kind.removeprefix("Async").lower()
    vendor, make = BY_NAME[package], getattr(pytest.importorskip(package), kind)
    server.plays(vendor.said())
    sent = {"default_headers": {"x-team": "eval"}, "default_query": {"tier": "2"}}
    address = {"api_key": KEY, "base_url": server.url + vendor.root}
    client = load_client(make(**address, **sent, timeout=7, max_retries=0), name="m")
    for _ in range(2):
        ask_client(client, question())
    assert server.last.path.endswith("?tier=2")
    assert server.last.headers["x-team"] == "eval"
    assert (client.config.timeout, client.config.retries) == (7, 0)
    assert KEY not in f"{client!r} {client.config} {json.dumps(client.identity())}"
    assert load_client(make(**address), name="m").identity() != client.identity()
    with pytest.raises(InvalidOptionError, match=rf"expected {package}\.\w+ or"):
        load_client(make(**address).models, name="m")
    with pytest.raises(InvalidOptionError, match=f"base_url: the {kind} object already defines"):
        load_client(make(**address), name="m", base_url="http://localhost:2/v1")
    with pytest.raises(InvalidOptionError, match=f"the {kind} object does not say which model is"):
        load_client(make(**address), timeout=7)


@pytest.mark.parametrize(
    ("kind", "login"),
    [("AzureOpenAI", {"api_key": KEY}), ("AsyncAzureOpenAI", {"azure_ad_token": KEY})],
)
def test_azure_objects_too(kind, login, server):
    make = getattr(pytest.importorskip("openai"), kind)
    given = make(azure_endpoint=server.url, api_version="2024-10-21", **login)
    ask_client(load_client(given, name="judge"), question())
    path = "/openai/deployments/judge/chat/completions?api-version=2024-10-21"
    assert server.last.path == path
    sent = server.last.headers
    assert (sent.get("api-key") or sent["authorization"]).removeprefix("Bearer ") == KEY


def test_an_object_of_google(server):
    genai = pytest.importorskip("google.genai")
    http = {"base_url": server.url, "timeout": 60_000, "retry_options": {"attempts": 4}}
    given = genai.Client(api_key=KEY, http_options={**http, "headers": {"x-team": "eval"}})
    client = load_client(given, name="m", retries=0)
    server.plays(answer({"error": {"code": 503, "message": "busy"}}, 503), google_said())
    with pytest.raises(ClientError, match="busy"):
        ask_client(client, question())
    assert ask_client(client, question()).text == "Paris"
    assert (server.last.headers["x-team"], len(server.requests)) == ("eval", 2)
    assert client.config.timeout == 60
    with pytest.raises(InvalidOptionError, match="the Client object does not say which model is"):
        load_client(given)
    with pytest.raises(InvalidOptionError, match=r"expected google\.genai\.Client"):
        load_client(genai.types.Part(text="x"), name="m")


def test_a_blocking_object_is_called_in_a_thread_and_an_awaited_one_of_its_own_is_refused(server):
    openai = pytest.importorskip("openai")
    mine = openai.DefaultHttpxClient(headers={"x-proxy": "mine"})
    given = openai.OpenAI(api_key=KEY, base_url=server.url, http_client=mine)
    assert asyncio.run(aask(load_client(given, name="m"), "Where?")) == "Paris"
    assert (server.last.headers["x-proxy"], mine.is_closed) == ("mine", False)
    for own, seconds in (({}, 300), ({"timeout": 90}, 90), ({"timeout": None}, 86_400)):
        client = load_client(openai.OpenAI(api_key=KEY, **own), name="m")
        assert client.config.timeout == seconds
    given = openai.AsyncOpenAI(api_key=KEY, http_client=openai.DefaultAsyncHttpxClient())
    with pytest.raises(InvalidOptionError, match="give the blocking object"):
        load_client(given, name="m")


def test_where_the_environment_sends_it_is_part_of_who_answers(sdk, monkeypatch):
    configured = sdk.client()
    monkeypatch.setenv(sdk.vendor.address_variable, configured.config.base_url)
    found = load_client(sdk.vendor.model, api_key=KEY, retries=0)
    ask_client(found, question())
    assert len(sdk.server.requests) == 1
    assert found.identity() == configured.identity()
    monkeypatch.delenv(sdk.vendor.address_variable)
    assert found.identity() != configured.identity()


def test_a_client_serves_loops_threads_and_another_process_on_one_connection(sdk):
    client = sdk.client()

    async def many():
        return await asyncio.gather(*(aask(client, "Where?") for _ in range(5)))

    with ThreadPoolExecutor(4) as threads:
        loops = [threads.submit(asyncio.run, many()) for _ in range(4)]
        blocking = [threads.submit(ask, client, "Where?") for _ in range(5)]
        assert [loop.result() for loop in loops] == [["Paris"] * 5] * 4
        assert [one.result() for one in blocking] == ["Paris"] * 5
    sdk.server.requests.clear()
    assert ask(client, "Where?") == asyncio.run(aask(client, "Where?")) == "Paris"
    assert len({request.connection for request in sdk.server.requests}) == 1
    assert ask(pickle.loads(pickle.dumps(client)), "Where?") == "Paris"  # noqa: S301 - our own


RUN = """
import json, sys
reached = set()
def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto"):
        reached.add(arguments[1][0])
    if event == "socket.getaddrinfo":
        reached.add(arguments[0])
sys.addaudithook(watch)
from llmeval_integrations import evaluate
from llmeval_integrations.judges import PassFail
client, cache = json.loads(sys.argv[1]), sys.argv[2]
judge = PassFail({**client, "api_key": "sk-1"}, "Is it right?")
sdks = {"openai", "anthropic", "google.genai", "litellm", "langchain_core", "llama_index"}
print(judge.model.identity()["platform"], *sdks & {*sys.modules})
evaluate([{"output": "a"}], [judge], cache=cache)
print(*reached)
reached.clear()
judge = PassFail(client, "Is it right?")
run = evaluate([{"output": "a"}, {"output": "b"}], [judge], cache=cache, frozen=True)
print([row.label for row in run.rows], *reached)
"""


@pytest.mark.parametrize("vendor", VENDORS[:4], ids=lambda vendor: vendor.name)
def test_a_run_reaches_for_its_server_alone_and_a_frozen_one_for_none(vendor, server, tmp_path):
    pytest.importorskip(vendor.package)
    server.plays(vendor.said(VERDICT))
    client = json.dumps({"name": vendor.model, "base_url": server.url + vendor.root})
    command = [sys.executable, "-c", RUN, client, tmp_path / "replies.sqlite"]
    bare = {name: value for name, value in os.environ.items() if not name.endswith("_KEY")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=bare)
    loaded = vendor.package.replace("litellm", "")  # which is imported at the first call
    client = f"{vendor.name.replace('litellm', 'openai')} {loaded}".strip()
    assert done.stdout.splitlines() == [client, "127.0.0.1", "['Pass', 'not_cached']"]
    assert len(server.requests) == 1


# --- models of frameworks ---------------------------------------------------------------------------


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
        reason = None if status == "completed" else {"reason": "max_output_tokens"}
        output = {**message, "content": parts}
        return response(output, status=status, incomplete_details=reason)

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
    with_others = plain.with_fallbacks([models.FakeListLLM(responses=["Rome"])])
    assert load_client(with_others).config.name == "FakeListChatModel"  # which has the price
    text = models.FakeListLLM(responses=["Paris"])

    class Own(models.FakeListChatModel):
        owner: object = None

    own = Own(responses=["Paris"])
    own.owner = own  # which cannot be written as JSON
    others = (own, with_others, plain.with_retry(), plain.bind(stop=["x"]))
    for model in (plain, text, plain | StrOutputParser(), *others):
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
        "input_token_details": {"cache_read": 4, "cache_creation": 1, "ephemeral_5m_input_tokens": 2},
    }  # fmt: skip
    message = AIMessage(content, response_metadata=about, usage_metadata=usage)
    reply = ask_client(load_client(GenericFakeChatModel(messages=iter([message]))), question())
    assert (reply.text, reply.finish, reply.usage) == ("Paris", finish, Usage(15, 9, 4, 3))


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
    from llama_index.core.llms import ChatMessage, ChatResponse, MockLLM

    class Awaited(MockLLM):
        def chat(self, *_, **__):
            raise NotImplementedError

        async def achat(self, *_, **__):
            return ChatResponse(message=ChatMessage(role="assistant", content="Paris"), raw=raw)

    client = load_client(Awaited())
    awaited = asyncio.run(join(Session().reply(client, question())))  # in the caller's loop
    for reply in (awaited, ask_client(client, question())):
        assert (reply.text, reply.finish, reply.usage) == ("Paris", finish, usage)
        assert reply.model == "Awaited"
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
