"""Clients of OpenAI's own objects: what they take over, what stays the caller's."""

import asyncio
import json
import pickle

import pytest
from server import answer, chat
from vendors import ask_client

from llmeval_integrations import evaluate
from llmeval_integrations.core.errors import ClientError, InvalidOptionError
from llmeval_integrations.judges.pass_fail import PassFail
from llmeval_integrations.llm.loading import load_client

openai = pytest.importorskip("openai")

KEY = "sk-0123456789"


@pytest.fixture(autouse=True)
def _no_key_in_the_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)


def verdict(word):
    return json.dumps({"reasoning": "r", "verdict": word, "confidence": "High"})


def given_settings(server):
    return {
        "api_key": KEY,
        "base_url": server.url + "/v1",
        "organization": "acme",
        "project": "judging",
        "default_headers": {"x-team": "eval"},
        "default_query": {"tier": "2"},
        "timeout": 7,
        "max_retries": 0,
    }


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
def test_an_sdk_object_serves_both_kinds_of_calls(kind, ask, question, server):
    given = getattr(openai, kind)(**given_settings(server))
    client = load_client(given, name="gpt-4o")
    for _ in range(2):
        ask(client, question())
    assert server.last.path == "/v1/chat/completions?tier=2"
    headers = server.last.headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (headers["x-team"], headers["openai-organization"]) == ("eval", "acme")
    assert headers["openai-project"] == "judging"
    assert (client.config.timeout, client.config.retries) == (7, 0)
    assert KEY not in repr(client) + json.dumps(client.identity()) + str(client.config)
    assert client.identity()["base_url"] == server.url + "/v1"


@pytest.mark.parametrize("kind", ["AzureOpenAI", "AsyncAzureOpenAI"])
@pytest.mark.parametrize("login", [{"api_key": KEY}, {"azure_ad_token": KEY}])
def test_azure_objects_too(kind, login, ask, question, server):
    given = getattr(openai, kind)(azure_endpoint=server.url, api_version="2024-10-21", **login)
    ask(load_client(given, name="judge"), question())
    path = "/openai/deployments/judge/chat/completions?api-version=2024-10-21"
    assert server.last.path == path
    sent = server.last.headers
    assert (sent.get("api-key") or sent["authorization"]).removeprefix("Bearer ") == KEY


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({}, 300),
        ({"timeout": 90}, 90),
        ({"timeout": openai.Timeout(120)}, 120),
        ({"timeout": openai.Timeout(120, connect=5)}, 120),
        ({"timeout": openai.Timeout(5, read=None)}, 86_400),
        ({"timeout": None}, 86_400),
        ({"timeout": float("inf")}, 86_400),
    ],
    ids=str,
)
def test_a_time_out_of_the_callers_choice_is_kept(kind, given, seconds, ask, question, server):
    client = load_client(getattr(openai, kind)(api_key=KEY, base_url=server.url, **given), name="m")
    assert client.config.timeout == seconds
    assert ask(client, question()).text == "Paris"
    assert load_client(client, timeout=7).config.timeout == 7


def test_an_object_that_cannot_go_to_another_process_says_so():
    client = load_client(openai.OpenAI(api_key=KEY), name="m")
    with pytest.raises(pickle.PicklingError, match="its OpenAI object cannot; make the client by"):
        pickle.dumps(client)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name"),
        ({"name": "m", "base_url": "http://localhost"}, "base_url: the OpenAI object has that"),
        ({"name": "m", "api_key": "k"}, "api_key: the OpenAI object has that"),
        ({"name": "m", "temperature": 3}, "temperature"),
    ],
)
def test_options_beside_an_object_are_checked(options, message):
    with pytest.raises(InvalidOptionError, match=message):
        load_client(openai.OpenAI(api_key=KEY), **options)


def test_an_object_that_is_no_client_is_a_bad_call():
    with pytest.raises(InvalidOptionError, match=r"expected openai\.OpenAI or openai\.AsyncOpenAI"):
        load_client(openai.OpenAI(api_key=KEY).chat, name="m")


@pytest.mark.parametrize("sent", ["default_headers", "default_query"])
def test_what_an_object_sends_with_each_request_tells_models_apart(sent, server, tmp_path):
    def routed(request):
        is_other = "other" in request.path or request.headers.get("x-route") == "other"
        return chat(verdict("Fail" if is_other else "Pass"))

    server.plays(routed)
    settings = {"api_key": KEY, "base_url": server.url + "/v1"}
    labels = []
    for route in ("one", "other", "one"):
        given = openai.OpenAI(**settings, **{sent: {"x-route": route}})
        judge = PassFail(load_client(given, name="m"), "Is it right?")
        [row] = evaluate([{"output": "a"}], [judge], cache=tmp_path / "replies.sqlite").rows
        labels.append((row.label, row.metadata["judge"]["cached"]))
    assert labels == [("Pass", 0), ("Fail", 0), ("Pass", 1)]


def test_what_every_object_sends_is_no_part_of_who_answers(server):
    given = openai.OpenAI(api_key=KEY, base_url=server.url + "/v1")
    plain = load_client("openai:m", api_key=KEY, base_url=server.url + "/v1")
    assert load_client(given, name="m").identity().keys() == plain.identity().keys()


@pytest.mark.parametrize("sent", ["default_headers", "default_query"])
def test_a_short_key_that_an_object_sends_is_not_quoted(sent, question, server):
    server.plays(answer({"error": {"message": "hdr-SECRET is wrong"}}, 401))
    settings = {"api_key": KEY, "base_url": server.url, sent: {"key": "hdr-SECRET"}}
    client = load_client(openai.OpenAI(**settings), name="m")
    with pytest.raises(ClientError) as caught:
        ask_client(client, question())
    assert "SECRET" not in str(caught.value) + json.dumps(client.identity())


def test_a_blocking_object_is_called_in_a_thread_with_connections_of_its_own(server):
    mine = openai.DefaultHttpxClient(headers={"x-proxy": "mine"})
    given = openai.OpenAI(api_key=KEY, base_url=server.url, http_client=mine)
    assert asyncio.run(load_client(given, name="m").aask("Where?")) == "Paris"
    assert server.last.headers["x-proxy"] == "mine"
    assert not mine.is_closed


def test_an_asynchronous_object_with_connections_of_its_own_is_refused():
    mine = openai.DefaultAsyncHttpxClient()
    given = openai.AsyncOpenAI(api_key=KEY, http_client=mine)
    with pytest.raises(InvalidOptionError, match="give the blocking object"):
        load_client(given, name="m")
