"""LangChain's chat models as clients: through langchain-openai over HTTP, and its own fake ones."""

import json
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable

import pytest
from server import answer, chat
from vendors import ask_client

from llmeval_integrations import evaluate
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.judges.pass_fail import PassFail
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.llm.reply import Usage

pytest.importorskip("langchain_core")
pytest.importorskip("pydantic")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel, FakeListChatModel, FakeListLLM
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from pydantic import Field

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["Pass", "Fail"]}},
    "required": ["verdict"],
}
PASSED = '{"verdict": "Pass"}'
KEY = "sk-0123456789"


@pytest.fixture
def model_of(server):
    openai = pytest.importorskip("langchain_openai")

    def make(**settings):
        fields = {"base_url": f"{server.url}/v1", "api_key": KEY, "max_retries": 0, **settings}
        return openai.ChatOpenAI(model="gpt-4o", **fields)

    return make


def replies(*messages):
    return load_client(GenericFakeChatModel(messages=iter(messages)))


def test_roles_and_parts_become_langchains_messages(model_of, ask, server):
    server.plays(chat("Paris", usage={
        "prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }))  # fmt: skip
    messages = (
        Message("system", "Be short."),
        Message("user", ("One.", "Two.")),
        Message("assistant", "Three."),
        Message("user", "Four?"),
    )
    reply = ask(load_client(model_of()), Request(messages))
    assert server.last.path == "/v1/chat/completions"
    assert server.last.headers["authorization"] == f"Bearer {KEY}"
    parts = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]
    assert server.last.body["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": "Three."},
        {"role": "user", "content": "Four?"},
    ]
    assert (reply.text, reply.finish, reply.model) == ("Paris", "stop", "answering-model")
    assert reply.usage == Usage(11, 7, 3, 2)


def test_a_model_stays_as_its_owner_has_set_it(model_of, ask, question, server):
    ask(load_client(model_of()), question())
    assert not server.last.body.keys() & {"temperature", "max_tokens", "max_completion_tokens"}
    ask(load_client(model_of(temperature=0.3)), question())
    assert server.last.body["temperature"] == 0.3


def test_a_request_or_an_option_sets_a_copy(model_of, ask, question, server):
    model = model_of(temperature=0.3)
    ask(load_client(model, max_tokens=20), question(temperature=0.0))
    assert server.last.body["temperature"] == 0.0
    assert server.last.body["max_completion_tokens"] == 20
    assert (model.temperature, model.max_tokens) == (0.3, None)


def test_a_setting_that_the_model_lacks(ask, question):
    model = FakeListChatModel(responses=["Paris"])
    assert ask(load_client(model), question(temperature=0.0)).text == "Paris"
    with pytest.raises(InvalidOptionError, match="max_tokens=5: FakeListChatModel"):
        ask(load_client(model), question(max_tokens=5))
    with pytest.raises(InvalidOptionError, match="max_tokens=5: FakeListChatModel"):
        load_client(model, max_tokens=5)


def test_a_temperature_that_the_server_refuses_is_left_out(model_of, ask, question, server):
    def play(request):
        if request.body.get("temperature") is None:
            return chat()
        refusal = {"message": "no", "code": "unsupported_value", "param": "temperature"}
        return answer({"error": refusal}, 400)

    server.plays(play)
    client = load_client(model_of(), temperature=0.5)
    assert ask(client, question()).text == "Paris"
    assert ask(client, question()).text == "Paris"
    assert len(server.requests) == 3


@pytest.mark.parametrize("expected", ["json_schema", "tool", "json"])
def test_the_best_way_to_a_form_that_the_server_takes(expected, model_of, ask, question, server):
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
    client = load_client(model_of())
    for expected_requests in (len(refused) + 1, 1):
        server.requests.clear()
        reply = ask(client, question(schema=SCHEMA))
        assert (json.loads(reply.text), reply.output) == ({"verdict": "Pass"}, expected)
        assert len(server.requests) == expected_requests


def test_a_schema_goes_out_closed_and_strict(model_of, ask, question, server):
    server.plays(chat(PASSED))
    ask(load_client(model_of()), question(schema=SCHEMA, schema_name="judgement"))
    form = server.last.body["response_format"]["json_schema"]
    assert (form["name"], form["strict"]) == ("judgement", True)
    assert form["schema"] == {**SCHEMA, "additionalProperties": False}


def test_a_schema_that_cannot_be_strict_goes_out_as_it_is(model_of, ask, question, server):
    free = {"type": "object", "properties": {"a": {"type": "object"}}, "title": "Free"}
    server.plays(chat("{}"))
    ask(load_client(model_of()), question(schema=free))
    form = server.last.body["response_format"]["json_schema"]
    assert (form["name"], form["strict"]) == ("answer", False)
    assert form["schema"] == {"type": "object", "properties": {"a": {"type": "object"}}}


def test_a_reply_cut_under_a_schema_is_a_reply(model_of, ask, question, server):
    server.plays(chat('{"verd', finish="length"))
    reply = ask(load_client(model_of()), question(schema=SCHEMA))
    assert (reply.text, reply.finish, reply.output) == ('{"verd', "length", "json_schema")
    assert reply.usage == Usage(11, 7)


def test_a_refusal(model_of, ask, question, server):
    server.plays(chat("", refusal="I may not"))
    reply = ask(load_client(model_of()), question(schema=SCHEMA))
    assert (reply.text, reply.finish) == ("I may not", "refused")


def test_openais_responses(model_of, ask, question, server):
    def play(status, *parts):
        message = {"id": "m1", "type": "message", "role": "assistant", "status": status}
        usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
        reason = None if status == "completed" else {"reason": "max_output_tokens"}
        return answer({
            "id": "resp_1", "object": "response", "created_at": 1, "model": "answering-model",
            "status": status, "incomplete_details": reason, "error": None, "usage": usage,
            "output": [{**message, "content": list(parts)}], "tools": [], "tool_choice": "auto",
            "parallel_tool_calls": True,
        })  # fmt: skip

    text = {"type": "output_text", "text": PASSED, "annotations": []}
    client = load_client(model_of(use_responses_api=True))
    server.plays(play("completed", text))
    reply = ask(client, question(schema=SCHEMA))
    assert (reply.text, reply.finish, reply.output) == (PASSED, "stop", "json_schema")
    assert server.last.path == "/v1/responses"
    assert server.last.body["text"]["format"]["schema"]["required"] == ["verdict"]
    server.plays(play("incomplete", {**text, "text": '{"ver'}))
    assert ask(client, question()).finish == "length"
    server.plays(play("completed", {"type": "refusal", "refusal": "I may not"}))
    reply = ask(client, question())
    assert (reply.text, reply.finish) == ("I may not", "refused")


@pytest.mark.parametrize(
    ("metadata", "finish"),
    [
        ({}, "stop"),
        ({"finish_reason": "stop"}, "stop"),
        ({"finish_reason": "length"}, "length"),
        ({"finish_reason": "tool_calls"}, "stop"),
        ({"finish_reason": "content_filter"}, "refused"),
        ({"stop_reason": "end_turn"}, "stop"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stop_reason": "refusal"}, "refused"),
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"finish_reason": "SAFETY"}, "refused"),
        ({"done_reason": "length"}, "length"),
        ({"stopReason": "guardrail_intervened"}, "refused"),
        ({"finish_reason": "MALFORMED_FUNCTION_CALL"}, "failed"),
        ({"finish_reason": "something_new"}, "other"),
    ],
)
def test_why_a_reply_ended_in_the_words_of_every_vendor(metadata, finish, question):
    client = replies(AIMessage("Paris", response_metadata={**metadata, "model_name": "m"}))
    reply = ask_client(client, question())
    assert (reply.finish, reply.model) == (finish, "m")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Paris", "Paris"),
        ([{"type": "text", "text": "Pa"}, {"type": "text", "text": "ris"}], "Paris"),
        ([{"type": "thinking", "thinking": "Rome?"}, {"type": "text", "text": "Paris"}], "Paris"),
        ([{"type": "reasoning", "summary": []}, {"type": "text", "text": "Paris"}], "Paris"),
        ([], ""),
    ],
)
def test_a_content_of_blocks_is_its_text_without_the_thinking(content, text, question):
    assert ask_client(replies(AIMessage(content)), question()).text == text


