"""How every client asks for an answer's form, and what it does where a server refuses a way."""

import json

import pytest
from test_all_clients import SCHEMA, error

pytest.importorskip("pydantic")


@pytest.mark.parametrize(("refusals", "expected"), [(0, "json_schema"), (1, "tool"), (2, "json")])
def test_the_best_way_to_a_form_that_the_server_takes(refusals, expected, case, question):
    refused = ["json_schema", "tool", "json"][:refusals]
    said = case.vendor.called if expected == "tool" else case.vendor.said

    def play(request):
        return (
            error(400) if case.vendor.way(request.body) in refused else said('{"verdict": "Pass"}')
        )

    case.server.plays(play)
    client = case.client()
    for _ in range(2):
        reply = case.ask(client, question(schema=SCHEMA))
        assert (json.loads(reply.text), reply.output) == ({"verdict": "Pass"}, expected)
        assert case.vendor.way(case.server.last.body) == expected
        first, case.server.requests = len(case.server.requests), []
    assert first == 1  # what the server has refused is not tried again


def test_a_way_that_is_refused_for_one_schema_is_open_to_others(case, question):
    def play(request):
        refused = "odd" in str(request.body) and case.vendor.way(request.body) == "json_schema"
        return error(400) if refused else case.vendor.said('{"odd": 1, "verdict": "Pass"}')

    case.server.plays(play)
    client = case.client()
    odd = {**SCHEMA, "properties": {"odd": {"type": "integer"}}, "required": ["odd"]}
    assert case.ask(client, question(schema=odd)).output == "tool"
    assert case.ask(client, question(schema=SCHEMA)).output == "json_schema"
    assert case.ask(client, question(schema=odd)).output == "tool"
    assert len(case.server.requests) == 4


def test_a_request_that_no_way_makes_good(case, question):
    case.server.plays(error(400))
    client = case.client()
    assert case.error(client, question(schema=SCHEMA)).kind == "bad_request"
    assert {case.vendor.way(request.body) for request in case.server.requests} == {
        "json_schema", "tool", "json",
    }  # fmt: skip
    case.server.plays(case.vendor.said('{"verdict": "Fail"}'))
    assert case.ask(client, question(schema=SCHEMA)).output == "json_schema"


@pytest.mark.parametrize("way", ["json_schema", "tool", "json"])
def test_a_way_that_is_asked_for_is_the_only_one(way, case, question):
    for client, wanted in [
        (case.client(output=way), question(schema=SCHEMA)),
        (case.client(), question(schema=SCHEMA, output=way)),
    ]:
        case.server.plays(case.vendor.called('{"verdict": "Pass"}'))
        assert case.ask(client, wanted).output == way
        assert case.vendor.way(case.server.last.body) == way
        case.server.plays(error(400))
        case.error(client, wanted)
        assert {case.vendor.way(request.body) for request in case.server.requests} == {way}


def test_text_is_asked_for_without_a_form(case, question):
    for client, wanted in [
        (case.client(output="text"), question(schema=SCHEMA)),
        (case.client(), question(schema=SCHEMA, output="text")),
    ]:
        assert case.ask(client, wanted).output == "text"
        assert case.vendor.way(case.server.last.body) == "json"
        assert "verdict" not in json.dumps(case.server.last.body)


def test_a_text_where_a_call_was_wanted_is_taken_as_it_is(case, question):
    case.server.plays(case.vendor.said('{"verdict": "Pass"}'))
    reply = case.ask(case.client(output="tool"), question(schema=SCHEMA))
    assert json.loads(reply.text) == {"verdict": "Pass"}
