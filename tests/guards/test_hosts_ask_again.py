"""SDKs, models and agents are asked again with the reason, by servers that break a schema.

Each gets forty questions. In 30 % of its replies the schema is broken, independently.
"""

import asyncio
from collections import Counter

import pytest
from framework_cases import BAD, GOOD, RESULTS, SCHEMA, TOLD, Fixed, bad_replies, llama_model
from pydantic import BaseModel
from sdk_replies import chat_calls, message_calls, message_text, response_calls, response_text
from server import ModelServer, chat

from llmeval_integrations import InvalidOptionError, JsonSchema, Sample, ToolCallSchema
from llmeval_integrations.core.errors import RejectedAnswerError
from llmeval_integrations.guards import guard

CONFORMS = JsonSchema(SCHEMA)
PAYS = ToolCallSchema([{"name": "pay", "parameters": SCHEMA}])
COUNT = 40


class Receipt(BaseModel):
    """A receipt."""

    total: float


@pytest.fixture
def server():
    with ModelServer() as server:
        yield server


class Script:
    """Gives each question its three replies in turn; keeps what else their prompts say."""

    def __init__(self, seed):
        self.replies, self.needed = bad_replies(seed, COUNT)
        self.asked, self.further = Counter(), []

    def reply(self, number, further):
        is_bad = self.replies[number][self.asked[number]]
        self.asked[number] += 1
        if further:
            self.further.append(str(further))
        return BAD if is_bad else GOOD


CALL_TOLD = TOLD.replace("- /total", "- pay: /total")
CALL_VALID = "This call is valid. It was not run because another call was not accepted."
CALLS_TOLD = {"c0": CALL_TOLD, "c1": CALL_VALID}

# An SDK, its function, its prompt, the server's reply with a text and with calls, what it is told.
SDKS = {
    "chat": (
        *("openai", "OpenAI", lambda sdk: sdk.chat.completions.create, "messages"),
        *(chat, chat_calls),
        [{"role": "tool", "tool_call_id": i, "content": text} for i, text in CALLS_TOLD.items()],
    ),
    "response": (
        *("openai", "OpenAI", lambda sdk: sdk.responses.create, "input"),
        *(response_text, response_calls),
        [{"type": "function_call_output", "call_id": i, "output": text} for i, text in CALLS_TOLD.items()],
    ),
    "message": (
        *("anthropic", "Anthropic", lambda sdk: sdk.messages.create, "messages"),
        *(message_text, message_calls),
        [{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": i, "content": text, "is_error": True}
            for i, text in CALLS_TOLD.items()]}],
    ),
}  # fmt: skip


def ask_sdk(name, server, evaluator, kind=""):
    """Give a function that asks an SDK by its own client, and the name of its prompt."""
    package, client, create, prompt, *_ = SDKS[name]
    path = "/v1" if package == "openai" else ""
    kind = getattr(pytest.importorskip(package), kind + client)
    asked = guard(evaluator)(create(kind(base_url=server.url + path, api_key="sk-1", max_retries=0)))  # fmt: skip
    more = {"max_tokens": 9} if name == "message" else {}
    return lambda question: asked(model="m", **{prompt: question}, **more), prompt


def sdk(name, kind):
    async def run(script, server):
        ask, prompt = ask_sdk(name, server, CONFORMS, kind)

        def play(request):
            said = request.body[prompt]
            return SDKS[name][4](script.reply(int(said[0]["content"]), said[1:]))

        server.plays(play)
        done = [ask([{"role": "user", "content": str(number)}]) for number in range(COUNT)]
        done = [await one for one in done] if kind else done
        assert [len(one.results) for one in done] == script.needed
        return [one.result.passed for one in done]

    return run


def langchain_agent(server, evaluator, on="text", fields=None, more=(), **options):
    agents, openai, _ = map(
        pytest.importorskip, ("langchain.agents", "langchain_openai", "langchain.agents.middleware")
    )
    from llmeval_integrations.frameworks.langchain.middleware import RetryMiddleware

    model = openai.ChatOpenAI(model="m", base_url=server.url + "/v1", api_key="sk-1", max_retries=0)
    middleware = [RetryMiddleware(evaluator, on, **fields or {}), *map(RetryMiddleware, more)]
    return agents.create_agent(model, middleware=middleware, **options)


def question(text):
    return {"messages": [{"role": "user", "content": text}]}


def langchain(kind):
    async def run(script, server):
        agent = langchain_agent(server, CONFORMS)

        def play(request):
            said = request.body["messages"]
            return chat(script.reply(int(said[0]["content"]), said[1:]))

        server.plays(play)
        asked = [question(str(number)) for number in range(COUNT)]
        done = [await agent.ainvoke(one) if kind else agent.invoke(one) for one in asked]
        assert {len(one["messages"]) for one in done} == {2}
        final = [one["messages"][-1] for one in done]
        assert [len(one.response_metadata["llmeval"]) for one in final] == script.needed
        return [one.text == GOOD for one in final]

    return run


