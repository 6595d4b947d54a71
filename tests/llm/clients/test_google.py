"""What Google's client puts on the wire, and what it makes of what comes back."""

import json

import pytest
from server import answer
from vendors import ask_client, google_body, google_said

from llmeval_integrations.core.errors import ClientError, InvalidOptionError
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.llm.reply import Usage

genai = pytest.importorskip("google.genai")

KEY = "AIza-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["score"],
}
TALK = Request(
    (
        Message("system", ("Be fair.", "Be brief.")),
        Message("user", ("One.", "Two.")),
        Message("assistant", "3"),
        Message("user", "4"),
    )
)


@pytest.fixture(autouse=True)
def _no_key_in_the_environment(monkeypatch):
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def client_of(server):
    server.plays(google_said())

    def make(**options):
        fields = {"base_url": server.url, "api_key": KEY, "retries": 0}
        return load_client("google:gemini-3-flash", **{**fields, **options})

    return make


def test_the_body_of_a_plain_question(client_of, ask, server):
    ask(client_of(), TALK)
    assert server.last.path.endswith("/models/gemini-3-flash:generateContent")
    assert server.last.body.keys() == {"contents", "systemInstruction", "generationConfig"}
    assert server.last.body["contents"] == [
        {"role": "user", "parts": [{"text": "One."}, {"text": "Two."}]},
        {"role": "model", "parts": [{"text": "3"}]},
        {"role": "user", "parts": [{"text": "4"}]},
    ]
    assert server.last.body["systemInstruction"]["parts"] == [{"text": "Be fair.\n\nBe brief."}]
    assert server.last.body["generationConfig"] == {"temperature": 0.0}
    assert server.last.headers["x-goog-api-key"] == KEY


def test_a_prompt_without_a_user_is_said_by_the_user(client_of, ask, server):
    ask(client_of(), Request((Message("system", "Is it good?"),)))
    assert server.last.body["contents"] == [{"role": "user", "parts": [{"text": "Is it good?"}]}]
    assert "systemInstruction" not in server.last.body


def test_what_the_request_says_goes_before_what_the_client_says(client_of, ask, question, server):
    client = client_of(temperature=0.5, max_tokens=10)
    for wanted, sent in [
        (question(), {"temperature": 0.5, "maxOutputTokens": 10}),
        (
            question(temperature=0.0, max_tokens=20),
            {"temperature": 0.0, "maxOutputTokens": 20},
        ),
    ]:
        ask(client, wanted)
        assert server.last.body["generationConfig"] == sent


def test_a_form_is_asked_for_by_its_json_schema(client_of, ask, question, server):
    ask(client_of(), question(schema=SCHEMA))
    sent = server.last.body["generationConfig"]
    assert sent["responseMimeType"] == "application/json"
    assert sent["responseJsonSchema"] == SCHEMA


def test_a_forced_tool_call(client_of, ask, question, server):
    call = {"functionCall": {"name": "judgement", "args": {"é": [1, None]}}}
    server.plays(google_body(call))
    reply = ask(client_of(output="tool"), question(schema=SCHEMA, schema_name="judgement"))
    assert json.loads(reply.text) == {"é": [1, None]}
    [tool] = server.last.body["tools"]
    [function] = tool["functionDeclarations"]
    assert function.pop("name") == "judgement"
    assert [*function.values()] == [SCHEMA]
    assert server.last.body["toolConfig"]["functionCallingConfig"] == {
        "mode": "ANY",
        "allowedFunctionNames": ["judgement"],
    }


def test_options_are_those_of_the_vendors_configuration(client_of, ask, question, server):
    ask(client_of(options={"seed": 7, "top_k": 3}), question())
    sent = server.last.body["generationConfig"]
    assert (sent["seed"], sent["topK"]) == (7, 3)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refused"),
        ("RECITATION", "refused"),
        ("PROHIBITED_CONTENT", "refused"),
        ("SPII", "refused"),
        ("BLOCKLIST", "refused"),
        ("MALFORMED_FUNCTION_CALL", "failed"),
        ("OTHER", "other"),
        (None, "stop"),
    ],
)
def test_why_a_reply_ended(reason, finish, client_of, server):
    server.plays(google_body({"text": "I"}, finish=reason))
    reply = ask_client(client_of(), TALK)
    assert (reply.finish, reply.text) == (finish, "I")


