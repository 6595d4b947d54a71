"""Calls that fail, by each client: what is told, what is tried again, and that no key is shown."""

import json
import pickle
import time
import traceback
from email.utils import formatdate

import pytest
from pace import at_most
from remote_model import question
from server import CUT, DROPPED, ModelServer, answer, chat
from vendors import BY_NAME, KEY, VERDICT, Case, ask_client, key_of

from llmeval_integrations import evaluate
from llmeval_integrations.core.errors import InvalidOptionError, RefusedReplyError
from llmeval_integrations.judges import PassFail
from llmeval_integrations.llm.client import load_client

SECRET, OTHER = (f"sk-proj-{word}0123456789" for word in ("SECRETsecret" * 2, "OTHERother" * 2))


def error(status, headers=None, **fields):
    return answer({"error": {"message": "no", **fields}}, status, headers)


FAILURES = {
    "429": (error(429, {"retry-after": "7"}), "rate_limited", 7.0),
    "429 for ever": (error(429, {"retry-after": "1e9"}), "rate_limited", 1e9),
    "529": (error(529), "rate_limited", None),
    "500": (error(500), "server", None),
    "504": (error(504), "timeout", None),
    "dropped": (DROPPED, "connection", None),
    "cut": (CUT, "connection", None),
    "no JSON": (answer("{busy"), "garbled", None),
    "401": (error(401), "authentication", None),
    "404": (error(404), "not_found", None),
    "400": (error(400), "bad_request", None),
    "413": (error(413), "context_overflow", None),
    "too long": (error(400, code="context_length_exceeded"), "context_overflow", None),
    "no money": (error(429, code="insufficient_quota"), "failed", None),
}


def test_a_failure_is_told_by_its_kind(case):
    client = case.client()
    for name, (play, kind, pause) in FAILURES.items():
        case.server.plays(play)
        found = case.error(client, question())
        assert (found.kind, found.retry_after) == (kind, pause), name
        # One vendor's API does not name the parameter that it refuses, so one is tried without.
        assert len(case.server.requests) <= (2 if kind == "bad_request" else 1), name
        assert pickle.loads(pickle.dumps(found)).kind == found.kind  # noqa: S301 - our own


