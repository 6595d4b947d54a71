"""LiteLLM as a client, over HTTP; its failures are in `test_wrapped_failures.py`."""

import asyncio
import json
import subprocess
import sys
import textwrap

import pytest
from server import answer, chat
from vendors import anthropic_body, google_body

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.llm.reply import Usage

pytest.importorskip("litellm")

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["Pass", "Fail"]}},
    "required": ["verdict"],
}
PASSED = '{"verdict": "Pass"}'
KEY = "sk-0123456789"
MESSAGES = (
    Message("system", "Be short."),
    Message("user", ("One.", "Two.")),
    Message("assistant", "Three."),
    Message("user", "Four?"),
)


@pytest.fixture
def client_of(server):
    def make(model="openai/gpt-4o", root="/v1", **options):
        fields = {"base_url": server.url + root, "api_key": KEY, "retries": 0, **options}
        return load_client(f"litellm:{model}", **fields)

    return make


def test_messages_go_out_as_they_are(client_of, ask, server):
    server.plays(chat("Paris", usage={
        "prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }))  # fmt: skip
    reply = ask(client_of(), Request(MESSAGES))
    assert server.last.path == "/v1/chat/completions"
    assert server.last.headers["authorization"] == f"Bearer {KEY}"
    parts = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]
    assert server.last.body == {
        "model": "gpt-4o",
        "temperature": 0.0,
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": "Three."},
            {"role": "user", "content": "Four?"},
        ],
    }
    assert (reply.text, reply.finish, reply.model) == ("Paris", "stop", "answering-model")
    assert reply.usage == Usage(11, 7, 3, 2)


def test_anthropic_through_litellm(client_of, ask, server):
    usage = {
        "input_tokens": 11,
        "output_tokens": 7,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 1,
    }
    server.plays(anthropic_body({"type": "text", "text": "Paris"}, usage=usage))
    reply = ask(client_of("anthropic/claude-sonnet-4-5", root=""), Request(MESSAGES))
    assert server.last.path == "/v1/messages"
    assert KEY in (server.last.headers.get("x-api-key"), server.last.headers.get("authorization"))
    assert server.last.body["system"] == [{"type": "text", "text": "Be short."}]
    assert reply.usage == Usage(15, 7, 3, 0, 1)
    server.plays(anthropic_body({"type": "text", "text": "Pa"}, stop="max_tokens"))
    client = client_of("anthropic/claude-sonnet-4-5", root="")
    assert ask(client, Request(MESSAGES)).finish == "length"


def test_google_through_litellm(client_of, ask, server):
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "thoughtsTokenCount": 5}
    server.plays(google_body({"text": "Paris"}, usage={**usage, "totalTokenCount": 23}))
    reply = ask(client_of("gemini/gemini-2.5-flash", root=""), Request(MESSAGES))
    assert server.last.path.partition("?")[0] == "/models/gemini-2.5-flash:generateContent"
    assert (reply.text, reply.usage) == ("Paris", Usage(11, 12, 0, 5))


def test_a_model_without_temperature_gets_none(client_of, ask, question, server):
    ask(client_of("openai/o3-mini", temperature=0.0), question())
    assert "temperature" not in server.last.body


def test_limits_and_options_go_out(client_of, ask, question, server):
    client = client_of(max_tokens=20, temperature=None, options={"seed": 5})
    ask(client, question(temperature=0.25))
    body = server.last.body
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (20, 0.25, 5)


@pytest.mark.parametrize("expected", ["json_schema", "tool", "json"])
def test_the_best_way_to_a_form_that_the_server_takes(expected, client_of, ask, question, server):
    def way(request):
        if "response_format" in request.body:
            return "json_schema"
        return "tool" if "tools" in request.body else "json"

    ways = ["json_schema", "tool", "json"]
    refused = ways[: ways.index(expected)]
    tool = "answer" if expected == "tool" else None
    server.plays(
        lambda request: answer({}, 400) if way(request) in refused else chat(PASSED, tool=tool)
    )
    client = client_of()
    for requests in (len(refused) + 1, 1):
        server.requests.clear()
        reply = ask(client, question(schema=SCHEMA))
        assert (json.loads(reply.text), reply.output) == ({"verdict": "Pass"}, expected)
        assert len(server.requests) == requests