def test_a_reply_that_was_taken_away_names_the_reason(client_of, ask, server):
    server.plays(answer({"candidates": [{"finishReason": "SAFETY"}]}))
    assert ask(client_of(), TALK).text == "SAFETY"
    server.plays(answer({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}))
    reply = ask(client_of(), TALK)
    assert (reply.finish, reply.text) == ("refused", "PROHIBITED_CONTENT")
    server.plays(answer({"candidates": [{"finishReason": "MAX_TOKENS"}]}))
    reply = ask(client_of(), TALK)
    assert (reply.finish, reply.text, reply.model) == ("length", "", "gemini-3-flash")


def test_thinking_is_no_part_of_the_text(client_of, ask, server):
    server.plays(google_body({"text": "Fail?", "thought": True}, {"text": "Pa"}, {"text": "ss"}))
    assert ask(client_of(), TALK).text == "Pass"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"promptTokenCount": 5, "candidatesTokenCount": 3}, Usage(5, 3)),
        (
            {
                "promptTokenCount": 11,
                "candidatesTokenCount": 7,
                "thoughtsTokenCount": 2,
                "cachedContentTokenCount": 4,
                "totalTokenCount": 20,
            },
            Usage(11, 9, 4, 2),
        ),
        ({"promptTokenCount": 11, "thoughtsTokenCount": 9}, Usage(11, 9, 0, 9)),
        ({"promptTokenCount": 11, "toolUsePromptTokenCount": 3}, Usage(14, 0)),
    ],
)
def test_thoughts_are_tokens_of_the_output(usage, expected, client_of, server):
    server.plays(google_body({"text": "I"}, usage=usage))
    assert ask_client(client_of(), TALK).usage == expected


def test_a_pause_that_is_asked_for_in_the_body(client_of, ask, question, server):
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "21.5s"},
    ]
    error = {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED", "details": details}
    server.plays(answer({"error": error}, 429))
    with pytest.raises(ClientError) as caught:
        ask(client_of(), question())
    assert (caught.value.kind, caught.value.retry_after) == ("rate_limited", 21.5)


def test_an_sdk_object_is_used_as_it_is(ask, question, server):
    server.plays(google_said())
    options = {"base_url": server.url, "headers": {"x-team": "eval"}, "api_version": "v1beta"}
    given = genai.Client(api_key=KEY, http_options=options)
    client = load_client(given, name="gemini-3-flash")
    for _ in range(2):
        ask(client, question())
    assert server.last.path == "/v1beta/models/gemini-3-flash:generateContent"
    assert server.last.headers["x-team"] == "eval"
    assert server.last.headers["x-goog-api-key"] == KEY
    assert KEY not in repr(client) + json.dumps(client.identity()) + str(client.config)
    assert client.identity()["base_url"].startswith(server.url)


def test_an_objects_own_retries_and_time_out_are_not_used(ask, question, server):
    server.plays(answer({"error": {"code": 503, "message": "busy"}}, 503))
    options = {"base_url": server.url, "timeout": 60_000, "retry_options": {"attempts": 4}}
    given = genai.Client(api_key=KEY, http_options=options)
    with pytest.raises(ClientError):
        ask(load_client(given, name="m", retries=0, timeout=2), question())
    assert len(server.requests) == 1
    assert server.last.headers["x-server-timeout"] == "2"


def test_an_object_that_is_no_client_is_a_bad_call():
    with pytest.raises(InvalidOptionError, match=r"expected google\.genai\.Client"):
        load_client(genai.types.Part(text="x"), name="m")


def test_headers_of_an_object_tell_models_apart_and_those_of_the_package_do_not():
    identities = [
        load_client(genai.Client(api_key=KEY, http_options=options), name="m").identity()
        for options in (None, {"headers": {"x-route": "a"}}, {"headers": {"x-route": "b"}})
    ]
    assert all(identities.count(each) == 1 for each in identities)
    assert "default_headers" not in identities[0]
    assert identities[1]["default_headers"].keys() == {"x-route"}


def test_a_key_in_an_objects_header_is_not_quoted(question, server):
    server.plays(answer({"error": {"code": 401, "message": "hdr-SECRET is wrong"}}, 401))
    options = {"base_url": server.url, "headers": {"x-api-key": "hdr-SECRET"}}
    client = load_client(genai.Client(api_key=KEY, http_options=options), name="m")
    with pytest.raises(ClientError) as caught:
        ask_client(client, question())
    assert "SECRET" not in str(caught.value) + json.dumps(client.identity())


@pytest.mark.parametrize(
    ("milliseconds", "seconds"), [(None, 300), (120_000, 120), (10**9, 86_400)]
)
def test_a_time_out_of_the_callers_choice_is_kept(milliseconds, seconds):
    given = genai.Client(api_key=KEY, http_options={"timeout": milliseconds})
    assert load_client(given, name="m").config.timeout == seconds
    assert load_client(given, name="m", timeout=7).config.timeout == 7
