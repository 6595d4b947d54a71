"""SDKs, models and agents are asked again with the reason, by servers that break a schema.

Each gets forty questions. In 30 % of its replies the schema is broken, independently.
"""

import asyncio
from collections import Counter
from functools import partial

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

    def play(self, write, prompt="messages"):
        """Make a play of a server: the reply to the prompt whose first message is the question."""

        def answer(request):
            said = request.body[prompt]
            first, *further = [{"content": said}] if isinstance(said, str) else said
            return write(self.reply(int(first["content"]), further))

        return answer


CALL_VALID = "This call is valid. It was not run because another call was not accepted."
CALLS_TOLD = {"c0": TOLD.replace("- /total", "- pay: /total"), "c1": CALL_VALID}

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


def langchain_agent(server, *retries, **options):
    """Make an agent with a RetryMiddleware for each of some arguments."""
    agents, openai = map(pytest.importorskip, ("langchain.agents", "langchain_openai"))
    from llmeval_integrations.frameworks.langchain.middleware import RetryMiddleware

    model = openai.ChatOpenAI(model="m", base_url=server.url + "/v1", api_key="sk-1", max_retries=0)
    middleware = [RetryMiddleware(**arguments) for arguments in retries]
    return agents.create_agent(model, middleware=middleware, **options)


def pydantic_agent(reply=None, evaluator=CONFORMS, fields=None, stream=None, **options):
    """Make an agent of Pydantic AI whose answers are checked."""
    agents = pytest.importorskip("pydantic_ai")
    from pydantic_ai.models.function import FunctionModel

    from llmeval_integrations.frameworks.pydantic_ai import validator

    agent = agents.Agent(FunctionModel(reply, stream_function=stream), retries=2, **options)
    agent.output_validator(validator(evaluator, **fields or {}))
    return agent


def question(text):
    return {"messages": [{"role": "user", "content": str(text)}]}


def told(messages):
    """Return what the model is told after the prompt, however a version of Pydantic AI dresses it."""
    parts = [part for message in messages if message.kind == "request" for part in message.parts]
    return [str(part.content) for part in parts if "not accepted" in str(part.content)]


# Each gives a function that asks a question, awaited: is the answer good, and after how many tries?


def sdk(script, server, name, kind="", as_prompt=lambda number: question(number)["messages"]):
    asked, prompt = ask_sdk(name, server, CONFORMS, kind)
    server.plays(script.play(SDKS[name][4], prompt))

    async def ask(number):
        done = asked(as_prompt(number))
        done = await done if kind else done
        return done.result.passed, len(done.results)

    return ask


def langchain(script, server, kind):
    agent = langchain_agent(server, {"evaluator": CONFORMS})
    server.plays(script.play(chat))

    async def ask(number):
        done = await agent.ainvoke(question(number)) if kind else agent.invoke(question(number))
        _, answer = done["messages"]
        return answer.text == GOOD, len(answer.response_metadata["llmeval"])

    return ask


def llama_index(script, server):
    from llama_index.core.agent.workflow import ReActAgent

    async def ask(number):
        replies = [f"Thought: x\nAnswer: {BAD if one else GOOD}" for one in script.replies[number]]
        model, asked = llama_model(*replies)
        agent = ReActAgent(tools=[], llm=model, streaming=False)
        done = await guard(CONFORMS)(agent.run)(user_msg="?")
        script.asked[number], script.further = len(asked), script.further + asked[1:]
        return done.output.response.content == GOOD, len(done.results)

    return ask


def pydantic_ai(script, server):
    messages = pytest.importorskip("pydantic_ai.messages")
    from pydantic_ai import UnexpectedModelBehavior

    def reply(said, info):
        text = script.reply(int(said[0].parts[-1].content), told(said))
        return messages.ModelResponse([messages.TextPart(text)])

    async def ask(number):
        try:
            return (await agent.run(str(number))).output == GOOD, script.asked[number]
        except UnexpectedModelBehavior:
            return False, 3

    agent = pydantic_agent(reply)
    return ask


HOSTS = {
    "text": partial(sdk, name="response", as_prompt=str),
    **{
        f"{name} {kind}": partial(sdk, name=name, kind=kind)
        for name in SDKS
        for kind in ("", "Async")
    },
    **{f"langchain {kind}": partial(langchain, kind=kind) for kind in ("", "Async")},
    "llama_index": llama_index,
    "pydantic_ai": pydantic_ai,
}