async def llama_index(script, server):
    pytest.importorskip("llama_index.core")
    from llama_index.core.agent.workflow import ReActAgent

    passed = []
    for number in range(COUNT):
        replies = [f"Thought: x\nAnswer: {BAD if one else GOOD}" for one in script.replies[number]]
        model, asked = llama_model(*replies)
        agent = ReActAgent(tools=[], llm=model, streaming=False)
        done = await guard(CONFORMS)(agent.run)(user_msg="?")
        passed.append(done.output.response.content == GOOD)
        script.asked[number], script.further = len(asked), script.further + asked[1:]
    return passed


async def pydantic_ai(script, server):
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import UnexpectedModelBehavior
    from pydantic_ai.messages import ModelResponse, TextPart

    def reply(messages, info):
        number = int(messages[0].parts[-1].content)
        return ModelResponse([TextPart(script.reply(number, told(messages)))])

    agent, passed = pydantic_agent(reply), []
    for number in range(COUNT):
        try:
            passed.append((await agent.run(str(number))).output == GOOD)
        except UnexpectedModelBehavior:
            passed.append(False)
    return passed


def pydantic_agent(function=None, evaluator=CONFORMS, fields=None, **options):
    from pydantic_ai import Agent
    from pydantic_ai.models.function import FunctionModel

    from llmeval_integrations.frameworks.pydantic_ai import validator

    stream = options.pop("stream_function", None)
    agent = Agent(FunctionModel(function, stream_function=stream), retries=2, **options)
    agent.output_validator(validator(evaluator, **fields or {}))
    return agent


def told(messages):
    """Return what the model is told after the prompt, however a version of Pydantic AI dresses it."""
    parts = [part for message in messages if message.kind == "request" for part in message.parts]
    return [str(part.content) for part in parts if "not accepted" in str(part.content)]


HOSTS = {
    **{f"{name} {kind}": sdk(name, kind) for name in SDKS for kind in ("", "Async")},
    **{f"langchain {kind}": langchain(kind) for kind in ("", "Async")},
    "llama_index": llama_index,
    "pydantic_ai": pydantic_ai,
}


@pytest.mark.filterwarnings("ignore:The `__fields")  # of LlamaIndex itself, for each run
@pytest.mark.parametrize("host", HOSTS)
def test_exactly_those_end_invalid_whose_three_replies_were_bad(host, server):
    script = Script(host)
    passed = asyncio.run(HOSTS[host](script, server))
    assert passed == [not all(bad) for bad in script.replies]
    assert [script.asked[number] for number in range(COUNT)] == script.needed
    assert len(script.further) == sum(script.needed) - COUNT
    reason = TOLD.partition("\n")[2]
    assert all(reason in text for text in script.further)
    assert host == "pydantic_ai" or all(BAD in text for text in script.further)


@pytest.mark.parametrize("name", SDKS)
def test_each_tool_call_is_told_by_its_id(server, name):
    *_, calls, told = SDKS[name]
    server.plays(calls(BAD, GOOD), calls(GOOD, GOOD))
    ask, prompt = ask_sdk(name, server, PAYS)
    done = ask([{"role": "user", "content": "?"}])
    assert [result.passed for result in done.results] == [False, True]
    said = server.last.body[prompt]
    assert said[-len(told) :] == told
    assert "c0" in str(said[1])


def test_a_text_prompt_of_the_responses_api_becomes_messages(server):
    server.plays(response_text(BAD), response_text(GOOD))
    ask_sdk("response", server, CONFORMS)[0]("Read it.")
    said = server.last.body["input"]
    assert (said[0], said[-1]) == tuple({"role": "user", "content": text} for text in ("Read it.", TOLD))  # fmt: skip


def test_an_agent_of_langchain_is_told_of_each_call_before_a_tool_runs(server):
    paid = []

    @pytest.importorskip("langchain_core.tools").tool
    def pay(total: float) -> str:
        """Pay."""
        paid.append(total)
        return "paid"

    calls = chat_calls(BAD, '{"total": 1}'), chat_calls(GOOD, '{"total": 1}')
    server.plays(*calls, chat(BAD), chat(GOOD))
    agent = langchain_agent(server, PAYS, "tool_calls", more=[CONFORMS], tools=[pay])
    done = agent.invoke(question("Pay 3 and 1."))
    assert sorted(paid) == [1, 3]
    assert done["messages"][-1].text == GOOD
    assert [one.type for one in done["messages"]] == ["human", "ai", "tool", "tool", "ai"]
    said = server.requests[1].body["messages"][2:]
    assert {one["tool_call_id"]: one["content"] for one in said} == CALLS_TOLD