def test_a_date_and_googles_body_are_pauses_and_a_filter_is_a_refusal(case):
    case.server.plays(error(429, {"retry-after": formatdate(time.time() + 30, usegmt=True)}))
    assert 0 < case.error(case.client(), question()).retry_after <= 30  # less what has passed
    case.server.plays(error(400, code="content_filter"))
    with pytest.raises(RefusedReplyError):
        ask_client(case.client(), question())
    if case.vendor.name == "google":
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "21.5s"}
        told = {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED", "details": [info]}
        case.server.plays(answer({"error": told}, 429))
        assert case.error(case.client(), question()).retry_after == 21.5


@pytest.mark.parametrize("how", [{"delay": 20}, {"drip": 0.1}], ids=["none", "byte by byte"])
def test_a_reply_that_does_not_come_in_time(how, sdk):
    ask_client(sdk.client(), question())  # which imports what the SDK needs
    sdk.server.plays(sdk.vendor.said(**how))
    started = time.perf_counter()
    with at_most(5, time.perf_counter):
        found = sdk.error(sdk.client(timeout=1), question())
    assert time.perf_counter() - started > 0.95
    assert (found.kind, str(found)) == ("timeout", "no reply within 1 s")
    assert len(sdk.server.requests) == 1


def test_retries_are_counted_by_us_alone(sdk):
    sdk.server.plays(
        error(500, {"retry-after": "0"}),
        error(429, {"retry-after": "0"}),
        sdk.vendor.said("At last"),
    )
    assert sdk.error(sdk.client(retries=0), question()).kind == "server"
    assert ask_client(sdk.client(retries=1), question()).text == "At last"
    assert len(sdk.server.requests) == 3


def test_a_redirect_is_not_followed(sdk):
    with ModelServer() as elsewhere:
        sdk.server.plays(answer("", 307, {"location": elsewhere.url + "/v1/elsewhere"}))
        found = sdk.error(sdk.client(), question())
        assert (found.kind, elsewhere.requests) == ("failed", [])
    assert "a redirect, which is not followed" in str(found)


@pytest.mark.parametrize(("given", "key"), [(KEY, KEY), ("${MY_KEY}", KEY), ("-", OTHER)])
def test_a_key_is_sent_and_never_shown(given, key, sdk, monkeypatch, caplog):
    caplog.set_level(1)  # all that the SDKs log
    monkeypatch.setenv("MY_KEY", KEY + "\n")
    monkeypatch.setenv(sdk.vendor.key_variable, OTHER)
    ask_client(sdk.client(api_key=given), question())
    assert {*map(key_of, sdk.server.requests)} == {key}
    assert key not in caplog.text


def told(case, client, *plays):
    """Give what is printed of each failure, with its traceback."""
    for play in plays:
        case.server.plays(play)
        yield "".join(traceback.format_exception(case.error(client, question())))


def test_a_key_that_the_server_repeats_is_not_shown(case):
    client = case.client()
    plays = error(401, message=f"{KEY} is wrong"), answer(f"<b>{KEY}</b>", 500), answer(KEY)
    assert KEY not in "".join(told(case, client, *plays))
    assert KEY not in f"{client!r} {client.config!r} {json.dumps(client.identity())}"


@pytest.mark.parametrize(
    "place",
    [
        lambda key: {"extra_headers": {"X-Api-Key": key}},
        lambda key: {"extra_headers": {"Helicone-Auth": f"Bearer {key}"}},
        lambda key: {"extra_query": {"subscription-key": key}},
        lambda key: {"extra_body": {"vendor": {"apiToken": key}}},
    ],
    ids=["header", "bearer", "query", "body"],
)
def test_a_key_among_the_options_is_in_no_file_and_no_message(place, server, tmp_path):
    pytest.importorskip("openai")
    out, cache = tmp_path / "run", tmp_path / "replies.sqlite"
    clients = [BY_NAME["openai"].load(server.url, options=place(key)) for key in (SECRET, OTHER)]
    server.plays(chat(VERDICT))
    for client, resume in zip(clients, (False, True)):
        judge = PassFail(client, "Is it right?")
        run = evaluate([{"output": "a"}], [judge], cache=cache, out=out, resume=resume)
        assert [row.label for row in run.rows] == ["Pass"]
    again = evaluate([{"output": "a"}], [judge], cache=cache)
    assert again.rows[0].metadata["judge"]["cached"] == 1  # a key is no part of a reply
    assert len(server.requests) == 1
    for file in (*out.iterdir(), cache):
        assert SECRET.encode() not in file.read_bytes(), file
    case = Case(BY_NAME["openai"], server)
    cut = answer({"choices": f"{'x' * 480}{SECRET}"})  # the message is cut in the key
    shown = "".join(told(case, clients[0], error(401, message=f"{SECRET} is wrong"), cut))
    assert "SECRET" not in f"{shown} {clients[0].config!r}"


def test_an_option_that_may_lead_elsewhere_tells_clients_apart(server):
    pytest.importorskip("openai")
    for option, name in (("extra_headers", "X-Route"), ("extra_body", "think_end_token")):
        options = ({option: {name: value}} for value in "abb")
        clients = (BY_NAME["openai"].load(server.url, options=each) for each in options)
        one, two, three = (client.identity() for client in clients)
        assert one != two == three


def test_a_server_of_ones_own_needs_no_key_and_a_vendor_does(sdk, monkeypatch, tmp_path):
    for none in ("-", ""):
        assert ask_client(sdk.client(api_key=none), question()).text == "Paris"
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(InvalidOptionError, match=f"set {sdk.vendor.key_variable}"):
        load_client(sdk.vendor.model).check()
