"""What applications hand over: the model's last reply, its parsed answer, and its calls."""

import pytest

from llmeval_integrations import InputError
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.messages.reading import find_messages, read_messages
from llmeval_integrations.tool_calls.read import read_calls

TEXT = '{"total": 12.5}'
CALL = {"name": "weather", "args": {"city": "Paris"}, "id": "1"}


def reply_of(thing):
    reply = find_messages(thing).reply
    return reply.text, None if reply.value is MISSING else reply.value, reply.refused


def langchain_things():
    messages = pytest.importorskip("langchain_core.messages")
    outputs = pytest.importorskip("langchain_core.outputs")
    ai, human = messages.AIMessage, messages.HumanMessage("How much?")
    chunks = [messages.AIMessageChunk(part, id="1") for part in (TEXT[:5], TEXT[5:])]
    answered = [human, ai("", tool_calls=[CALL]), messages.ToolMessage("rain", tool_call_id="1")]
    return {
        "message": ai(TEXT),
        "blocks": ai([{"type": "text", "text": TEXT[:4]}, {"type": "thinking"}, TEXT[4:]]),
        "list": [human, ai(TEXT)],
        "tuple": (human, ai(TEXT)),
        "a question behind it": [ai(TEXT), human],
        "chunks": chunks,
        "generation": outputs.Generation(text=TEXT),
        "chat generation": outputs.ChatGeneration(message=ai(TEXT)),
        "result of a model": outputs.LLMResult(generations=[[outputs.Generation(text=TEXT)]]),
        "result of a chat": outputs.ChatResult(generations=[outputs.ChatGeneration(message=ai(TEXT))]),
        "state": {"messages": [*answered, ai(TEXT)], "remaining_steps": 5},
        "values": [{"messages": [human]}, {"messages": [*answered, ai(TEXT)]}],
        "updates": [{"agent": {"messages": answered[1:2]}}, {"tools": {"messages": answered[2:]}}, {"agent": {"messages": [ai(TEXT)]}}],
        "streamed messages": [(chunk, {"langgraph_node": "agent"}) for chunk in chunks],
    }  # fmt: skip


def llama_index_things():
    llms = pytest.importorskip("llama_index.core.llms")
    schema = pytest.importorskip("llama_index.core.base.response.schema")
    workflow = pytest.importorskip("llama_index.core.agent.workflow")
    message = llms.ChatMessage(role="assistant", content=TEXT)
    return {
        "message": message,
        "chat": llms.ChatResponse(message=message),
        "completion": llms.CompletionResponse(text=TEXT),
        "response": schema.Response(TEXT),
        "stream": schema.StreamingResponse(part for part in (TEXT[:3], TEXT[3:])),
        "agent": workflow.AgentOutput(response=message, current_agent_name="a"),
    }


def openai_things():
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    message = {"role": "assistant", "content": TEXT}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    head = {"id": "1", "created": 1, "model": "m"}
    parts = [{"index": 0, "delta": {"content": part}} for part in (TEXT[:3], TEXT[3:])]
    chunk = {**head, "object": "chat.completion.chunk"}
    said = {"type": "message", "id": "1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": TEXT, "annotations": []}]}  # fmt: skip
    return {
        "completion": chat.ChatCompletion.model_validate({**head, "object": "chat.completion", "choices": [choice]}),
        "message": chat.ChatCompletionMessage.model_validate(message),
        "chunks": [chat.ChatCompletionChunk.model_validate({**chunk, "choices": [part]}) for part in parts],
        "response": responses.Response.model_validate({"id": "1", "created_at": 1, "model": "m", "object": "response", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "output": [said]}),
    }  # fmt: skip


