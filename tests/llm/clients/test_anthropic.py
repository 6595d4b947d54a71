"""What Anthropic's client puts on the wire, and what it makes of what comes back."""

import inspect
import json

import pytest
from server import answer
from vendors import anthropic_body, anthropic_said, ask_client

from llmeval_integrations import evaluate
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges import PassFail, Vote
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.llm.reply import Usage

anthropic = pytest.importorskip("anthropic")

KEY = "sk-ant-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "score": {"type": "integer", "minimum": 1, "maximum": 5},
    },
    "required": ["reasoning", "score"],
}
TALK = Request(
    (
        Message("system", ("Be fair.", "Be brief.")),
        Message("user", ("One.", "Two.")),
        Message("assistant", "3"),
        Message("system", "Now decide."),
        Message("user", "4"),
    )
)
HAS_TEMPERATURE = "temperature" in inspect.signature(anthropic.resources.Messages.create).parameters
TEMPERATURE = {"temperature": 0.0} if HAS_TEMPERATURE else {}


@pytest.fixture(autouse=True)
def _no_key_in_the_environment(monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def client_of(server):
    server.plays(anthropic_said())

    def make(**options):
        fields = {"base_url": server.url, "api_key": KEY, "retries": 0}
        return load_client("anthropic:claude-sonnet-5", **{**fields, **options})

    return make


def test_the_body_of_a_plain_question(client_of, ask, server):
    ask(client_of(), TALK)
    assert server.last.path == "/v1/messages"
    assert server.last.body == {
        "model": "claude-sonnet-5",
        "max_tokens": 4096,
        "system": "Be fair.\n\nBe brief.\n\nNow decide.",
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}],
            },
            {"role": "assistant", "content": "3"},
            {"role": "user", "content": "4"},
        ],
        **TEMPERATURE,
    }


def test_a_prompt_without_a_user_is_said_by_the_user(client_of, ask, server):
    ask(client_of(), Request((Message("system", "Is it good?"),)))
    assert server.last.body["messages"] == [{"role": "user", "content": "Is it good?"}]
    assert "system" not in server.last.body


def test_what_the_request_says_goes_before_what_the_client_says(client_of, ask, question, server):
    client = client_of(temperature=0.5, max_tokens=10)
    for wanted, limit, temperature in [
        (question(), 10, 0.5),
        (question(temperature=0.0, max_tokens=20), 20, 0.0),
    ]:
        ask(client, wanted)
        assert server.last.body["max_tokens"] == limit
        assert server.last.body.get("temperature") == (temperature if HAS_TEMPERATURE else None)


def test_a_temperature_that_a_model_refuses_is_left_out(client_of, ask, question, server):
    def play(request):
        wrong = "temperature" in request.body
        error = {"type": "invalid_request_error", "message": "temperature is deprecated"}
        return answer({"type": "error", "error": error}, 400) if wrong else anthropic_said()

    server.plays(play)
    client = client_of()
    for _ in range(2):
        assert ask(client, question()).text == "Paris"
    assert len(server.requests) == (3 if HAS_TEMPERATURE else 2)


def test_a_refusal_of_something_else_does_not_cost_the_temperature(
    client_of, ask, question, server
):
    server.plays(answer({"type": "error", "error": {"message": "too long"}}, 400))
    client = client_of()
    with pytest.raises(ClientError):
        ask(client, question())
    server.plays(anthropic_said())
    ask(client, question())
    assert TEMPERATURE.items() <= server.last.body.items()


def test_a_form_is_asked_for_by_the_vendors_own_structured_output(client_of, question, server):
    ask_client(client_of(), question(schema=SCHEMA, schema_name="judgement"))
    sent = server.last.body["output_config"]["format"]
    assert sent["type"] == "json_schema"
    assert sent["schema"]["additionalProperties"] is False
    assert [*sent["schema"]["properties"]] == ["reasoning", "score"]
    assert "minimum" not in sent["schema"]["properties"]["score"]  # the API refuses it
    assert "additionalProperties" not in SCHEMA


def test_a_form_that_structured_output_lacks_is_asked_for_by_a_tool(
    client_of, ask, question, server
):
    anything = {"type": "object", "properties": {"value": {}}}
    reply = ask(client_of(), question(schema=anything))
    assert reply.output == "tool"
    assert len(server.requests) == 1


def test_a_forced_tool_call(client_of, ask, question, server):
    block = {"type": "tool_use", "id": "t", "name": "judgement", "input": {"é": [1, None]}}
    server.plays(anthropic_body({"type": "text", "text": ""}, block, stop="tool_use"))
    reply = ask(client_of(output="tool"), question(schema=SCHEMA, schema_name="judgement"))
    assert json.loads(reply.text) == {"é": [1, None]}
    assert server.last.body["tools"] == [{"name": "judgement", "input_schema": SCHEMA}]
    assert server.last.body["tool_choice"] == {
        "type": "tool",
        "name": "judgement",
        "disable_parallel_tool_use": True,
    }


