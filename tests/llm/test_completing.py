"""One question and its answer: text, or an object of the caller's type."""

import asyncio

import pytest
from scripted import Scripted

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.core.errors import (
    ClientError,
    CutReplyError,
    RefusedReplyError,
    UnreadableJudgementError,
)
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.reply import JudgeReply

pydantic = pytest.importorskip("pydantic")


class City(pydantic.BaseModel):
    name: str
    people: int


PARIS = {"name": "Paris", "people": 2_100_000}


def test_a_text_is_answered_by_a_text():
    client = Scripted("Paris")
    assert client.complete("The capital of France?") == "Paris"
    assert asyncio.run(client.acomplete("The capital of France?")) == "Paris"
    assert client.requests[0].messages == (Message("user", "The capital of France?"),)
    assert client.requests[0].schema is None


def test_an_answer_can_be_an_object():
    client = Scripted(PARIS)
    assert client.complete("The capital of France?", City) == City(**PARIS)
    assert asyncio.run(client.acomplete("The capital?", result_type=City)) == City(**PARIS)
    assert client.requests[0].schema == City.model_json_schema()


def test_thinking_before_an_object_is_no_part_of_it_and_text_is_given_whole():
    thought = '<think>{"name": "Lyon", "people": 1}?</think>\n{"name": "Paris", "people": 2}'
    assert Scripted(thought).complete("The capital?", City) == City(name="Paris", people=2)
    assert Scripted(thought).complete("The capital?") == thought
    with pytest.raises(UnreadableJudgementError):
        Scripted('<think>{"name": "Lyon", "people": 1}').complete("The capital?", City)


@pytest.mark.parametrize(("temperature", "max_tokens"), [(0, 1), (2, 10**6), (None, None)])
def test_settings_at_their_bounds_are_sent(temperature, max_tokens):
    client = Scripted("Paris")
    client.complete("Where?", temperature=temperature, max_tokens=max_tokens)
    [request] = client.requests
    assert (request.temperature, request.max_tokens) == (temperature, max_tokens)


def test_messages_and_settings_reach_the_model():
    client = Scripted("Paris")
    messages = [{"role": "system", "content": "Be brief."}, Message("user", "Where?")]
    client.complete(messages, temperature=0.5, max_tokens=9, output="text")
    [request] = client.requests
    assert request.messages == (Message("system", "Be brief."), Message("user", "Where?"))
    assert (request.temperature, request.max_tokens, request.output) == (0.5, 9, "text")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("Paris", UnreadableJudgementError),
        ({"name": "Paris"}, UnreadableJudgementError),
        (JudgeReply('{"name": "Par', "length"), CutReplyError),
        (JudgeReply("No.", "refused"), RefusedReplyError),
        (ClientError("no reply", kind="timeout"), ClientError),
    ],
)
def test_what_is_no_such_answer_is_raised(reply, error):
    with pytest.raises(error):
        Scripted(reply).complete("The capital of France?", City)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"prompt": []}, "prompt"),
        ({"prompt": 3}, "prompt"),
        ({"prompt": [{"role": "developer", "content": "x"}]}, "role"),
        ({"prompt": [{"role": "user", "content": 3}]}, "text as content"),
        ({"prompt": "x", "result_type": int}, "result_type"),
        ({"prompt": "x", "output": "xml"}, "output"),
        ({"prompt": "x", "temperature": "hot"}, "temperature='hot' is not a number from 0 to 2"),
        ({"prompt": "x", "temperature": -0.1}, "temperature"),
        ({"prompt": "x", "temperature": 2.1}, "temperature"),
        ({"prompt": "x", "temperature": float("nan")}, "temperature=nan"),
        ({"prompt": "x", "temperature": True}, "temperature"),
        ({"prompt": "x", "max_tokens": -5}, "max_tokens=-5 is not a whole number from 1"),
        ({"prompt": "x", "max_tokens": 0}, "max_tokens"),
        ({"prompt": "x", "max_tokens": 1.5}, "max_tokens"),
        ({"prompt": "x", "max_tokens": True}, "max_tokens"),
    ],
)
def test_a_wrong_argument_is_named(arguments, words):
    client = Scripted("a")
    with pytest.raises(InvalidOptionError, match=words):
        client.complete(**arguments)
    assert client.requests == []