@pytest.mark.filterwarnings("ignore:The `__fields")  # of LlamaIndex itself, for each run
@pytest.mark.parametrize("host", HOSTS)
def test_exactly_those_end_invalid_whose_three_replies_were_bad(host, server):
    async def ask_all():
        return [await ask(number) for number in range(COUNT)]

    script = Script(host)
    ask = HOSTS[host](script, server)
    passed = [not all(bad) for bad in script.replies]
    assert asyncio.run(ask_all()) == [*zip(passed, script.needed)]
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
    done = ask(question("?")["messages"])
    assert [result.passed for result in done.results] == [False, True]
    said = server.last.body[prompt]
    assert said[-len(told) :] == told
    assert "c0" in str(said[1])


def test_an_agent_of_langchain_is_told_of_each_call_before_a_tool_runs(server):
    paid = []

    def pay(total: float) -> str:
        """Pay."""
        paid.append(total)
        return "paid"

    one = '{"total": 1}'
    server.plays(chat_calls(BAD, one), chat_calls(GOOD, one), chat(BAD), chat(GOOD))
    calls = {"evaluator": PAYS, "on": "tool_calls"}
    agent = langchain_agent(server, calls, {"evaluator": CONFORMS}, tools=[pay])
    messages = agent.invoke(question("Pay 3 and 1."))["messages"]
    assert sorted(paid) == [1, 3]
    assert messages[-1].text == GOOD
    assert [one.type for one in messages] == ["human", "ai", "tool", "tool", "ai"]
    said = server.requests[1].body["messages"][2:]
    assert {one["tool_call_id"]: one["content"] for one in said} == CALLS_TOLD


def test_an_agents_structured_response_is_checked_and_the_last_try_may_raise(server):
    output = pytest.importorskip("langchain.agents.structured_output")
    server.plays(*(chat(None, calls=[text], tool="Receipt") for text in (BAD, GOOD)))
    retry = {"evaluator": CONFORMS, "on": "structured_response"}
    agent = langchain_agent(server, retry, response_format=output.ToolStrategy(Receipt))
    assert agent.invoke(question("?"))["structured_response"] == Receipt(total=3)
    last = {"role": "tool", "tool_call_id": "c1", "content": TOLD.replace("-3", "-3.0")}
    assert server.last.body["messages"][-1] == last

    server.plays(chat(BAD))
    retry = {"evaluator": CONFORMS, "tries": 2, "raises": True}
    with pytest.raises(RejectedAnswerError, match="no answer passed in 2 tries"):
        langchain_agent(server, retry).invoke(question("?"))
    assert len(server.requests) == 2
    with pytest.raises(InvalidOptionError, match="on='texts' is not one of"):
        langchain_agent(server, {**retry, "on": "texts"})
    unsure = Fixed(RESULTS["unscored"])
    retry |= {"evaluator": unsure, "contexts": ["c"]}
    langchain_agent(server, retry).invoke(question("why?"))
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
        assert guard(CONFORMS)(model.invoke)(prompt).output.content == GOOD
        assert asked[1] == said


def test_a_model_of_llama_index_is_told_in_its_text_or_in_messages():
    llms = pytest.importorskip("llama_index.core.llms")
    model, asked = llama_model(*[BAD, GOOD] * 3)
    assert guard(CONFORMS)(model.complete)("?").output.text == GOOD
    done = guard(CONFORMS)(model.as_structured_llm(Receipt).complete)("?")
    assert done.output.raw == Receipt(total=3)
    done = guard(CONFORMS)(model.chat)([llms.ChatMessage("?")])
    assert done.output.message.content == GOOD
    assert asked[1].endswith(TOLD)
    assert TOLD.replace("-3", "-3.0") in asked[3]
    assert asked[5] == f"user: ?\nassistant: {BAD}\nuser: {TOLD}\nassistant: "


def test_an_agent_of_pydantic_ai_is_checked_by_its_object_and_a_stream_once():
    messages = pytest.importorskip("pydantic_ai.messages")
    totals = iter([-3, 3])

    def reply(_, info):
        part = messages.ToolCallPart(info.output_tools[0].name, {"total": next(totals)})
        return messages.ModelResponse([part])

    async def write(_, info):
        yield "a "
        yield "text"

    async def read():
        async with agent.run_stream("why?") as run:
            return [text async for text in run.stream_text(debounce_by=None)]

    done = pydantic_agent(reply, output_type=Receipt).run_sync("?")
    assert done.output == Receipt(total=3)
    assert TOLD.replace("-3", "-3.0") in told(done.all_messages())[0]
    unsure = Fixed(RESULTS["unscored"])
    agent = pydantic_agent(None, unsure, {"contexts": ["c"]}, write)
    assert asyncio.run(read())[-1] == "a text"
    assert unsure.samples == [Sample("a text", input="why?", contexts=["c"])]
