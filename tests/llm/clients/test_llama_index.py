"""LlamaIndex's LLMs as clients: through its OpenAI package over HTTP, and its own mock."""

import asyncio
import json

import pytest
from server import answer, chat
from vendors import ask_client

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.llm.reply import Usage

pytest.importorskip("llama_index.core")
pytest.importorskip("pydantic")

from llama_index.core import Document
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms import CompletionResponse, CustomLLM, MockLLM

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["Pass", "Fail"]}},
    "required": ["verdict"],
}
CLOSED = {**SCHEMA, "additionalProperties": False}
PASSED = '{"verdict": "Pass"}'
KEY = "sk-0123456789"


@pytest.fixture
def model_of(server):
    library = pytest.importorskip("llama_index.llms.openai_like")

    def make(**settings):
        fields = {"api_base": f"{server.url}/v1", "api_key": KEY, "max_retries": 0, **settings}
        return library.OpenAILike(model="gpt-4o", **{"is_chat_model": True, **fields})

    return make


@pytest.fixture
def ask_for_schema(model_of, ask, question):
    def make(**settings):
        client = load_client(model_of(**settings))
        return lambda: ask(client, question(schema=SCHEMA))

    return make


class Scripted(CustomLLM):
    """Answers what it is given, as an integration would."""

    response: ChatResponse

    @property
    def metadata(self):
        return LLMMetadata(model_name="scripted", is_chat_model=True)

    def chat(self, *_, **__):
        return self.response

    async def achat(self, *_, **__):
        return self.response

    def complete(self, *_, **__):
        raise AssertionError

    stream_complete = complete


def scripted(text="Paris", **fields):
    message = ChatMessage(role="assistant", content=text)
    return load_client(Scripted(response=ChatResponse(message=message, **fields)))


def test_roles_and_parts_become_llama_indexs_messages(model_of, ask, server):
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
    assert server.last.body["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "One.\n\nTwo."},
        {"role": "assistant", "content": "Three."},
        {"role": "user", "content": "Four?"},
    ]
    assert (reply.text, reply.finish, reply.model) == ("Paris", "stop", "answering-model")
    assert reply.usage == Usage(11, 7, 3, 2)


def test_a_model_that_completes_text_is_asked_by_a_prompt(model_of, ask, question, server):
    choice = {"index": 0, "text": PASSED, "finish_reason": "length", "logprobs": None}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    body = {"id": "c1", "object": "text_completion", "created": 1, "model": "m", "usage": usage}
    server.plays(answer({**body, "choices": [choice]}))
    client = load_client(model_of(is_chat_model=False))
    reply = ask(client, question("Where?", schema=SCHEMA))
    assert server.last.path == "/v1/completions"
    assert server.last.body["prompt"].startswith("user: Where?")
    assert "JSON Schema" in server.last.body["prompt"]
    assert (reply.text, reply.finish, reply.output) == (PASSED, "length", "json")
    assert (reply.usage, reply.model) == (Usage(11, 7), "m")


def test_a_request_or_an_option_sets_a_copy(model_of, ask, question, server):
    model = model_of(temperature=0.3)
    ask(load_client(model), question())
    assert server.last.body["temperature"] == 0.3
    assert "max_tokens" not in server.last.body
    ask(load_client(model, max_tokens=20), question(temperature=0.0))
    assert (server.last.body["temperature"], server.last.body["max_tokens"]) == (0.0, 20)
    assert (model.temperature, model.max_tokens) == (0.3, None)


@pytest.mark.parametrize(
    ("refused", "calls_functions", "expected"),
    [
        ([], True, "json_schema"),
        (["json_schema"], True, "tool"),
        (["json_schema"], False, "json"),
        (["json_schema", "tool"], True, "json"),
    ],
)
def test_the_best_way_to_a_form(refused, calls_functions, expected, ask_for_schema, server):
    def way(request):
        if "response_format" in request.body:
            return "json_schema"
        return "tool" if "tools" in request.body else "json"

    tool = "answer" if expected == "tool" else None
    server.plays(
        lambda request: answer({}, 400) if way(request) in refused else chat(PASSED, tool=tool)
    )
    ask_for_schema = ask_for_schema(is_function_calling_model=calls_functions)
    for _ in range(2):
        server.requests.clear()
        reply = ask_for_schema()
        assert (json.loads(reply.text), reply.output) == ({"verdict": "Pass"}, expected)
        assert reply.usage == Usage(11, 7)
    assert [way(request) for request in server.requests] == [expected]


def test_the_schema_as_it_goes_out(model_of, ask, question, server):
    client = load_client(model_of(is_function_calling_model=True))
    server.plays(chat(PASSED))
    ask(client, question(schema=SCHEMA))
    form = {"name": "answer", "schema": CLOSED, "strict": True}
    assert server.last.body["response_format"] == {"type": "json_schema", "json_schema": form}
    server.plays(chat(PASSED, tool="answer"))
    ask(client, question(schema=SCHEMA, output="tool"))
    [tool] = server.last.body["tools"]
    assert (tool["function"]["name"], tool["function"]["parameters"]) == ("answer", CLOSED)
    assert server.last.body["tool_choice"] == "required"


