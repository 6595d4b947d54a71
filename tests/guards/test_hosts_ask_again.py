"""SDKs, models and agents are asked again with the reason where their replies break a schema."""

import asyncio
from collections import Counter
from functools import partial

import pytest
import sdk_replies as api
from framework_cases import BAD, GOOD, RESULTS, SCHEMA, TOLD, Fixed, bad_replies, llama_model
from pydantic import BaseModel
from server import ModelServer, chat

from llmeval_integrations import InvalidOptionError, JsonSchema, Sample, ToolCallSchema
from llmeval_integrations.core.errors import RejectedAnswerError
from llmeval_integrations.guards import guard

CONFORMS = JsonSchema(SCHEMA)
PAYS = ToolCallSchema([{"name": "pay", "parameters": SCHEMA}])
REASON = TOLD.partition("\n")[2]
COUNT = 40


class Receipt(BaseModel):
    total: float


@pytest.fixture
def server():
    with ModelServer() as server:
        yield server


class Script:
    """Gives each question its three replies in turn, 30 % bad; keeps what else their prompts say."""

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


def ask_sdk(name, server, evaluator, kind=""):
    """Give a function that asks an SDK with a guard, and the name of its prompt."""
    prompt, more = SDKS[name][0], {"max_tokens": 9} if name == "message" else {}
    asked = guard(evaluator)(api.FUNCTIONS[name][2](api.make_client(name, server, kind)))
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


# Each gives a function that asks a question, awaited: is the answer good, and after how many tries?


def sdk(script, server, name, kind="", as_prompt=lambda number: question(number)["messages"]):
    asked, prompt = ask_sdk(name, server, CONFORMS, kind)
    server.plays(script.play(SDKS[name][1], prompt))

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
        text = script.reply(int(said[0].parts[-1].content), said[1:])
        return messages.ModelResponse([messages.TextPart(text)])

    async def ask(number):
        try:
            return (await agent.run(str(number))).output == GOOD, script.asked[number]
        except UnexpectedModelBehavior:
            return False, 3

    agent = pydantic_agent(reply)
    return ask


def paying():
    """Give a tool that pays, and what it paid."""

    def pay(total: float) -> str:
        """Pay."""
        paid.append(total)
        return "paid"

    paid = []
    return paid, pay


CALL_VALID = "This call is valid. It was not run because another call was not accepted."
CALLS_TOLD = {"c0": TOLD.replace("- /total", "- pay: /total"), "c1": CALL_VALID}

