"""What OpenAI's client puts on the wire, and what it makes of what comes back."""

import asyncio
import json

import pytest
from server import answer, chat
from vendors import ask_client

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.llm.reply import Usage

openai = pytest.importorskip("openai")

KEY = "sk-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "verdict": {"enum": ["Pass", "Fail"], "type": "string", "default": "Fail"},
    },
    "required": ["reasoning"],
}
STRICT = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "verdict": {"enum": ["Pass", "Fail"], "type": "string"},
    },
    "required": ["reasoning", "verdict"],
    "additionalProperties": False,
}
FREE = {"type": "object", "additionalProperties": {"type": "number"}}
TALK = Request(
    (Message("system", "Be fair."), Message("user", ("One.", "Two.")), Message("assistant", "3"))
)


@pytest.fixture(autouse=True)
def _no_key_in_the_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def client_of(server):
    def make(name="gpt-4o", **options):
        fields = {
            "platform": "openai",
            "base_url": server.url + "/v1",
            "api_key": KEY,
            "retries": 0,
        }
        return load_client({**fields, **options, "name": name})

    return make


def body(ask, client, wanted, server):
    ask(client, wanted)
    return server.last.body


def test_the_body_of_a_plain_question(client_of, ask, server):
    assert body(ask, client_of(), TALK, server) == {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "Be fair."},
            {
                "role": "user",
                "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}],
            },
            {"role": "assistant", "content": "3"},
        ],
        "temperature": 0.0,
    }


def test_what_the_request_says_goes_before_what_the_client_says(client_of, ask, question, server):
    client = client_of(temperature=0.5, max_tokens=10)
    sent = body(ask, client, question(), server)
    assert (sent["temperature"], sent["max_tokens"]) == (0.5, 10)
    sent = body(ask, client, question(temperature=0.0, max_tokens=20), server)
    assert (sent["temperature"], sent["max_tokens"]) == (0.0, 20)
    sent = body(ask, client_of(temperature=None), question(), server)
    assert sent.keys() == {"model", "messages"}


@pytest.mark.parametrize(
    ("platform", "names", "reasons"),
    [
        ("openai", "o1 o3-mini o4-mini-2025-04-16 gpt-5 gpt-5-mini gpt-5.1 gpt-10", True),
        ("openai", "openai/gpt-5-nano ft:o4-mini:acme::1 ft:gpt-5:acme::1", True),
        ("openai", "gpt-4o gpt-4.1 gpt-4-turbo gpt-5-chat-latest gpt-5.1-chat", False),
        ("openai", "gpt-oss-120b ft:gpt-4o:acme::1 omni mistral/o-3 chatgpt-4o-latest", False),
        ("ollama", "o1 gpt-5", False),
        ("llama.cpp", "o3", False),
    ],
)
def test_reasoning_models_are_known_by_name(platform, names, reasons, client_of, server):
    for name in names.split():
        ask_client(client_of(name, platform=platform, max_tokens=9), TALK)
        sent = server.last.body
        role, limit = (
            ("developer", "max_completion_tokens") if reasons else ("system", "max_tokens")
        )
        assert sent["messages"][0] == {"role": role, "content": "Be fair."}, name
        assert sent[limit] == 9, name
        assert ("temperature" in sent) is not reasons, name


def refusing(*parameters, code="unsupported_parameter"):
    """Play a server that refuses parameters, one at a time."""

    def play(request):
        for name in parameters:
            if name in request.body:
                told = {"message": "no", "type": "invalid_request_error", "param": name}
                return answer({"error": {**told, "code": code}}, 400)
        return chat()

    return play


@pytest.mark.parametrize("code", ["unsupported_parameter", "unsupported_value"])
def test_a_parameter_that_the_server_refuses_is_left_out_from_then_on(
    code, client_of, ask, question, server
):
    server.plays(refusing("temperature", "max_tokens", code=code))
    client = client_of("my-deployment", max_tokens=9)
    ask(client, question())
    assert len(server.requests) == 3
    assert server.last.body.keys() == {"model", "messages", "max_completion_tokens"}
    ask(client, question())
    assert len(server.requests) == 4