def test_arguments_of_a_call_that_are_no_json_are_given_as_they_are(
    model_of, ask, question, server
):
    server.plays(chat('{"verdict": "Pa', tool="answer", finish="tool_calls"))
    client = load_client(model_of(is_function_calling_model=True))
    reply = ask(client, question(schema=SCHEMA, output="tool"))
    assert (reply.text, reply.finish) == ('{"verdict": "Pa', "stop")


def test_a_reply_that_did_not_end_by_itself_says_so(model_of, ask, question, server):
    client = load_client(model_of())
    server.plays(chat('{"verd', finish="length"))
    reply = ask(client, question(schema=SCHEMA))
    assert (reply.text, reply.finish) == ('{"verd', "length")
    server.plays(chat("", refusal="I may not"))
    reply = ask(client, question())
    assert (reply.text, reply.finish) == ("I may not", "refused")


@pytest.mark.parametrize(
    ("raw", "additional", "expected"),
    [
        (None, {}, ("stop", Usage(), "scripted")),
        (None, {"prompt_tokens": 3, "completion_tokens": 2}, ("stop", Usage(3, 2), "scripted")),
        (
            {"stop_reason": "max_tokens", "model": "claude", "usage": {
                "input_tokens": 11, "output_tokens": 7,
                "cache_read_input_tokens": 3, "cache_creation_input_tokens": 1,
            }},
            {},
            ("length", Usage(15, 7, 3, 0, 1), "claude"),
        ),
        (
            {"done_reason": "length", "model": "llama", "prompt_eval_count": 4, "eval_count": 5},
            {},
            ("length", Usage(4, 5), "llama"),
        ),
        (
            {"finish_reason": "SAFETY", "model_version": "gemini", "usage_metadata": {
                "prompt_token_count": 11, "candidates_token_count": 7,
                "thoughts_token_count": 5, "cached_content_token_count": 3,
            }},
            {},
            ("refused", Usage(11, 12, 3, 5), "gemini"),
        ),
    ],
)  # fmt: skip
def test_what_integrations_tell_in_their_own_words(raw, additional, expected, ask, question):
    reply = ask(scripted(raw=raw, additional_kwargs=additional), question())
    assert (reply.finish, reply.usage, reply.model) == expected
    assert reply.text == "Paris"


def test_a_reply_without_a_word_is_an_empty_text(question):
    assert ask_client(scripted(None), question()).text == ""


def test_the_mock_works(ask, question):
    reply = ask(load_client(MockLLM(max_tokens=3)), question(schema=SCHEMA))
    assert (reply.text, reply.output, reply.model) == ("text text text", "json", "MockLLM")
    assert ask(load_client(MockLLM(), max_tokens=2), question()).text == "text text"


def test_awaited_calls_run_side_by_side(question):
    class Waiting(Scripted):
        async def achat(self, *_, **__):
            under_way.append(1)
            if len(under_way) == 50:
                all_there.set()
            await all_there.wait()
            return self.response

    under_way, all_there = [], None

    async def many():
        nonlocal all_there
        all_there = asyncio.Event()
        response = ChatResponse(message=ChatMessage(role="assistant", content="Paris"))
        client = load_client(Waiting(response=response))
        return await asyncio.gather(*(client.aask("Where?") for _ in range(50)))

    assert {*asyncio.run(many())} == {"Paris"}


def test_options_are_further_arguments_of_the_call(model_of, ask, question, server):
    ask(load_client(model_of(), options={"seed": 5}), question())
    assert server.last.body["seed"] == 5


def test_a_model_that_only_completes_by_the_callers_own_code(ask, question):
    class Own(CustomLLM):
        @property
        def metadata(self):
            return LLMMetadata(model_name="own")

        def complete(self, prompt, **_):
            return CompletionResponse(text=prompt)

        stream_complete = complete

    reply = ask(load_client(Own()), question("Where?"))
    assert "Where?" in reply.text
    assert reply.model == "own"


def test_who_the_model_is(model_of, server):
    client = load_client(model_of())
    assert (client.config.name, client.config.platform) == ("gpt-4o", "openai")
    assert client.config.base_url == f"{server.url}/v1"
    assert client.identity() == load_client(model_of()).identity()
    assert client.identity() != load_client(model_of(temperature=0.9)).identity()
    assert KEY not in json.dumps(client.identity())


def test_something_else_of_llama_indexs_is_no_client():
    with pytest.raises(InvalidOptionError, match="expected an LLM of LlamaIndex"):
        load_client(Document(text="x"))
    with pytest.raises(InvalidOptionError, match="api_key: the MockLLM object has that already"):
        load_client(MockLLM(), api_key=KEY)
