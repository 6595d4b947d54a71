"""Keys in options, headers and addresses: sent, and in no identity, file or error."""

import json
import traceback

import pytest
from server import answer, chat
from vendors import ask_client

from llmeval_integrations import evaluate
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges.pass_fail import PassFail
from llmeval_integrations.llm.loading import load_client

pytest.importorskip("openai")
pytest.importorskip("pydantic")

KEY = "sk-proj-SECRETsecretSECRETsecret0123456789"
OTHER = "sk-proj-OTHERotherOTHERother0123456789"
VERDICT = json.dumps({"reasoning": "It is.", "verdict": "Pass", "confidence": "High"})


def in_a_header(key):
    return {"options": {"extra_headers": {"X-Api-Key": key}}}


def as_a_bearer(key):
    return {"options": {"extra_headers": {"Helicone-Auth": f"Bearer {key}"}}}


def in_the_query(key):
    return {"options": {"extra_query": {"subscription-key": key}}}


def in_the_body(key):
    return {"options": {"extra_body": {"vendor": {"apiToken": key}}}}


PLACES = [in_a_header, as_a_bearer, in_the_query, in_the_body]


@pytest.fixture
def client_of(server):
    def make(login="", query="", **options):
        address = f"{server.url.replace('//', f'//{login}')}/v1{query}"
        fields = {"base_url": address, "api_key": "sk-bbbbbbbb", "retries": 0, **options}
        return load_client("openai:gpt-4o", **fields)

    return make


@pytest.mark.parametrize("place", PLACES)
def test_a_run_writes_no_key_down_and_goes_on_with_another(place, client_of, server, tmp_path):
    server.plays(chat(VERDICT))
    out, cache = tmp_path / "run", tmp_path / "replies.sqlite"
    for key, resume in ((KEY, False), (OTHER, True)):
        judge = PassFail(client_of(**place(key)), "Is it right?")
        run = evaluate([{"output": "a"}], [judge], cache=cache, out=out, resume=resume)
        assert [row.label for row in run.rows] == ["Pass"]
    judge = PassFail(client_of(**place(OTHER)), "Is it right?")
    again = evaluate([{"output": "a"}], [judge], cache=cache)
    assert again.rows[0].metadata["judge"]["cached"] == 1  # a key is no part of a reply
    assert len(server.requests) == 1
    for file in (*out.iterdir(), cache):
        assert KEY.encode() not in file.read_bytes(), file


@pytest.mark.parametrize("place", PLACES)
def test_a_server_that_says_a_key_is_not_quoted(place, client_of, question, server):
    for play in (
        answer({"error": {"message": f"{KEY} is wrong"}}, 401),
        answer({"choices": f"{'x' * 180}{KEY}"}),
    ):
        server.plays(play)
        with pytest.raises(ClientError) as caught:
            ask_client(client_of(**place(KEY)), question())
        assert "SECRET" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("filling", [440, 470, 480, 499])
def test_a_message_is_cut_when_the_key_is_gone(filling, client_of, question, server):
    server.plays(answer({"error": {"message": f"{'x' * filling}{KEY}{'y' * 100_000}"}}, 401))
    with pytest.raises(ClientError) as caught:
        ask_client(client_of(api_key=KEY), question())
    assert "sk-" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_page_of_an_unreadable_reply_does_not_end_within_a_key(client_of, question, server):
    for filling in range(150, 200, 10):
        server.plays(answer({"choices": f"{'x' * filling}{KEY}"}))
        with pytest.raises(ClientError, match="cannot be read") as caught:
            ask_client(client_of(api_key=KEY), question())
        assert "sk-" not in str(caught.value)


def test_an_option_that_may_be_a_key_tells_clients_apart_and_is_quoted(client_of, question, server):
    bodies = [{"extra_body": {"think_end_token": word}} for word in ("aaaaaaa", "bbbbbbb")]
    one, other = (client_of(options=body).identity() for body in bodies)
    assert one != other
    server.plays(answer({"error": {"message": "there is no gpt-4o-mini"}}, 404))
    with pytest.raises(ClientError, match="no gpt-4o-mini"):
        ask_client(client_of(options={"prompt_cache_key": "gpt-4o-mini"}), question())


def test_a_header_that_may_lead_elsewhere_tells_clients_apart(client_of):
    identities = [
        client_of(options={"extra_headers": {"X-Route": route}}).identity() for route in "abb"
    ]
    assert identities[0] != identities[1] == identities[2]


@pytest.mark.parametrize("place", PLACES)
def test_a_configuration_that_is_printed_shows_no_key(place, client_of):
    config = client_of(**place(KEY)).config
    assert "SECRET" not in repr(config) + str(config)
    assert "gpt-4o" in repr(config)