def test_an_agents_structured_response_is_checked_and_the_last_try_may_raise(server):
    output = pytest.importorskip("langchain.agents.structured_output")
    server.plays(*(chat(None, calls=[text], tool="Receipt") for text in (BAD, GOOD)))
    agent = langchain_agent(
        server, CONFORMS, "structured_response", response_format=output.ToolStrategy(Receipt)
    )
    assert agent.invoke(question("?"))["structured_response"] == Receipt(total=3)
    last = {"role": "tool", "tool_call_id": "c1", "content": TOLD.replace("-3", "-3.0")}
    assert server.last.body["messages"][-1] == last

    server.plays(chat(BAD))
    with pytest.raises(RejectedAnswerError, match="no answer passed in 2 tries"):
        langchain_agent(server, CONFORMS, fields={"tries": 2, "raises": True}).invoke(question("?"))
    assert len(server.requests) == 2
    with pytest.raises(InvalidOptionError, match="on='texts' is not one of"):
        langchain_agent(server, CONFORMS, "texts")
    unsure = Fixed(RESULTS["unscored"])
    langchain_agent(server, unsure, fields={"raises": True, "contexts": ["c"]}).invoke(
        question("why?")
    )
    [sample] = unsure.samples
    assert (sample.output.text, sample.input, sample.contexts) == (BAD, "why?", ["c"])


def test_a_model_of_langchain_is_told_in_messages_or_in_its_text():
    models = pytest.importorskip("langchain_core.language_models")
    from langchain_core.messages import AIMessage, HumanMessage

    class Model(models.GenericFakeChatModel):
        def _generate(self, messages, *args, **kwargs):
            asked.append([(one.type, one.content) for one in messages])
            return super()._generate(messages, *args, **kwargs)

    again = [("human", "?"), ("ai", BAD), ("human", TOLD)]
    as_text = [("human", f"?\n\nYour answer was:\n{BAD}\n\n{TOLD}")]
    for prompt, said in (([HumanMessage("?")], again), ([("user", "?")], again), ("?", as_text)):
        asked, model = [], Model(messages=iter([AIMessage(BAD), AIMessage(GOOD)]))
        done = asyncio.run(wait(guard(CONFORMS)(model.ainvoke)(prompt)))
        assert (done.output.content, asked[1]) == (GOOD, said)


def test_a_model_of_llama_index_is_told_in_its_text_or_in_messages():
    pytest.importorskip("llama_index.core")
    from llama_index.core.llms import ChatMessage

    model, asked = llama_model(BAD, GOOD, BAD, GOOD, BAD, GOOD, BAD, GOOD)
    done = guard(CONFORMS)(model.complete)("?")
    assert done.output.text == GOOD
    done = guard(CONFORMS)(model.as_structured_llm(Receipt).complete)("?")
    assert done.output.raw == Receipt(total=3)
    assert asked[1].endswith(TOLD)
    assert TOLD.replace("-3", "-3.0") in asked[3]
    blocking = guard(CONFORMS)(model.chat)([ChatMessage("?")])
    awaited = asyncio.run(wait(guard(CONFORMS)(model.achat)([ChatMessage("?")])))
    assert blocking.output.message.content == awaited.output.message.content == GOOD
    assert asked[5] == asked[7] == f"user: ?\nassistant: {BAD}\nuser: {TOLD}\nassistant: "


async def wait(thing):
    return await thing


def test_an_agent_of_pydantic_ai_is_checked_by_its_object_and_a_stream_once():
    messages = pytest.importorskip("pydantic_ai.messages")
    totals = iter([-3, 3])

    def reply(_, info):
        part = messages.ToolCallPart(info.output_tools[0].name, {"total": next(totals)})
        return messages.ModelResponse([part])

    done = pydantic_agent(reply, output_type=Receipt).run_sync("?")
    assert done.output == Receipt(total=3)
    assert TOLD.replace("-3", "-3.0") in told(done.all_messages())[0]

    async def write(_, info):
        for piece in ("a ", "text"):
            yield piece

    async def read():
        async with agent.run_stream("why?") as run:
            return [text async for text in run.stream_text(debounce_by=None)]

    unsure = Fixed(RESULTS["unscored"])
    agent = pydantic_agent(evaluator=unsure, stream_function=write, fields={"contexts": ["c"]})
    assert asyncio.run(read())[-1] == "a text"
    assert unsure.samples == [Sample("a text", input="why?", contexts=["c"])]
