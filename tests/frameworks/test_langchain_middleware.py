"""An agent of LangChain, asking a server on this machine, is told what is wrong, and tries again."""

import asyncio

import pytest

pytest.importorskip("langchain.agents.middleware")
pytest.importorskip("langchain_openai")

import pydantic
from framework_cases import BAD, GOOD, RESULTS, SCHEMA, TOLD, Fixed, bad_replies
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from server import ModelServer, chat

from llmeval_integrations import InvalidOptionError, JsonSchema, ToolCallSchema
from llmeval_integrations.core.errors import RejectedAnswerError
from llmeval_integrations.frameworks.langchain.middleware import RetryMiddleware

CONFORMS = JsonSchema(SCHEMA)


@pytest.fixture
def server():
    with ModelServer() as server:
        yield server


def agent(server, middleware, **options):
    model = ChatOpenAI(model="m", base_url=server.url + "/v1", api_key="sk-1", max_retries=0)
    return create_agent(model, middleware=[middleware], **options)


def ask(text):
    return {"messages": [{"role": "user", "content": text}]}


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_exactly_those_end_invalid_whose_three_replies_were_bad(server, kind):
    replies, needed = bad_replies(kind, 40)

    def reply(request):
        said = request.body["messages"]
        bad = replies[int(said[0]["content"])]
        return chat(BAD if bad[(len(said) - 1) // 2] else GOOD)

    server.plays(reply)
    runs = agent(server, RetryMiddleware(CONFORMS))

    async def invoke(number):
        return await runs.ainvoke(ask(number)) if kind == "async" else runs.invoke(ask(number))

    async def all_of_them():
        return [await invoke(str(number)) for number in range(40)]

    done = asyncio.run(all_of_them())
    final = [one["messages"][-1] for one in done]
    assert [one.text == GOOD for one in final] == [not all(bad) for bad in replies]
    assert {len(one["messages"]) for one in done} == {2}
    assert [len(one.response_metadata["llmeval"]) for one in final] == needed
    assert len(server.requests) == sum(needed)
    again = [one.body["messages"] for one in server.requests if len(one.body["messages"]) > 1]
    assert {(said[-2]["content"], said[-1]["content"]) for said in again} == {(BAD, TOLD)}


def calls(*totals):
    functions = [{"name": "pay", "arguments": f'{{"total": {total}}}'} for total in totals]
    calls = enumerate(functions)
    return chat(None, calls=[{"id": f"c{n}", "type": "function", "function": f} for n, f in calls])


def test_each_call_is_told_by_its_id_before_a_tool_runs(server):
    paid = []

    @tool
    def pay(total: float) -> str:
        """Pay."""
        paid.append(total)
        return "paid"

    server.plays(calls(-3, 1), calls(3, 1), chat("Done."))
    check = ToolCallSchema([{"name": "pay", "parameters": SCHEMA}])
    runs = agent(server, RetryMiddleware(check, on="tool_calls"), tools=[pay])
    done = runs.invoke(ask("Pay 3 and 1."))
    assert sorted(paid) == [1, 3]
    assert [one.type for one in done["messages"]] == ["human", "ai", "tool", "tool", "ai"]
    said = server.requests[1].body["messages"][2:]
    assert [one["tool_call_id"] for one in said] == ["c0", "c1"]
    assert "pay: /total: -3 is less than the minimum of 0" in said[0]["content"]
    assert said[1]["content"].startswith("This call is valid.")


class Receipt(pydantic.BaseModel):
    """A receipt."""

    total: float


def test_a_structured_response_is_looked_at_as_it_is(server):
    server.plays(*(chat(None, calls=[text], tool="Receipt") for text in (BAD, GOOD)))
    middleware = RetryMiddleware(CONFORMS, on="structured_response")
    runs = agent(server, middleware, response_format=ToolStrategy(Receipt))
    assert runs.invoke(ask("?"))["structured_response"] == Receipt(total=3)
    assert server.last.body["messages"][-1] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": TOLD.replace("-3", "-3.0"),
    }


def test_after_the_last_try_an_error_if_that_is_asked_for(server):
    server.plays(chat(BAD))
    with pytest.raises(RejectedAnswerError, match="no answer passed in 2 tries"):
        agent(server, RetryMiddleware(CONFORMS, tries=2, raises=True)).invoke(ask("?"))
    assert len(server.requests) == 2
    with pytest.raises(InvalidOptionError, match="on='texts' is not one of"):
        RetryMiddleware(CONFORMS, on="texts")


def test_a_judge_that_cannot_tell_triggers_nothing(server):
    unsure = Fixed(RESULTS["unscored"])
    agent(server, RetryMiddleware(unsure, raises=True, contexts=["c"])).invoke(ask("why?"))
    assert len(server.requests) == 1
    [sample] = unsure.samples
    assert (sample.output.text, sample.input, sample.contexts) == ("Paris", "why?", ["c"])