def anthropic_message(text=TEXT, reason="end_turn"):
    types = pytest.importorskip("anthropic.types")
    head = {"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    blocks = [{"type": "text", "text": text}]
    return types.Message.model_validate(
        {**head, "stop_reason": reason, "usage": usage, "content": blocks}
    )


def google_response(**candidate):
    types = pytest.importorskip("google.genai.types")
    return types.GenerateContentResponse.model_validate({"candidates": [candidate]})


def google_things():
    parts = [{"text": "I think.", "thought": True}, {"text": TEXT}]
    content = {"role": "model", "parts": parts}
    return {"response": google_response(content=content, finish_reason="STOP")}


@pytest.mark.parametrize(
    "things",
    [langchain_things, llama_index_things, openai_things, lambda: {"message": anthropic_message()}, google_things],
    ids=["LangChain", "LlamaIndex", "OpenAI", "Anthropic", "Google"],
)  # fmt: skip
def test_the_text_of_the_last_reply_is_read(things):
    for shape, thing in things().items():
        assert reply_of(thing) == (TEXT, None, False), shape


def test_a_parsed_answer_is_the_answer():
    messages = pytest.importorskip("langchain_core.messages")
    raw = messages.AIMessage("So:")
    parsed = {"raw": raw, "parsed": {"total": 1}, "parsing_error": None}
    assert reply_of(parsed) == ("So:", {"total": 1}, False)
    assert reply_of({**parsed, "parsed": None}) == ("So:", None, False)
    assert reply_of({"messages": [raw], "structured_response": {"total": 1}})[1] == {"total": 1}
    updates = [
        {"agent": {"messages": [raw]}},
        {"answer": {"messages": [raw], "structured_response": 1}},
    ]
    assert reply_of(updates)[1] == 1


def test_the_parsed_answer_of_llama_index():
    pydantic = pytest.importorskip("pydantic")
    schema = pytest.importorskip("llama_index.core.base.response.schema")
    workflow = pytest.importorskip("llama_index.core.agent.workflow")
    llms = pytest.importorskip("llama_index.core.llms")

    class Total(pydantic.BaseModel):
        total: int

    assert reply_of(schema.PydanticResponse(Total(total=1)))[1] == Total(total=1)
    prose = llms.ChatMessage(role="assistant", content="It is 1.")
    agent = workflow.AgentOutput(
        response=prose, current_agent_name="a", structured_response={"total": 1}
    )
    assert reply_of(agent)[1] == {"total": 1}


def test_the_call_that_carries_an_answer_is_none():
    messages = pytest.importorskip("langchain_core.messages")
    answer = {"name": "Weather", "args": {"city": "Paris", "rain": True}, "id": "2"}
    state = {
        "messages": [
            messages.AIMessage("", tool_calls=[CALL]),
            messages.ToolMessage("rain", tool_call_id="1"),
            messages.AIMessage("", tool_calls=[answer]),
            messages.ToolMessage("Returning structured response", tool_call_id="2"),
        ],
        "structured_response": {"city": "Paris", "rain": True},
    }
    found = find_messages(state)
    assert [call.name for call in read_calls(list(found.items))] == ["weather"]
    assert [call["name"] for call in state["messages"][2].tool_calls] == ["Weather"]


def test_refusals():
    messages = pytest.importorskip("langchain_core.messages")
    chat = pytest.importorskip("openai.types.chat")
    refusing = {"role": "assistant", "content": None, "refusal": "I can't help."}
    for thing in (
        chat.ChatCompletionMessage.model_validate(refusing),
        messages.AIMessage("", additional_kwargs={"refusal": "I can't help."}),
        messages.AIMessage([{"type": "refusal", "refusal": "I can't help."}]),
        anthropic_message("", reason="refusal"),
        google_response(finish_reason="SAFETY"),
    ):
        assert reply_of(thing) == ("", None, True), thing
    assert read_messages(refusing).reply.refused


@pytest.mark.parametrize(
    "value",
    [
        "text", b"text", 1, None, [], {}, [1, 2], {"output": 1, "currency": "EUR"},
        {"messages": [{"role": "assistant", "content": "x"}]}, {"role": "assistant", "content": "x"},
        {"raw": "x", "parsed": {}, "parsing_error": None}, [{"messages": []}], {"messages": []},
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


def test_values_as_json_are_none():
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