def test_a_setting_of_ones_own_stands_beside_the_form(client_of, ask, question, server):
    client = client_of(options={"output_config": {"effort": "low"}, "service_tier": "auto"})
    ask(client, question(schema=SCHEMA))
    assert server.last.body["output_config"].keys() == {"effort", "format"}
    assert server.last.body["service_tier"] == "auto"


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
        ("pause_turn", "other"),
        ("something_new", "other"),
        (None, "stop"),
    ],
)
def test_why_a_reply_ended(stop, finish, client_of, server):
    server.plays(anthropic_body({"type": "text", "text": "I"}, stop=stop))
    reply = ask_client(client_of(), TALK)
    assert (reply.finish, reply.text) == (finish, "I")


def test_thinking_is_no_part_of_the_text(client_of, ask, server):
    server.plays(
        anthropic_body(
            {"type": "thinking", "thinking": "Is it Fail?", "signature": "s"},
            {"type": "text", "text": "Pa"},
            {"type": "text", "text": "ss"},
        )
    )
    assert ask(client_of(), TALK).text == "Pass"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 5, "output_tokens": 3}, Usage(5, 3)),
        (
            {
                "input_tokens": 11,
                "output_tokens": 7,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 100,
            },
            Usage(115, 7, 4, 0, 100),
        ),
        (
            {
                "input_tokens": 11,
                "output_tokens": 7,
                "cache_read_input_tokens": None,
                "output_tokens_details": {"thinking_tokens": 5},
            },
            Usage(11, 7, 0, 5),
        ),
    ],
)
def test_tokens_of_the_cache_are_tokens_of_the_prompt(usage, expected, client_of, server):
    server.plays(anthropic_body({"type": "text", "text": "I"}, usage=usage))
    assert ask_client(client_of(), TALK).usage == expected


@pytest.mark.parametrize("kind", ["Anthropic", "AsyncAnthropic"])
def test_an_sdk_object_serves_both_kinds_of_calls(kind, ask, question, server):
    server.plays(anthropic_said())
    given = getattr(anthropic, kind)(
        api_key=KEY,
        base_url=server.url,
        default_headers={"x-team": "eval"},
        timeout=7,
        max_retries=0,
    )
    client = load_client(given, name="claude-sonnet-5")
    for _ in range(2):
        ask(client, question())
    headers = server.last.headers
    assert KEY in (headers.get("x-api-key"), headers.get("authorization", "")[len("Bearer ") :])
    assert headers["x-team"] == "eval"
    assert (client.config.timeout, client.config.retries) == (7, 0)
    assert KEY not in repr(client) + json.dumps(client.identity()) + str(client.config)


def test_a_token_takes_the_place_of_a_key(ask, question, server, monkeypatch):
    server.plays(anthropic_said())
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    for client in (
        load_client("anthropic:claude-sonnet-5", base_url=server.url),
        load_client(anthropic.Anthropic(auth_token=KEY, base_url=server.url), name="m"),
    ):
        ask(client, question())
        assert server.last.headers["authorization"] == f"Bearer {KEY}"
        assert "x-api-key" not in server.last.headers


def test_headers_and_a_query_of_an_object_tell_models_apart():
    identities = [
        load_client(anthropic.Anthropic(api_key=KEY, **sent), name="m").identity()
        for sent in (
            {},
            {"default_headers": {"x-route": "a"}},
            {"default_headers": {"x-route": "b"}},
            {"default_query": {"route": "a"}},
        )
    ]
    assert all(identities.count(each) == 1 for each in identities)
    assert "default_headers" not in identities[0]


@pytest.mark.parametrize(
    ("length", "draws", "is_kept"), [(9_000, 2, True), (9_000, 1, False), (900, 2, False)]
)
def test_what_a_votes_draws_share_is_kept_in_the_vendors_cache(length, draws, is_kept, server):
    verdict = {"reasoning": "r", "verdict": "Pass", "confidence": "High"}
    server.plays(anthropic_said(json.dumps(verdict)))
    judge = PassFail(load_client("anthropic:m", base_url=server.url, api_key="k"), "Is it?")
    (Vote(judge, draws) if draws > 1 else judge)("x" * length)
    content = server.last.body["messages"][-1]["content"]
    assert isinstance(content, list) is is_kept
    if draws == 1:  # two judges of a run share it as well
        others = [judge, PassFail(judge.model, "Is it short?")]
        evaluate([{"output": "x" * length}], others)
        content = server.last.body["messages"][-1]["content"]
    if is_kept or draws == 1:
        shared, rest = content
        assert shared["cache_control"] == {"type": "ephemeral"}
        assert "x" * length in shared["text"]
        assert "Is it" in rest["text"]