# A function, its prompt, the server's reply with a text and with calls, and what it is told.
SDKS = {
    "chat": ("messages", chat, api.chat_calls, [
        {"role": "tool", "tool_call_id": i, "content": text} for i, text in CALLS_TOLD.items()]),
    "response": ("input", api.response_text, api.response_calls, [
        {"type": "function_call_output", "call_id": i, "output": text} for i, text in CALLS_TOLD.items()]),
    "message": ("messages", api.message_text, api.message_calls, [{"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": i, "content": text, "is_error": True}
        for i, text in CALLS_TOLD.items()]}]),
}  # fmt: skip
KINDS = ("", "Async")
HOSTS = {
    "text": partial(sdk, name="response", as_prompt=str),
    **{f"{name} {kind}": partial(sdk, name=name, kind=kind) for name in SDKS for kind in KINDS},
    **{f"langchain {kind}": partial(langchain, kind=kind) for kind in KINDS},
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
    assert all(REASON in text and BAD in text for text in script.further)


def test_what_an_sdk_parsed_is_not_sent_back(server):
    server.plays(*map(api.response_text, (BAD, GOOD)))
    parse = api.make_client("response", server).responses.parse
    done = guard(CONFORMS)(parse)(model="m", input="?", text_format=Receipt)
    assert done.output.output_parsed == Receipt(total=3)
    assert "parsed" not in str(server.last.body)


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
    paid, pay = paying()
    one = '{"total": 1}'
    server.plays(api.chat_calls(BAD, one), api.chat_calls(GOOD, one), chat(BAD), chat(GOOD))
    calls = {"evaluator": PAYS, "on": "tool_calls"}
    agent = langchain_agent(server, calls, {"evaluator": CONFORMS}, tools=[pay])
    messages = agent.invoke(question("Pay 3 and 1."))["messages"]
    assert sorted(paid) == [1, 3]
    assert messages[-1].text == GOOD
    assert [one.type for one in messages] == ["human", "ai", "tool", "tool", "ai"]
    said = server.requests[1].body["messages"][2:]
    assert {one["tool_call_id"]: one["content"] for one in said} == CALLS_TOLD


@pytest.mark.parametrize("answer", [GOOD, "{}"])  # LangChain accepts one, and refuses the other
@pytest.mark.parametrize("bad", [BAD, GOOD[:-1]])
def test_a_call_beside_an_answer_or_with_broken_arguments_is_checked(server, bad, answer):
    output = pytest.importorskip("langchain.agents.structured_output")
    paid, pay = paying()
    functions = ({"name": "Receipt", "arguments": answer}, {"name": "pay", "arguments": bad})
    both = [{"id": one["name"], "type": "function", "function": one} for one in functions]
    answered = chat(None, calls=[GOOD], tool="Receipt")
    server.plays(chat(None, calls=both), api.chat_calls(GOOD), answered)
    options = {"tools": [pay], "response_format": output.ToolStrategy(Receipt)}
    agent = langchain_agent(server, {"evaluator": PAYS, "on": "tool_calls"}, **options)
    assert agent.invoke(question("Pay 3."))["structured_response"] == Receipt(total=3)
    assert paid == [3]
    told = server.requests[1].body["messages"][2:]
    assert {one["tool_call_id"] for one in told} == {"Receipt", "pay"}
    assert all("- pay: " in one["content"] for one in told)


def test_an_agents_structured_response_is_checked_and_the_last_try_may_raise(server):
    output = pytest.importorskip("langchain.agents.structured_output")
    server.plays(*(chat(None, calls=[text], tool="Receipt") for text in (BAD, GOOD)))
    retry = {"evaluator": CONFORMS, "on": "structured_response"}
    agent = langchain_agent(server, retry, response_format=output.ToolStrategy(Receipt))
    assert agent.invoke(question("?"))["structured_response"] == Receipt(total=3)
    last = {"role": "tool", "tool_call_id": "c1", "content": TOLD.replace("-3", "-3.0")}
    assert server.last.body["messages"][-1] == last

    # With a ProviderStrategy, the answer is the text; all middlewares note their tries.
    server.plays(chat(BAD), chat(GOOD))
    retry = {"evaluator": CONFORMS}
    options = {"response_format": output.ProviderStrategy(Receipt)}
    done = langchain_agent(server, retry, {**retry, "name": "again"}, **options).invoke(
        question("?")
    )
    assert done["structured_response"] == Receipt(total=3)
    tries = done["messages"][-1].response_metadata["llmeval"]
    assert [one["passed"] for one in tries] == [False, True, True]

    # A call for an answer is none of a tool, also if LangChain cannot read it.
    server.plays(*(chat(None, calls=[text], tool="Receipt") for text in ("{}", GOOD)))
    retry = {"evaluator": PAYS, "on": "tool_calls"}
    langchain_agent(server, retry, response_format=output.ToolStrategy(Receipt)).invoke(question("?"))  # fmt: skip
    assert "Field required" in server.last.body["messages"][-1]["content"]

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


def test_models_are_told_in_messages_or_in_their_text():
    models = pytest.importorskip("langchain_core.language_models")
    from langchain_core.messages import AIMessage, HumanMessage
    from llama_index.core.llms import ChatMessage

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

    unsure = Fixed(RESULTS["unscored"])
    for prompt in ([{"role": "user", "content": "?"}], [HumanMessage("?")], [ChatMessage("?")]):
        guard(unsure)(lambda messages: BAD)([*prompt, AIMessage("hm")])
    assert unsure.samples == [Sample(BAD, input="?")] * 3
    model, asked = llama_model(*[BAD, GOOD] * 3)
    assert guard(CONFORMS)(model.complete)("?").output.text == GOOD
    done = guard(CONFORMS)(model.as_structured_llm(Receipt).complete)("?")
    assert done.output.raw == Receipt(total=3)
    done = guard(CONFORMS)(model.chat)([ChatMessage("?")])
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

    for evaluator, fields, error in (
        ("json", {}, InvalidOptionError),
        (CONFORMS, {"refrence": 1}, TypeError),
    ):
        with pytest.raises(error):
            pydantic_agent(reply, evaluator, fields)
    done = pydantic_agent(reply, output_type=Receipt).run_sync("?")
    assert done.output == Receipt(total=3)
    assert REASON.replace("-3", "-3.0") in str(done.all_messages())
    unsure = Fixed(RESULTS["unscored"])
    agent = pydantic_agent(None, unsure, {"contexts": ["c"]}, write)
    assert asyncio.run(read())[-1] == "a text"
    assert unsure.samples == [Sample("a text", input="why?", contexts=["c"])]