def test_a_form_that_litellm_knows_the_model_lacks_is_not_tried(client_of, ask, question, server):
    server.plays(chat(PASSED))
    reply = ask(client_of("openai/gpt-3.5-turbo-instruct"), question(schema=SCHEMA, output="auto"))
    assert reply.output in ("json_schema", "tool", "json")
    with pytest.raises(ClientError) as caught:
        ask(client_of("no-vendor-in-this-name"), question())
    assert caught.value.kind == "bad_request"


def test_a_reply_that_did_not_end_by_itself_says_so(client_of, ask, question, server):
    server.plays(chat("I ma", finish="length"))
    assert ask(client_of(), question()).finish == "length"
    server.plays(chat("", finish="content_filter"))
    assert ask(client_of(), question()).finish == "refused"
    server.plays(chat("", refusal="I may not"))
    reply = ask(client_of(), question())
    assert (reply.text, reply.finish) == ("I may not", "refused")


def test_where_a_key_comes_from(client_of, ask, question, server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ask(client_of(api_key="-"), question())
    assert server.last.headers["authorization"] == "Bearer -"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    ask(client_of(api_key="-"), question())
    assert server.last.headers["authorization"] == "Bearer sk-of-the-environment"


def test_no_key_at_all(ask, question, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ClientError) as caught:
        ask(load_client("litellm:openai/gpt-4o", retries=0), question())
    assert caught.value.kind == "authentication"


def test_who_sells_the_model_is_in_its_name():
    identity = load_client("litellm:anthropic/claude-sonnet-4-5").identity()
    assert (identity["platform"], identity["name"]) == ("anthropic", "claude-sonnet-4-5")
    assert identity["client"] == "LiteLLMClient"


def test_one_loop_after_the_other_without_a_warning(client_of, question, server, caplog):
    server.plays(chat("Paris"))
    client = client_of()

    async def ask_and_close():
        await asyncio.gather(*(client.aask("Where?") for _ in range(4)))

    for _ in range(3):
        asyncio.run(ask_and_close())
    assert caplog.text == ""


def test_where_the_environment_sends_it_is_part_of_who_answers(monkeypatch):
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", "http://localhost:1/v1")
    monkeypatch.setenv("OLLAMA_API_BASE", "http://localhost:2")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:3/v1")
    addresses = {
        name: load_client(f"litellm:{name}").identity()["base_url"]
        for name in ("hosted_vllm/m", "ollama_chat/m", "openai/m", "m", "anthropic/m")
    }
    assert [*addresses.values()] == [
        "http://localhost:1/v1",
        "http://localhost:2",
        "http://localhost:3/v1",
        "http://localhost:3/v1",
        None,
    ]


def test_nothing_is_imported_before_the_first_call_and_nothing_fetched_then(server):
    code = """
        import socket, sys
        reached = []
        connect = socket.socket.connect
        socket.socket.connect = lambda self, to: (reached.append(to), connect(self, to))[1]

        from llmeval_integrations.llm.loading import load_client
        client = load_client("litellm:openai/gpt-4o", base_url=sys.argv[1], api_key="sk-1", retries=0)
        client.identity()
        assert "litellm" not in sys.modules
        try:
            client.ask("Where?")
        except Exception as error:
            told = error.kind
        assert "litellm" in sys.modules
        print(told, {host for host, port in reached})
    """
    server.plays(answer({"error": {"message": "no"}}, 401))
    command = [sys.executable, "-c", textwrap.dedent(code), f"{server.url}/v1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["authentication {'127.0.0.1'}"]  # and it prints nothing
