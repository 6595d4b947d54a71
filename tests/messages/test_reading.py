"""What applications hand over: the model's last reply, its parsed answer, and its calls."""

from dataclasses import dataclass

import pytest
from message_things import CALL, TEXT

from llmeval_integrations import InputError, read_messages
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.messages.read import find_messages
from llmeval_integrations.tool_calls.read import read_calls


@dataclass
class Weather:
    city: str
    rain: bool = True


def reply_of(thing):
    reply = find_messages(thing).reply
    return reply.text, None if reply.value is MISSING else reply.value, reply.refused


def test_a_parsed_answer_is_that_of_the_last_update_or_none():
    messages = pytest.importorskip("langchain_core.messages")
    raw = messages.AIMessage("So:")
    unread = {"raw": raw, "parsed": None, "parsing_error": None}
    assert reply_of(unread) == ("So:", None, False)
    call = {"name": "Total", "args": {"total": "12 EUR"}, "id": "1"}
    unread["raw"] = messages.AIMessage("", tool_calls=[call])
    assert reply_of(unread)[1] == {"total": "12 EUR"}
    call.update(args='{"total": 1', error="cut off")
    unread["raw"] = messages.AIMessage("", invalid_tool_calls=[call])
    assert reply_of(unread) == ('{"total": 1', None, False)
    updates = [
        {"agent": {"messages": [raw]}},
        {"answer": {"messages": [raw], "structured_response": 1}},
    ]
    assert reply_of(updates)[1] == 1
    assert reply_of({"raw": {"messages": [raw]}}) == ("So:", None, False)  # a node named "raw"


def test_the_parsed_answer_of_llama_index():
    pydantic = pytest.importorskip("pydantic")
    schema = pytest.importorskip("llama_index.core.base.response.schema")
    workflow = pytest.importorskip("llama_index.core.agent.workflow")
    llms = pytest.importorskip("llama_index.core.llms")

    class Total(pydantic.BaseModel):
        total: int

    total, text = Total(total=1), '{"total":1}'
    assert reply_of(schema.PydanticResponse(total))[1] == total
    written = '{"name": "f", "arguments": {}}'
    responses = [schema.PydanticResponse(total), *map(schema.Response, ("", "It is 1.", written))]
    calls = [read_calls([*find_messages(each).items]) for each in responses]
    assert [*map(len, calls)] == [0, 0, 0, 1]
    message = llms.ChatMessage(role="assistant", content=text)
    for raw in (total, {"of": "the vendor"}):  # a structured LLM keeps the object of its text
        chat = llms.ChatResponse(message=message, raw=raw)
        completion = llms.CompletionResponse(text=text, raw=raw)
        found = text, total if raw is total else None, False
        assert reply_of(chat) == reply_of(completion) == found
    prose = llms.ChatMessage(role="assistant", content="It is 1.")
    agent = workflow.AgentOutput(
        response=prose, current_agent_name="a", structured_response={"total": 1}
    )
    assert reply_of(agent)[1] == {"total": 1}


def test_the_call_that_carries_an_answer_is_none():
    messages = pytest.importorskip("langchain_core.messages")
    failed, answer = ({"name": "Weather", "args": {"city": "Paris"}, "id": id_} for id_ in "23")
    block = {"type": "tool_use", "id": "3", "name": "Weather", "input": {"city": "Paris"}}
    state = {
        "messages": [
            messages.AIMessage("", tool_calls=[CALL]),
            messages.ToolMessage("rain", tool_call_id="1"),
            messages.AIMessage("", tool_calls=[failed]),
            messages.ToolMessage("Error", tool_call_id="2"),
            messages.AIMessage([block], tool_calls=[{**CALL, "id": "4"}, answer]),
            messages.ToolMessage("Returning structured response", tool_call_id="3"),
            messages.ToolMessage("rain", tool_call_id="4"),
        ],
        "structured_response": Weather("Paris"),
    }
    found = find_messages(state)
    saved = {**state, "messages": messages.messages_to_dict(state["messages"])}
    for thing in (list(found.items), saved):
        assert [call.name for call in read_calls(thing)] == ["weather", "weather"]
    assert found.reply.value == {"city": "Paris", "rain": True}
    assert [call["name"] for call in state["messages"][2].tool_calls] == ["Weather"]


