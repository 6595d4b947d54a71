"""Calls are found in what frameworks put around messages, as in the messages themselves."""

import json

import pytest

from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.read import read_calls

pytest.importorskip("langchain_core")
from langchain_core.load import dumpd, dumps
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    message_to_dict,
    messages_to_dict,
)
from langchain_core.outputs import ChatGeneration, ChatResult, LLMResult
from pydantic import BaseModel

ASKED = HumanMessage('{"name": "asked", "arguments": {}}')
CALLED = AIMessage("", tool_calls=[{"name": "weather", "args": {"days": 3}, "id": "c1"}])
CALL = ToolCall("weather", {"days": 3}, "c1")
BEFORE_TOOLS = AIMessage(
    "", additional_kwargs={"function_call": {"name": "weather", "arguments": '{"days": 3}'}}
)


class AnyState(BaseModel):
    messages: list[AnyMessage]
    remaining: int = 3


class BaseState(BaseModel):
    messages: list[BaseMessage]


GENERATED = ChatGeneration(message=CALLED)
AROUND = {
    "a state": AnyState(messages=[ASKED, CALLED]),
    "a state of any messages": BaseState(messages=[ASKED, CALLED]),
    "a generation": GENERATED,
    "generations": [GENERATED],
    "a result": ChatResult(generations=[GENERATED]),
    "a result of several prompts": LLMResult(generations=[[GENERATED]]),
}


@pytest.mark.parametrize("value", AROUND.values(), ids=AROUND)
def test_calls_in_what_holds_messages_are_found(value):
    assert read_calls(value) == [CALL]


def test_what_is_not_json_beside_calls_in_a_state_or_result_stops_nothing():
    odd = AIMessage("", tool_calls=CALLED.tool_calls, additional_kwargs={"own": object()})
    for value in (BaseState(messages=[odd]), ChatGeneration(message=odd)):
        assert read_calls(value) == [CALL]


SAVED = {
    "messages_to_dict": messages_to_dict([ASKED, CALLED]),
    "message_to_dict": message_to_dict(CALLED),
    "dumpd": dumpd([ASKED, CALLED]),
    "dumpd, a message": dumpd(CALLED),
    "dumpd, a state": dumpd({"messages": [ASKED, CALLED]}),
    "dumpd, a generation": dumpd(GENERATED),
}


@pytest.mark.parametrize("saved", SAVED.values(), ids=SAVED)
def test_messages_that_langchain_saved_are_read(saved):
    assert read_calls(saved) == read_calls(json.dumps(saved)) == [CALL]


def test_a_saved_message_of_a_user_holds_no_calls():
    for saved in (messages_to_dict([ASKED]), message_to_dict(ASKED), dumpd(ASKED), dumps([ASKED])):
        assert read_calls(saved) == []


def test_a_function_call_from_before_tools_is_one():
    assert read_calls(BEFORE_TOOLS) == [ToolCall("weather", {"days": 3})]


@pytest.mark.parametrize(
    "value",
    [
        {"type": "weather", "data": {"days": 3}},
        {"type": "constructor", "kwargs": {"tool_calls": []}},
        {"lc": 1, "type": "constructor", "kwargs": 3},
    ],
)
def test_what_only_looks_saved_is_no_message(value):
    assert read_calls(value).name == "not_a_call"