def test_calls_under_way_together_all_learn_it(client_of, question, server):
    server.plays(refusing("temperature"))
    client = client_of("my-deployment")

    async def many():
        return await asyncio.gather(*(client.aask("Where?") for _ in range(20)))

    assert {*asyncio.run(many())} == {"Paris"}


@pytest.mark.parametrize(
    "play",
    [
        refusing("temperature", code="decimal_above_max_value"),
        refusing("messages"),
        refusing("temperature", "messages"),
    ],
    ids=["a value out of range", "what cannot be left out", "both"],
)
def test_a_refusal_that_leaving_out_does_not_mend_stands(play, client_of, ask, question, server):
    server.plays(play)
    client = client_of()
    with pytest.raises(ClientError) as caught:
        ask(client, question())
    assert caught.value.kind == "bad_request"
    assert len(server.requests) <= 2
    server.plays(chat())
    assert "temperature" in body(ask, client, question(), server)


def test_a_form_is_asked_for_strictly_where_the_schema_can_be(client_of, ask, question, server):
    for schema, sent_schema, strict in [(SCHEMA, STRICT, True), (FREE, FREE, False)]:
        wanted = question(schema=schema, schema_name="judgement")
        sent = body(ask, client_of(), wanted, server)
        form = {"name": "judgement", "schema": sent_schema, "strict": strict}
        assert sent["response_format"] == {"type": "json_schema", "json_schema": form}
        assert [*sent["response_format"]["json_schema"]["schema"]] == [*sent_schema]

        server.plays(chat('{"verdict": "Pass"}', tool="judgement", finish="tool_calls"))
        reply = ask(client_of(output="tool"), wanted)
        assert json.loads(reply.text) == {"verdict": "Pass"}
        assert reply.finish == "stop"
        function = {"name": "judgement", "parameters": sent_schema, "strict": strict}
        assert server.last.body["tools"] == [{"type": "function", "function": function}]
        choice = {"type": "function", "function": {"name": "judgement"}}
        assert server.last.body["tool_choice"] == choice


def test_a_form_in_words_stands_at_the_end_of_the_question(client_of, ask, question, server):
    sent = body(ask, client_of(output="json"), question("Where?", schema=SCHEMA), server)
    text = sent["messages"][-1]["content"]
    assert text.startswith("Where?\n\n")
    assert json.loads(text[text.index("{") :]) == SCHEMA
    assert sent.keys() == {"model", "messages", "temperature"}


@pytest.mark.parametrize(
    ("fields", "finish", "text"),
    [
        ({"finish": "stop"}, "stop", "Paris"),
        ({"finish": "length"}, "length", "Paris"),
        ({"finish": "content_filter"}, "refused", "Paris"),
        ({"finish": "error"}, "failed", "Paris"),
        ({"finish": "abort"}, "failed", "Paris"),
        ({"finish": "something_new"}, "other", "Paris"),
        ({"finish": None}, "stop", "Paris"),
        ({"refusal": "I may not."}, "refused", "I may not."),
        ({"text": None}, "stop", ""),
        ({"text": "{}", "tool": "answer", "finish": "tool_calls"}, "stop", "{}"),
        ({"text": '{"a', "tool": "answer", "finish": "length"}, "length", '{"a'),
    ],
)
def test_why_a_reply_ended(fields, finish, text, client_of, server):
    server.plays(chat(**fields))
    reply = ask_client(client_of(), TALK)
    assert (reply.finish, reply.text) == (finish, text)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"code": 429, "message": "slow down"}, "rate_limited"),
        ({"code": 502, "message": "busy"}, "server"),
        ({"code": 200, "message": "odd"}, "garbled"),
        ({"code": "busy"}, "garbled"),
        ("busy", "garbled"),
    ],
)
def test_an_error_with_the_status_of_a_success_is_an_error(told, kind, client_of, question, server):
    server.plays(answer({"error": told}))
    with pytest.raises(ClientError) as caught:
        ask_client(client_of(), question())
    assert caught.value.kind == kind


