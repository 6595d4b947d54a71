"""A request with its texts and images, and what each client puts on the wire."""

import inspect
import json

import pytest
from remote_model import question
from server import answer, chat
from vendors import BY_NAME, PASSED, SCHEMA, SDKS, VERDICT, ask_client

from llmeval_integrations import evaluate
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.judges import PassFail, Questionnaire, Vote, ask
from llmeval_integrations.llm.messages import Message, Request

CLOSED = {**SCHEMA, "additionalProperties": False}
NOTES = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/note"}, {"type": "null"}]}}
NESTED = {"type": "object", "properties": {"notes": NOTES}, "$defs": {"note": SCHEMA}}
ALL_CLOSED = {"$defs": {"note": CLOSED}, "required": ["notes"], "additionalProperties": False}
NOT_STRICT = [
    {},
    {"oneOf": [{"type": "string"}]},
    {"type": "string", "minLength": 1},
    {"type": "array"},
]


def having(member):
    return {"type": "object", "properties": {"a": member}, "required": ["a"]}


FREE = {"type": "object", "properties": {"a": {"type": "object"}}}


def parts(texts):
    return [{"type": "text", "text": text} for text in texts]


def talk(role="system", join=parts):
    return [
        {"role": role, "content": join(["Be fair.", "Be brief."])},
        {"role": "user", "content": join(["One.", "Two."])},
        {"role": "assistant", "content": "3"},
        {"role": "user", "content": r"4\ud83d"},
    ]


TALK = Request.of([*talk()[:3], {"role": "user", "content": "4\ud83d"}])  # half an emoji
BODIES = {
    "openai": {"model": "gpt-4o", "messages": talk(), "temperature": 0.0},
    "anthropic": {
        "model": "claude-sonnet-5", "max_tokens": 4096, "messages": talk()[1:],
        "system": "Be fair.\n\nBe brief.",
    },
    "google": {
        "contents": [
            {"role": "user", "parts": [{"text": "One."}, {"text": "Two."}]},
            {"role": "model", "parts": [{"text": "3"}]},
            {"role": "user", "parts": [{"text": r"4\ud83d"}]},
        ],
        "systemInstruction": {"parts": [{"text": "Be fair.\n\nBe brief."}], "role": "user"},
        "generationConfig": {"temperature": 0.0},
    },
    "litellm": {"model": "gpt-4o", "messages": talk(), "temperature": 0.0},
    "langchain": {"model": "gpt-4o", "messages": talk()},
    "llama_index": {"model": "gpt-4o", "messages": talk(join="\n\n".join)},
}  # fmt: skip


def has_temperature(case):
    if case.vendor.name != "anthropic":
        return True
    package = pytest.importorskip("anthropic")
    return "temperature" in inspect.signature(package.resources.Messages.create).parameters


def test_roles_and_parts(case):
    ask_client(case.client(), TALK)
    body = case.server.last.body
    if case.vendor.name == "anthropic" and has_temperature(case):
        assert body.pop("temperature") == 0.0
    if case.vendor.name in ("langchain", "llama_index"):  # which have settings of their own
        body = {name: body[name] for name in ("model", "messages")}
    assert body == BODIES[case.vendor.name]
    assert case.server.last.path.endswith(case.vendor.path)


def test_a_prompt_without_a_user_is_said_by_the_user(case):
    if case.vendor.name in ("openai", "litellm"):
        # So the client sends the system message as it is; the other APIs refuse it.
        pytest.skip("its API accepts a conversation of system messages")
    ask_client(case.client(), Request((Message("system", "Is it good?"),)))
    body = case.server.last.body
    [said] = body.get("messages") or body["contents"]
    assert said["role"] == "user"
    assert not body.keys() & {"system", "systemInstruction"}


def test_a_setting_goes_out_from_the_request_the_client_or_the_vendors_options(case):
    option = {"service_tier": "auto"} if case.vendor.name == "anthropic" else {"seed": 3}
    client = case.client(temperature=0.5, max_tokens=10, options=option)
    wanted = question(temperature=0.25, max_tokens=20)
    for request, temperature, limit in ((question(), 0.5, 10), (wanted, 0.25, 20)):
        ask_client(client, request)
        body = case.server.last.body.get("generationConfig", case.server.last.body)
        assert [body[name] for name in body if name.lower().startswith("max")] == [limit]
        assert option.items() <= body.items()
        if has_temperature(case):
            assert body["temperature"] == temperature
    if case.vendor in SDKS:
        with pytest.raises(InvalidOptionError, match="no_such_option"):
            case.client(options={"no_such_option": 1})