@pytest.mark.parametrize(
    ("fields", "usage"),
    [
        ({}, Usage()),
        (
            {"usage_metadata": {
                "input_tokens": 15, "output_tokens": 9, "total_tokens": 24,
                "input_token_details": {"cache_read": 4, "cache_creation": 1},
                "output_token_details": {"reasoning": 2},
            }},
            Usage(15, 9, 4, 2, 1),
        ),
        (
            {"response_metadata": {"token_usage": {"prompt_tokens": 3, "completion_tokens": 2}}},
            Usage(3, 2),
        ),
    ],
)  # fmt: skip
def test_tokens_are_counted_the_same_way_for_all(fields, usage, question):
    assert ask_client(replies(AIMessage("Paris", **fields)), question()).usage == usage


def test_a_model_without_any_form_is_asked_in_words(ask, question):
    client = load_client(FakeListChatModel(responses=[PASSED]))
    reply = ask(client, question(schema=SCHEMA))
    assert (reply.text, reply.output) == (PASSED, "json")
    assert (client.config.name, client.config.platform) == ("FakeListChatModel", "langchain_core")


class Calling(BaseChatModel):
    """Calls functions, and knows LangChain's own way to a form only."""

    arguments: str = PASSED
    seen: list = Field(default_factory=list)

    @property
    def _llm_type(self):
        return "calling"

    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages, *_, **kwargs):
        self.seen.append([messages, kwargs])
        call = {"name": "answer", "args": self.arguments, "id": "1", "error": None}
        try:
            call = {"name": "answer", "args": json.loads(self.arguments), "id": "1"}
            message = AIMessage("", tool_calls=[call])
        except ValueError:
            message = AIMessage("", invalid_tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


def test_the_way_that_is_recorded_is_the_one_that_was_gone(ask, question):
    model = Calling()
    reply = ask(load_client(model), question(schema=SCHEMA))
    assert (json.loads(reply.text), reply.output) == ({"verdict": "Pass"}, "tool")
    assert model.seen[0][1]["tool_choice"] == "any"


def test_a_call_in_place_of_a_schema_is_recorded_as_one(model_of, ask, question, server):
    server.plays(chat(PASSED, tool="answer"))
    reply = ask(load_client(model_of()), question(schema=SCHEMA, output="json_schema"))
    assert (json.loads(reply.text), reply.output) == ({"verdict": "Pass"}, "tool")


def test_arguments_of_a_call_that_are_no_json_are_given_as_they_are(ask, question):
    reply = ask(load_client(Calling(arguments='{"verdict": "Pa')), question(schema=SCHEMA))
    assert (reply.text, reply.output) == ('{"verdict": "Pa', "tool")


def test_a_prompt_of_the_system_alone_is_said_by_the_user(ask):
    model = Calling()
    ask(load_client(model), Request((Message("system", "Be."), Message("system", "Say."))))
    assert [message.type for message in model.seen[0][0]] == ["system", "human"]


def test_a_model_that_completes_text(ask, question):
    assert ask(load_client(FakeListLLM(responses=["Paris"])), question()).text == "Paris"


class Heard(BaseCallbackHandler):
    def __init__(self):
        self.starts = []

    def on_chat_model_start(self, *_, tags=None, metadata=None, **__):
        self.starts.append((tags, (metadata or {}).get("run")))


def test_what_is_bound_to_a_model_stays_bound(model_of, ask, question, server):
    server.plays(chat(PASSED))
    bound = model_of().bind(stop=["END"]).with_config(tags=["t"])
    client = load_client(bound, temperature=0.25)
    ask(client, question(schema=SCHEMA))
    body = server.last.body
    assert (body["stop"], body["temperature"]) == (["END"], 0.25)
    assert "response_format" in body
    assert client.identity() != load_client(model_of(), temperature=0.25).identity()


def test_options_are_further_arguments_of_the_call(model_of, ask, question, server):
    ask(load_client(model_of(), options={"seed": 5}), question())
    assert server.last.body["seed"] == 5


def test_who_sells_the_model_and_where_it_is(model_of, server):
    config = load_client(model_of()).config
    assert (config.name, config.platform) == ("gpt-4o", "openai")
    assert config.base_url == f"{server.url}/v1"


def test_the_identity_is_that_of_the_settings_and_holds_no_key(model_of):
    first, same = load_client(model_of()), load_client(model_of(api_key="sk-another-key"))
    assert first.identity() == same.identity()
    assert first.identity() != load_client(model_of(top_p=0.5)).identity()
    assert KEY not in json.dumps(first.identity())


def test_the_identity_is_the_same_in_another_process():
    code = textwrap.dedent("""
        from langchain_core.language_models import FakeListChatModel
        from llmeval_integrations.llm.loading import load_client
        print(load_client(FakeListChatModel(responses=["Paris"])).identity()["model"])
    """)
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = load_client(FakeListChatModel(responses=["Paris"])).identity()["model"]
    assert told.stdout.strip() == here


def test_where_the_environment_sends_a_model_is_part_of_who_answers(
    model_of, ask, question, server, monkeypatch
):
    configured = load_client(model_of())
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    found = load_client(model_of(base_url=None))
    ask(found, question())
    assert len(server.requests) == 1
    assert found.identity()["base_url"] == configured.identity()["base_url"]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9/v1")
    assert load_client(model_of(base_url=None)).identity() != found.identity()


class Logged(BaseChatModel):
    """Asks another model, and says what it asks."""

    inner: BaseChatModel
    said: Callable = str
    pipeline: object = None

    @property
    def _llm_type(self):
        return "logged"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return self.inner._generate(messages, stop, run_manager, **kwargs)


def identity_of(**fields):
    fields = {"inner": FakeListChatModel(responses=["Paris"]), **fields}
    return load_client(Logged(**fields)).identity()


def test_a_model_around_a_model_is_told_by_both(model_of, monkeypatch):
    assert identity_of() == identity_of()
    others = [
        {"inner": model_of()},
        {"inner": model_of(temperature=0.5)},
        {"inner": model_of(base_url="http://localhost:9/v1")},
        {"inner": FakeListChatModel(responses=["Rome"])},
        {"inner": GenericFakeChatModel(messages=iter([]))},
    ]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8/v1")
    others.append({"inner": model_of(base_url=None)})
    told = [identity_of(**fields)["model"] for fields in ({}, *others)]
    assert len({*told}) == len(told)
    keys = [identity_of(inner=model_of(api_key=key)) for key in (KEY, "sk-another-key")]
    assert keys[0] == keys[1]


def test_no_reply_of_another_inner_model_is_taken_from_the_cache(model_of, server, tmp_path):
    labels = []
    for verdict, path in (("Pass", "/v1"), ("Fail", "/v2")):
        text = json.dumps({"reasoning": "r", "verdict": verdict, "confidence": "High"})
        server.plays(chat(text))
        judge = PassFail(Logged(inner=model_of(base_url=server.url + path)), "Is it right?")
        run = evaluate([{"output": "a"}], [judge], cache=tmp_path / "replies.sqlite")
        labels.append((run.rows[0].label, run.rows[0].metadata["judge"]["cached"]))
    assert labels == [("Pass", 0), ("Fail", 0)]


def test_a_client_travels_with_its_model(question):
    client = pickle.loads(pickle.dumps(load_client(FakeListChatModel(responses=["Paris"]))))  # noqa: S301 - our own
    assert ask_client(client, question()).text == "Paris"


@pytest.mark.parametrize("option", ["name", "platform", "base_url", "api_key"])
def test_what_the_model_has_settled_is_no_option(option):
    with pytest.raises(InvalidOptionError, match=f"{option}: the FakeListChatModel object has"):
        load_client(FakeListChatModel(responses=[]), **{option: "x"})


def test_something_else_of_langchains_is_no_client():
    with pytest.raises(InvalidOptionError, match="expected a chat model of LangChain"):
        load_client(ChatPromptTemplate.from_messages([("user", "{a}")]))
