"""What a failed call over HTTP means."""

import json
import time
from email.utils import formatdate

import pytest

from llmeval_integrations.core.errors import ClientError, RefusedReplyError
from llmeval_integrations.llm.sdks.http_problems import (
    retry_after,
    status_problem,
    transport_problem,
)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": "Wed, 99 Foo 2026 07:28:00 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "?", "retry-after": "1"}, 1.0),
    ],
    ids=str,
)
def test_the_pause_that_a_server_asks_for(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_date_is_a_pause_until_then():
    for asked in (formatdate(time.time() + 60, usegmt=True), formatdate(time.time() + 60)):
        assert retry_after({"retry-after": asked}) == pytest.approx(60, abs=2)


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (400, {"error": {"message": "no"}}, "bad_request", "the server answered 400: no"),
        (400, {"message": "no"}, "bad_request", "400: no"),
        (400, {"error": "no"}, "bad_request", "400: no"),
        (400, "no", "bad_request", "400: no"),
        (400, None, "bad_request", "400: without a word"),
        (400, [], "bad_request", "400: without a word"),
        (400, {"code": "context_length_exceeded", "message": "no"}, "context_overflow", "no"),
        (400, {"error": {"type": "exceed_context_size_error"}}, "context_overflow", "400"),
        (400, {"error": {"code": 400, "type": None}}, "bad_request", "400"),
        (401, {}, "authentication", "401"),
        (402, {}, "failed", "402"),
        (413, {}, "context_overflow", "413"),
        (422, {}, "bad_request", "422"),
        (429, {}, "rate_limited", "429"),
        (429, {"error": {"code": "insufficient_quota"}}, "failed", "429"),
        (500, {}, "server", "500"),
        (501, {}, "bad_request", "501"),
        (504, {}, "timeout", "504"),
        (529, {}, "rate_limited", "529"),
        (599, {}, "server", "599"),
    ],
)
def test_a_status_and_its_codes_tell_the_kind(status, body, kind, message):
    problem = status_problem(status, body)
    assert isinstance(problem, ClientError)
    assert (problem.kind, problem.status) == (kind, status)
    assert message in str(problem)


def test_words_never_tell_the_kind():
    told = {"error": {"message": "context_length_exceeded, rate limit, invalid api key, timeout"}}
    assert status_problem(400, told).kind == "bad_request"


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
def test_a_filter_refuses(code):
    assert isinstance(status_problem(400, {"error": {"code": code}}), RefusedReplyError)


@pytest.mark.parametrize(
    ("code", "parameter"),
    [
        ("unsupported_parameter", "temperature"),
        ("unsupported_value", "temperature"),
        ("invalid_value", None),
        (None, None),
    ],
)
def test_only_an_unsupported_parameter_is_one_to_leave_out(code, parameter):
    body = {"error": {"message": "no", "param": "temperature", "code": code}}
    assert status_problem(400, body).parameter == parameter


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        ([{"@type": "google.rpc.RetryInfo", "retryDelay": "21s"}], 21.0),
        ([{"reason": "x"}, {"retryDelay": "0.5s"}], 0.5),
        ([{"retryDelay": 21}], None),
        ([{"retryDelay": "soon"}], None),
        (["retryDelay"], None),
        ("retryDelay", None),
        (None, None),
    ],
)
def test_a_pause_in_the_body(details, seconds):
    assert status_problem(429, {"error": {"details": details}}).retry_after == seconds
    told = status_problem(429, {"error": {"details": details}}, {"retry-after": "3"})
    assert told.retry_after == 3.0


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ConnectionResetError("reset"), "connection"),
        (ConnectionRefusedError(), "connection"),
        (json.JSONDecodeError("no", "{", 1), "garbled"),
        (ValueError("timed out"), None),
        (RuntimeError("Connection error"), None),
    ],
    ids=lambda case: type(case).__name__,
)
def test_an_exception_is_told_by_its_class(error, kind):
    problem = transport_problem(error)
    assert (problem and problem.kind) == kind


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_http_libraries_are_known_by_name(library):
    http = pytest.importorskip(library)
    for error, kind in [
        (http.ReadTimeout("x"), "timeout"),
        (http.ConnectTimeout("x"), "timeout"),
        (http.PoolTimeout("x"), "timeout"),
        (http.ConnectError("x"), "connection"),
        (http.RemoteProtocolError("x"), "connection"),
        (http.ReadError("x"), "connection"),
    ]:
        assert transport_problem(error).kind == kind


def test_aiohttp_is_known_by_name():
    aiohttp = pytest.importorskip("aiohttp")
    assert transport_problem(aiohttp.ServerTimeoutError()).kind == "timeout"
    assert transport_problem(aiohttp.ServerDisconnectedError()).kind == "connection"
    assert transport_problem(aiohttp.ClientPayloadError()).kind == "connection"