@pytest.mark.parametrize(("refusals", "expected"), [(0, "json_schema"), (1, "tool"), (2, "json")])
def test_the_best_form_that_the_server_takes(refusals, expected, case):
    refused = ["json_schema", "tool"][:refusals]
    expected = "json" if expected == "tool" and not case.vendor.calls_tools else expected
    said = case.vendor.called if expected == "tool" else case.vendor.said

    def play(request):
        is_refused = case.vendor.way(request.body) in refused
        return answer({"error": {"message": "no"}}, 400) if is_refused else said(PASSED)

    case.server.plays(play)
    client = case.client()
    for _ in range(2):
        reply = ask_client(client, question(schema=SCHEMA))
        assert (json.loads(reply.text), reply.output) == ({"verdict": "Pass"}, expected)
        first, case.server.requests = len(case.server.requests), []
    assert first == 1  # what the server has refused is not tried again


@pytest.mark.parametrize("form", ["json_schema", "tool", "json", "text"])
def test_a_form_that_is_asked_for_is_the_only_one(form, case):
    if form == "tool" and not case.vendor.calls_tools:
        assert case.error(case.client(output=form), question(schema=SCHEMA)).kind == "bad_request"
        return
    client, wanted = case.client(output=form), question(schema=SCHEMA)
    play = case.vendor.called if form == "tool" else case.vendor.said
    case.server.plays(play(PASSED))
    assert ask_client(client, wanted).output == form
    assert case.vendor.way(case.server.last.body) == ("json" if form == "text" else form)
    assert ("verdict" in json.dumps(case.server.last.body)) == (form != "text")
    case.server.plays(answer({"error": {"message": "no"}}, 400))
    case.error(client, wanted)
    ways = {case.vendor.way(request.body) for request in case.server.requests}
    assert ways == {"json" if form == "text" else form}


@pytest.mark.parametrize(
    ("schema", "sent", "is_strict"),
    [
        (SCHEMA, CLOSED, True),
        (NESTED, {**NESTED, **ALL_CLOSED}, True),
        (FREE, FREE, False),
        *((own, own, False) for own in map(having, NOT_STRICT)),
    ],
    ids=["flat", "nested", "free", *map(str, NOT_STRICT)],
)
def test_a_schema_goes_out_strictly_where_it_can(schema, sent, is_strict, case):
    if case.vendor.form != "response_format":
        pytest.skip("OpenAI's form alone is strict")
    case.server.plays(case.vendor.said(PASSED))
    ask_client(case.client(), question(schema=schema, schema_name="judgement"))
    form = case.server.last.body["response_format"]["json_schema"]
    assert (form["name"], form["schema"], form["strict"]) == ("judgement", sent, is_strict)


def test_the_other_vendors_forms(server):
    pytest.importorskip("anthropic")
    pytest.importorskip("google.genai")
    wanted = question(schema=SCHEMA, schema_name="judgement")

    def body(vendor, **options):
        server.plays(BY_NAME[vendor].said(PASSED))
        ask_client(BY_NAME[vendor].load(server.url, **options), wanted)
        return server.last.body

    config = body("anthropic", options={"output_config": {"effort": "low"}})["output_config"]
    assert config["effort"] == "low"
    assert config["format"]["schema"]["additionalProperties"] is False
    tool = body("anthropic", output="tool")
    choice = {"type": "tool", "name": "judgement", "disable_parallel_tool_use": True}
    assert tool["tools"] == [{"name": "judgement", "input_schema": SCHEMA}]
    assert tool["tool_choice"] == choice
    config = body("google")["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"] == SCHEMA
    calling = body("google", output="tool")["toolConfig"]["functionCallingConfig"]
    assert calling == {"mode": "ANY", "allowedFunctionNames": ["judgement"]}


REASONING = "developer", {"max_completion_tokens": 9}
OTHER = "system", {"max_tokens": 9, "temperature": 0.0}


@pytest.mark.parametrize(
    ("platform", "names", "role", "settings"),
    [
        ("openai", "o1 o4-mini-2025-04-16 gpt-5 gpt-5.1 gpt-10", *REASONING),
        ("openai", "openai/gpt-5-nano ft:o4-mini:acme::1", *REASONING),
        ("openai", "gpt-4o gpt-4.1 gpt-5-chat-latest gpt-oss-120b omni mistral/o-3", *OTHER),
        ("ollama", "o1 gpt-5", *OTHER),
    ],
)
def test_reasoning_models_are_known_by_name(platform, names, role, settings, server):
    pytest.importorskip("openai")
    for name in names.split():
        client = BY_NAME["openai"].load(server.url, name=name, platform=platform, max_tokens=9)
        ask_client(client, TALK)
        assert server.last.body == {"model": name, "messages": talk(role), **settings}