PARTS = [{"type": "thinking", "thinking": "Fail?"}, *({"type": "text", "text": t} for t in "Hi")]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": PARTS}, "Hi"),
        ({"content": []}, ""),
        ({"content": 7}, None),
        ({"content": [7]}, None),
        ({"content": {"text": "Hi"}}, None),
        ({"tool_calls": [{"function": {"arguments": {"verdict": "Pass"}}}]}, None),
    ],
)
def test_a_content_of_another_form_is_read_surely_or_not_at_all(
    message, text, client_of, ask, question, server
):
    server.plays(answer({"choices": [{"message": message}]}))
    if text is not None:
        assert ask(client_of(), question()).text == text
        return
    with pytest.raises(ClientError, match="cannot be read") as caught:
        ask(client_of(), question())
    assert caught.value.kind == "garbled"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}, Usage(5, 3)),
        (
            {
                "prompt_tokens": 50,
                "completion_tokens": 30,
                "prompt_tokens_details": {"cached_tokens": 40, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            Usage(50, 30, 40, 20),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": None,
                "prompt_tokens_details": None,
                "completion_tokens_details": {"reasoning_tokens": None},
            },
            Usage(5, 0),
        ),
        ({"prompt_tokens": -5, "completion_tokens": "3"}, Usage()),
    ],
)
def test_usage_is_read_from_what_the_server_tells(usage, expected, client_of, question, server):
    server.plays(chat(usage=usage))
    assert ask_client(client_of(), question()).usage == expected


def test_a_server_may_keep_its_usage_and_name_to_itself(client_of, ask, question, server):
    server.plays(answer({"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]}))
    reply = ask(client_of(), question())
    assert (reply.text, reply.usage, reply.model) == ("Paris", Usage(), "gpt-4o")


def test_options_are_arguments_of_the_vendors_call(client_of, ask, question, server):
    client = client_of(
        options={
            "seed": 7,
            "top_p": 0.5,
            "extra_body": {"min_p": 0.1},
            "extra_headers": {"X-Team": "harbour"},
            "extra_query": {"tier": "low"},
        }
    )
    sent = body(ask, client, question(), server)
    assert (sent["seed"], sent["top_p"], sent["min_p"]) == (7, 0.5, 0.1)
    assert server.last.headers["x-team"] == "harbour"
    assert server.last.path == "/v1/chat/completions?tier=low"


def test_an_administrators_key_is_not_sent(client_of, ask, question, server, monkeypatch):
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-of-the-administrator")
    ask(client_of(), question())
    assert server.last.headers["authorization"] == f"Bearer {KEY}"


def test_a_tracer_in_the_place_of_create_sees_each_call(
    client_of, ask, question, server, monkeypatch
):
    seen = []

    def traced(create):
        def call(self, **arguments):
            seen.append(arguments["model"])
            return create(self, **arguments)

        return call

    completions = openai.resources.chat.completions
    for kind in (completions.Completions, completions.AsyncCompletions):
        monkeypatch.setattr(kind, "create", traced(kind.create))
    server.plays(chat("Paris"))
    reply = ask(client_of(), question())
    assert (reply.text, reply.finish, seen) == ("Paris", "stop", ["gpt-4o"])


def test_the_sdks_own_variables_are_heeded(ask, question, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/proxy/v1")
    ask(load_client("openai:gpt-4o"), question())
    assert server.last.path == "/proxy/v1/chat/completions"
    assert server.last.headers["authorization"] == f"Bearer {KEY}"
