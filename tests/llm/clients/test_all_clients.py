"""What holds for every SDK, each by blocking and by awaited calls, against a real server."""

import asyncio
import json
import pickle
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from email.utils import formatdate

import pytest
from pace import at_most
from server import CUT, DROPPED, GARBAGE, ModelServer, answer
from vendors import keys

from llmeval_integrations.core.errors import ClientError, InvalidOptionError, RefusedReplyError
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.reply import Usage

pytest.importorskip("pydantic")

KEY = "sk-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["Pass", "Fail"]}},
    "required": ["verdict"],
}


@pytest.fixture
def warm(case, question):
    """Have the SDK import what it does at its first call, so that the clock shows only the call."""
    case.ask(case.client(), question())


def sent(thing):
    """Send it to another process."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


def error(status, headers=None, **fields):
    return answer({"error": {"message": "no", **fields}}, status, headers)


def test_a_question_arrives_and_its_answer_comes_back(case, question):
    reply = case.ask(case.client(), question("Where?"))
    assert (reply.text, reply.finish, reply.model) == ("Paris", "stop", "answering-model")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    assert (reply.output, reply.cached) == ("text", False)
    assert case.server.last.path.endswith(case.vendor.path)
    assert "Where?" in json.dumps(case.server.last.body)
    assert keys(case.vendor, case.server.requests) == {KEY}


FAILURES = {
    "429": (error(429, {"retry-after": "7"}), "rate_limited", 7.0),
    "429 in milliseconds": (error(429, {"retry-after-ms": "1500"}), "rate_limited", 1.5),
    "429 without a pause": (error(429), "rate_limited", None),
    "429 with nonsense": (error(429, {"retry-after": "soon"}), "rate_limited", None),
    "429 for ever": (error(429, {"retry-after": "1e9"}), "rate_limited", 1e9),
    "429 for less than nothing": (error(429, {"retry-after": "-5"}), "rate_limited", None),
    "429 for no number": (error(429, {"retry-after": "nan"}), "rate_limited", None),
    "529": (error(529), "rate_limited", None),
    "500": (error(500), "server", None),
    "503 with a pause": (error(503, {"retry-after": "2"}), "server", 2.0),
    "500 without JSON": (
        answer("<html>", 502, {"content-type": "text/html"}), "server", None
    ),
    "504": (error(504), "timeout", None),
    "408": (error(408), "timeout", None),
    "dropped": (DROPPED, "connection", None),
    "cut": (CUT, "connection", None),
    "no JSON": (answer("{busy"), "garbled", None),
    "a page": (GARBAGE, "garbled", None),
    "no reply in it": (answer({}), "garbled", None),
    "a list": (answer([1]), "garbled", None),
    "no text at all": (answer(b"\xff\xfe\xfa"), "garbled", None),
    "nothing": (answer("", 204), "garbled", None),
    "a lie about its coding": (
        answer("{}", headers={"content-encoding": "gzip"}), "connection", None
    ),
    "401": (error(401), "authentication", None),
    "403": (error(403), "authentication", None),
    "404": (error(404), "not_found", None),
    "400": (error(400), "bad_request", None),
    "422": (error(422), "bad_request", None),
    "413": (error(413), "context_overflow", None),
    "too long": (error(400, code="context_length_exceeded"), "context_overflow", None),
    "too long for llama.cpp": (
        error(400, type="exceed_context_size_error"), "context_overflow", None
    ),
    "no money": (error(429, code="insufficient_quota"), "failed", None),
    "teapot": (error(418), "failed", None),
}  # fmt: skip


def test_a_failure_is_told_by_its_kind(case, question):
    client = case.client()
    for name, (play, kind, pause) in FAILURES.items():
        case.server.plays(play)
        error = case.error(client, question())
        assert (name, error.kind, error.retry_after) == (name, kind, pause)
        # One vendor's API does not name the parameter that it refuses, so one is tried without.
        assert len(case.server.requests) <= (2 if kind == "bad_request" else 1), name
        assert sent(error).kind == kind


def test_a_date_to_come_back_is_a_pause(case, question):
    case.server.plays(error(429, {"retry-after": formatdate(time.time() + 30, usegmt=True)}))
    assert 0 < case.error(case.client(), question()).retry_after <= 30  # less what has passed


def test_a_filter_that_takes_the_prompt_is_a_refusal(case, question):
    case.server.plays(error(400, code="content_filter"))
    with pytest.raises(RefusedReplyError, match="400"):
        case.ask(case.client(), question())


def test_nobody_there(case, question):
    client = case.client(base_url="http://127.0.0.1:9/v1")
    assert case.error(client, question()).kind == "connection"


def test_a_reply_that_does_not_come(case, question, warm):
    case.server.plays(case.vendor.said(delay=20))
    start = time.perf_counter()
    with at_most(2, time.perf_counter):
        error = case.error(case.client(timeout=0.3), question())
    assert time.perf_counter() - start > 0.25
    assert (error.kind, str(error)) == ("timeout", "no reply within 0.3 s")
    assert len(case.server.requests) == 1


def test_a_reply_that_comes_byte_by_byte_is_not_waited_for(case, question, warm):
    case.server.plays(case.vendor.said(drip=0.1))  # each in time for the SDK's own clock
    start = time.perf_counter()
    with at_most(5, time.perf_counter):  # all of it would take a minute
        error = case.error(case.client(timeout=0.5), question())
    assert time.perf_counter() - start > 0.45
    assert (error.kind, str(error)) == ("timeout", "no reply within 0.5 s")


@pytest.mark.parametrize("failed", ["429", "500", "dropped", "no JSON"])
def test_what_may_pass_is_tried_again(failed, case, question):
    play = FAILURES[failed][0]
    if play.status >= 400:
        play = error(play.status, {"retry-after": "0"})
    case.server.plays(play, case.vendor.said("At last"))
    assert case.ask(case.client(retries=1), question()).text == "At last"
    assert len(case.server.requests) == 2


def test_what_does_not_pass_is_not_tried_again(case, question):
    client = case.client(retries=5)
    for failed in ("401", "403", "404", "413", "no money", "429 for ever"):
        case.server.plays(FAILURES[failed][0])
        case.error(client, question())
        assert len(case.server.requests) == 1, failed


def test_retries_are_counted_by_us_alone(case, question):
    case.server.plays(error(500, {"retry-after": "0"}))
    assert case.error(case.client(retries=2), question()).kind == "server"
    assert len(case.server.requests) == 3


def test_the_pause_that_is_asked_for_is_kept(case, question):
    case.server.plays(error(429, {"retry-after": "0.4"}), case.vendor.said())
    start = time.perf_counter()
    case.ask(case.client(retries=1), question())
    assert time.perf_counter() - start > 0.4


def test_a_pause_of_more_than_a_minute_is_no_pause(case, question):
    case.server.plays(error(429, {"retry-after": "3600"}))
    assert case.error(case.client(retries=3), question()).retry_after == 3600
    assert len(case.server.requests) == 1


@pytest.mark.parametrize("source", ["given", "referred to", "the SDK's own"])
def test_a_key_is_sent_and_never_shown(source, case, question, monkeypatch, caplog):
    caplog.set_level(1)  # all that the SDKs log too
    monkeypatch.setenv("SOME_KEY", KEY + "\n")
    if source == "the SDK's own":
        monkeypatch.setenv(case.vendor.key_variable, KEY)
    api_key = {"given": KEY, "referred to": "${SOME_KEY}", "the SDK's own": "-"}[source]
    client = case.client(api_key=api_key)
    case.ask(client, question())
    assert keys(case.vendor, case.server.requests) == {KEY}
    for play in (error(401, message=f"{KEY} is wrong"), answer(f"<b>{KEY}</b>", 500), answer(KEY)):
        case.server.plays(play)
        told = case.error(client, question())
        assert KEY not in "".join(traceback.format_exception(told))
    for shown in (repr(client), str(client.config), client.config.model_dump_json()):
        assert KEY not in shown
    assert KEY not in json.dumps(client.identity()) + caplog.text


def test_a_variable_that_is_not_there_is_a_bad_call(case, question):
    with pytest.raises(InvalidOptionError, match="NO_SUCH_KEY"):
        case.ask(case.client(api_key="${NO_SUCH_KEY}"), question())


def test_a_server_of_ones_own_needs_no_key(case, question):
    assert case.ask(case.client(api_key="-"), question()).text == "Paris"


def test_no_key_at_all(case, question, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    error = case.error(load_client(case.vendor.model, retries=0), question())
    assert error.kind == "authentication"


@pytest.mark.parametrize(("how", "finish"), [("cut", "length"), ("refused", "refused")])
def test_a_reply_that_did_not_end_by_itself_says_so(how, finish, case, question):
    case.server.plays(case.vendor.said("I ma", **{how: True}))
    assert case.ask(case.client(), question()).finish == finish


def test_parts_of_a_message_arrive_as_parts(case, question):
    from llmeval_integrations.llm.messages import Message, Request

    case.ask(case.client(), Request((Message("user", ("One.", "Two.")),)))
    sent = json.dumps(case.server.last.body)
    assert '"text": "One."' in sent
    assert '"text": "Two."' in sent


def test_an_option_of_the_vendors_call_is_checked_when_the_client_is_made(case):
    with pytest.raises(InvalidOptionError, match="no_such_option"):
        case.client(options={"no_such_option": 1})


def test_a_text_that_is_no_unicode_fails_the_call_at_most(case, question):
    with suppress(ClientError):
        assert case.ask(case.client(), question("\ud800")).text == "Paris"


def test_a_client_travels_to_another_process(case, question):
    client = case.client()
    case.ask(client, question())
    assert case.ask(sent(client), question()).text == "Paris"


def test_where_the_environment_sends_it_is_part_of_who_answers(case, question, monkeypatch):
    configured = case.client()
    address = configured.config.base_url
    monkeypatch.setenv(case.vendor.address_variable, address)
    found = load_client(case.vendor.model, api_key=KEY, retries=0)
    case.ask(found, question())
    assert len(case.server.requests) == 1
    assert found.identity() == configured.identity()
    monkeypatch.delenv(case.vendor.address_variable)
    assert found.identity() != configured.identity()


def test_a_slash_at_the_end_of_an_address_asks_no_other_server():
    pytest.importorskip("openai")
    config = {"platform": "openai", "name": "m", "api_key": "k"}
    one, other = (
        load_client({**config, "base_url": f"http://localhost:9/v1{end}"}).identity()
        for end in ("", "/")
    )
    assert one == other


def test_a_redirect_is_not_followed(case, question):
    with ModelServer() as elsewhere:
        case.server.plays(answer("", 307, {"location": elsewhere.url + "/v1/elsewhere"}))
        error = case.error(case.client(), question())
        assert (error.kind, elsewhere.requests) == ("failed", [])
    assert "a redirect, which is not followed" in str(error)


def test_one_client_serves_several_loops_and_threads(case):
    client = case.client()

    async def many():
        return await asyncio.gather(*(client.aask("Where?") for _ in range(5)))

    with ThreadPoolExecutor(4) as threads:
        loops = [threads.submit(asyncio.run, many()) for _ in range(4)]
        blocking = [threads.submit(client.ask, "Where?") for _ in range(5)]
        replies = [reply for loop in loops for reply in loop.result()]
        replies += [one.result() for one in blocking]
    assert replies == ["Paris"] * 25


def test_connections_are_kept(case):
    client = case.client()
    for _ in range(3):
        client.ask("Where?")
        asyncio.run(client.aask("Where?"))
    assert len({request.connection for request in case.server.requests}) == 1


def test_a_call_that_is_given_up_leaves_the_client_usable(case, warm):
    client = case.client()

    async def give_up_and_go_on():
        case.server.plays(case.vendor.said(delay=20))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.aask("Where?"), 0.2)
        case.server.plays(case.vendor.said("Here"))
        return await client.aask("Where?")

    assert asyncio.run(give_up_and_go_on()) == "Here"


def test_a_reply_that_is_none_is_paid_all_the_same(case, question):
    usage = {
        "prompt_tokens": 900, "completion_tokens": 100,
        "input_tokens": 900, "output_tokens": 100,
    }  # fmt: skip
    google = {"promptTokenCount": 900, "candidatesTokenCount": 100}
    case.server.plays(answer({"choices": [], "usage": usage, "usageMetadata": google}))
    reply = case.ask(case.client(), question(schema=SCHEMA))
    assert (reply.text, reply.finish, reply.usage) == ("", "failed", Usage(900, 100))