def test_a_message_replaces_an_earlier_one_of_its_id():
    ai = pytest.importorskip("langchain_core.messages").AIMessage
    said = [
        ai("", tool_calls=[{**CALL, "args": {"city": city}}], id="a") for city in ("Rom", "Rome")
    ]
    found = find_messages([{"model": {"messages": [one]}} for one in said])
    assert [call.arguments for call in read_calls(found.items)] == [{"city": "Rome"}]


def test_the_result_of_a_run_knows_the_tool_that_carries_its_answer():
    ai = pytest.importorskip("pydantic_ai")
    agent = ai.Agent("test", output_type=ai.ToolOutput(Weather, name="tell"))
    agent.tool_plain(lambda city: "rain", name="weather")
    found = find_messages(agent.run_sync("?"))
    assert [call.name for call in read_calls(found.items)] == ["weather"]
    assert type(found.reply.value) is Weather


@pytest.mark.parametrize(
    "value",
    [
        "text", b"text", 1, None, [], {}, [1, 2], {"output": 1, "currency": "EUR"},
        {"messages": [{"role": "assistant", "content": "x"}]}, {"role": "assistant", "content": "x"},
        {"raw": "x", "parsed": {}, "parsing_error": None}, [{"messages": []}], {"messages": []},
        {"type": [], "ns": [], "data": 1}, {"ns": 1}, [["values", 1]], [[[], {}]], [[], []],
    ],
)  # fmt: skip
def test_plain_values_are_no_messages(value):
    assert find_messages(value) is None


@pytest.mark.parametrize(
    "thing",
    [
        {"role": "assistant", "content": TEXT},
        [{"role": "user", "content": "?"}, {"role": "assistant", "content": TEXT}],
        {"messages": [{"role": "assistant", "content": [{"type": "text", "text": TEXT}]}]},
        {"choices": [{"message": {"role": "assistant", "content": TEXT}}]},
        {"object": "response", "output": [{"type": "message", "content": [{"type": "output_text", "text": TEXT}]}]},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": TEXT}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": TEXT}]}, "finish_reason": "STOP"}]},
        {"type": "ai", "data": {"content": TEXT}},
    ],
)  # fmt: skip
def test_messages_as_json_are_read_where_they_are_asked_for(thing):
    assert read_messages(thing).reply.text == TEXT


def test_as_json_a_refusal_is_one_and_a_value_is_no_message():
    refusing = {"role": "assistant", "content": None, "refusal": "I can't help."}
    assert read_messages(refusing).reply.refused
    assert read_messages({"total": 1}) is None
    assert read_messages([{"role": "assistant", "content": "x"}, {"total": 1}]) is None


def test_a_stream_is_the_callers_fault():
    def stream():
        yield "a"
        yield "b"

    async def later():
        yield "a"

    for thing in (stream(), later(), iter("ab")):
        with pytest.raises(InputError, match="is a stream; collect it first"):
            find_messages(thing)
    schema = pytest.importorskip("llama_index.core.base.response.schema")
    for parts in (1, 2):
        response = schema.StreamingResponse(stream())
        for _ in range(parts):
            next(response.response_gen)
        with pytest.raises(InputError, match="has been read"):
            find_messages(response)
    response = schema.StreamingResponse(stream())
    assert str(response) == reply_of(response)[0] == "ab"
    with pytest.raises(InputError, match="await"):
        find_messages(schema.AsyncStreamingResponse(later()))
    ai = pytest.importorskip("pydantic_ai")
    for thing in (event := ai.PartStartEvent(index=0, part=ai.TextPart("a")), [event, event]):
        with pytest.raises(InputError, match="is part of a stream"):
            find_messages(thing)
