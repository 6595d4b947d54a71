"""Clients of objects that the caller made, who answers by them, and loops and threads."""

import asyncio
import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from remote_model import question
from server import answer
from vendors import BY_NAME, KEY, ask_client, google_said

from llmeval_integrations.core.errors import ClientError, InvalidOptionError
from llmeval_integrations.judges import aask, ask
from llmeval_integrations.llm.client import load_client

KINDS = {"OpenAI": "openai", "AsyncOpenAI": "openai"}
KINDS |= {"Anthropic": "anthropic", "AsyncAnthropic": "anthropic"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_of_an_sdk_is_asked_with_its_settings(kind, server):
    vendor, package = BY_NAME[KINDS[kind]], KINDS[kind]
    make = getattr(pytest.importorskip(package), kind)
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


def test_litellm_is_imported_at_the_first_call_and_fetches_nothing(server):
    pytest.importorskip("litellm")
    code = """
import socket, sys
reached = []
connect = socket.socket.connect
socket.socket.connect = lambda self, to: (reached.append(to), connect(self, to))[1]
from llmeval_integrations.judges import ask, load_client
client = load_client("litellm:anthropic/m", base_url=sys.argv[1], api_key="sk-1", retries=0)
print(client.identity()["platform"], "litellm" in sys.modules)
try:
    ask(client, "Where?")
except Exception as error:
    print(error.kind, {host for host, port in reached})
"""
    server.plays(answer({"error": {"message": "no"}}, 401))
    command = [sys.executable, "-c", code, server.url]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["anthropic False", "authentication {'127.0.0.1'}"]