def test_a_parameter_that_the_server_refuses_is_left_out_from_then_on(server):
    pytest.importorskip("openai")

    def play(request):
        for name in ("temperature", "max_tokens"):
            if name in request.body:
                error = {"message": "no", "param": name, "code": "unsupported_parameter"}
                return answer({"error": error}, 400)
        return chat()

    server.plays(play)
    client = BY_NAME["openai"].load(server.url, max_tokens=9)
    ask_client(client, question())
    ask_client(client, question())
    assert len(server.requests) == 4
    assert server.last.body.keys() == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize(
    ("length", "evaluators", "is_kept"),
    [
        (9_000, lambda judge: [Vote(judge, 2)], True),
        (9_000, lambda judge: [judge, PassFail(judge.model, "Is it?!")], True),
        (9_000, lambda judge: [Questionnaire(judge.model, ["Is it?", "Is it not?"])], True),
        (9_000, lambda judge: [judge], False),
        (900, lambda judge: [Vote(judge, 2)], False),
    ],
)
def test_what_questions_share_is_kept_in_anthropics_cache(length, evaluators, is_kept, server):
    pytest.importorskip("anthropic")
    server.plays(BY_NAME["anthropic"].said(VERDICT))
    judge = PassFail(BY_NAME["anthropic"].load(server.url), "Is it?")
    evaluate([{"output": "x" * length}], evaluators(judge))
    contents = [request.body["messages"][-1]["content"] for request in server.requests]
    kept = [each for each in contents if isinstance(each, list)]
    assert len(kept) == is_kept  # of two, the second that is written
    for shared, rest in kept:
        assert shared["cache_control"] == {"type": "ephemeral"}
        assert "x" * length in shared["text"]
        assert "Is it" in rest["text"]


def test_documents_of_several_outputs_are_kept_in_anthropics_cache(server):
    pytest.importorskip("anthropic")
    server.plays(BY_NAME["anthropic"].said(VERDICT))
    judge = PassFail(BY_NAME["anthropic"].load(server.url), "Is it?")
    samples = [{"output": f"text {n}", "contexts": ["x" * 9_000]} for n in range(3)]
    evaluate([*samples, {"output": "text", "contexts": ["y" * 9_000]}], judge, concurrency=1)
    contents = [request.body["messages"][-1]["content"] for request in server.requests]
    assert [isinstance(content, list) for content in contents] == [False, True, True, False]
    shared, rest = contents[1]
    assert shared == contents[2][0]
    assert shared["cache_control"] == {"type": "ephemeral"}
    assert ("x" * 9_000 in shared["text"], "text 1" in rest["text"]) == (True, True)


# --- images ---------------------------------------------------------------------------------------

URL, DATA = "https://example.com/a.png", "aGk="
IMAGE = {"type": "image", "url": URL}
SHOWN = [{"role": "user", "content": [{"type": "text", "text": "What?"}, IMAGE]}]
FILE = {"type": "image", "data": DATA, "media_type": "image/jpeg"}

OPENAI = [
    {"type": "image_url", "image_url": {"url": URL}},
    {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{DATA}"}},
]
ANTHROPIC = [
    {"type": "image", "source": {"type": "url", "url": URL}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": DATA}},
]
GOOGLE = [
    {"fileData": {"mime_type": "image/png", "file_uri": URL}},
    {"inlineData": {"mime_type": "image/jpeg", "data": DATA}},
]
FORMS = dict(zip((vendor.package for vendor in SDKS), (OPENAI, ANTHROPIC, GOOGLE)))


def blocks(body):
    return body["contents"][-1]["parts"] if "contents" in body else body["messages"][-1]["content"]


def test_images_of_input_and_output_stand_before_the_text(case):
    case.server.plays(case.vendor.said(VERDICT))
    assert PassFail(case.client(), "Is it right?")(["A cat.", FILE], input=SHOWN).label == "Pass"
    sent = blocks(case.server.last.body)
    texts = [part.get("text") for part in sent]
    assert (texts[0], texts[2]) == ("[image 1]", "[image 2]")
    if not case.vendor.is_framework:  # which add details of their own
        assert [sent[1], sent[3]] == FORMS.get(case.vendor.package, OPENAI)
    assert DATA in str(sent[3])
    assert '"[image 1]"' in "".join(filter(None, texts))
    assert DATA not in "".join(filter(None, texts))


def test_an_image_is_read_as_each_library_writes_it(server):
    pytest.importorskip("openai")
    server.plays(chat(VERDICT))
    judge = PassFail(BY_NAME["openai"].load(server.url), "Is it right?")
    for part in (
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "input_image", "image_url": URL},
        {"type": "image", "source": {"type": "url", "url": URL}},
        IMAGE,
    ):
        Vote(judge, 2)("A cat.", contexts=["a text", part])
    assert len(server.requests) == 8
    for request in server.requests:
        assert [each for each in blocks(request.body) if each["type"] == "image_url"] == OPENAI[:1]
        assert "[2] [image 1]" in blocks(request.body)[-1]["text"]
    assert ask(judge.model, SHOWN) == VERDICT
    assert blocks(server.last.body) == [{"type": "text", "text": "What?"}, OPENAI[0]]
    with pytest.raises(InputError, match=r"url='cat\.png' is not a web address; give the content"):
        judge("A cat.", input=[{"type": "image", "url": "cat.png"}])


def test_a_model_that_completes_text_takes_no_images():
    models = pytest.importorskip("langchain_core.language_models")
    judge = PassFail(models.FakeListLLM(responses=["Pass"]), "Is it right?")
    result = judge("A cat.", input=[FILE])
    words = "completes text and accepts no images"
    assert (result.label, words in result.reason) == ("bad_request", True)
