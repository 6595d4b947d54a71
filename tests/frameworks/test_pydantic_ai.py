"""An agent of Pydantic AI is asked again, with the reason, while its output fails."""

import asyncio

import pytest

pytest.importorskip("pydantic_ai")

import pydantic
from framework_cases import BAD, GOOD, RESULTS, SCHEMA, TOLD, Fixed, bad_replies
from pydantic_ai import Agent, UnexpectedModelBehavior
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from llmeval_integrations import JsonSchema, Sample
from llmeval_integrations.frameworks.pydantic_ai import validator


class Receipt(pydantic.BaseModel):
    total: float


def told(messages):
    """Return what the model is told after the prompt, however a version of Pydantic AI dresses it."""
    parts = [part for message in messages if message.kind == "request" for part in message.parts]
    return [str(part.content) for part in parts if "not accepted" in str(part.content)]


def test_exactly_those_runs_fail_whose_three_replies_were_bad():
    replies, needed = bad_replies(1, 60)
    asked = []

    def reply(messages, info):
        number, tries = int(messages[0].parts[-1].content), told(messages)
        assert all(TOLD in text for text in tries)
        asked.append(number)
        return ModelResponse([TextPart(BAD if replies[number][len(tries)] else GOOD)])

    agent = Agent(FunctionModel(reply), retries=2)
    agent.output_validator(validator(JsonSchema(SCHEMA)))
    for number, bad in enumerate(replies):
        if all(bad):
            with pytest.raises(UnexpectedModelBehavior):
                agent.run_sync(str(number))
        else:
            assert agent.run_sync(str(number)).output == GOOD
        assert asked.count(number) == needed[number]


def test_an_object_is_looked_at_as_it_is():
    totals = iter([-3, 3])

    def reply(messages, info):
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"total": next(totals)})])

    agent = Agent(FunctionModel(reply), output_type=Receipt)
    agent.output_validator(validator(JsonSchema(SCHEMA)))
    done = agent.run_sync("?")
    assert done.output == Receipt(total=3)
    (text,) = told(done.all_messages())
    assert TOLD.replace("-3", "-3.0") in text


def test_a_judge_that_cannot_tell_triggers_nothing_and_a_stream_is_looked_at_once():
    async def write(messages, info):
        for piece in ("a ", "text"):
            yield piece

    async def read():
        async with agent.run_stream("why?") as run:
            return [text async for text in run.stream_text(debounce_by=None)]

    unsure = Fixed(RESULTS["unscored"])
    agent = Agent(FunctionModel(stream_function=write))
    agent.output_validator(validator(unsure, contexts=["c"]))
    assert asyncio.run(read())[-1] == "a text"
    assert unsure.samples == [Sample("a text", input="why?", contexts=["c"])]
