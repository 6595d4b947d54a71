"""The objects in which libraries return a model's text."""

import pytest

TEXT = '{"total": 12.5}'
PARTS = TEXT[:3], TEXT[3:]
CALL = {"name": "weather", "args": {"city": "Paris"}, "id": "1"}


def langchain_things():
    messages = pytest.importorskip("langchain_core.messages")
    outputs = pytest.importorskip("langchain_core.outputs")
    types = pytest.importorskip("langgraph.types")
    ai, human = messages.AIMessage, messages.HumanMessage("How much?")
    chunks = [messages.AIMessageChunk(part, id="1") for part in (TEXT[:5], TEXT[5:])]
    streamed_whole = ai(TEXT), {"langgraph_node": "agent"}
    streamed = [(chunk, {"langgraph_node": "agent"}) for chunk in chunks]
    answered = [human, ai("", tool_calls=[CALL]), messages.ToolMessage("rain", tool_call_id="1")]
    return {
        "message": ai(TEXT),
        "blocks": ai([{"type": "text", "text": TEXT[:4]}, {"type": "thinking"}, TEXT[4:]]),
        "list": [human, ai(TEXT)],
        "tuple": (human, ai(TEXT)),
        "a question as a mapping": [{"role": "user", "content": "How much?"}, ai(TEXT)],
        "a state with one": {"messages": [{"role": "user", "content": "How much?"}, ai(TEXT)]},
        "a question behind it": [ai(TEXT), human],
        "chunks": chunks,
        "generation": outputs.Generation(text=TEXT),
        "chat generation": outputs.ChatGeneration(message=ai(TEXT)),
        "result of a model": outputs.LLMResult(generations=[[outputs.Generation(text=TEXT)]]),
        "result of a chat": outputs.ChatResult(generations=[outputs.ChatGeneration(message=ai(TEXT))]),
        "state": {"messages": [*answered, ai(TEXT)], "remaining_steps": 5},
        "values": [{"messages": [human]}, {"messages": [*answered, ai(TEXT)]}],
        "updates": [{"agent": {"messages": answered[1:2]}}, {"tools": {"messages": answered[2:]}}, {"agent": {"messages": [ai(TEXT)]}}],
        "an update": {"agent": {"messages": [ai(TEXT)]}},
        "a streamed message": streamed_whole,
        "streamed messages": streamed,
        "messages of subgraphs": [(("agent:1",), one) for one in streamed],
        "states of subgraphs": [((), {"messages": [ai(TEXT)]}), (("agent:1",), {"messages": [human]})],
        "several modes": [("messages", streamed[0]), ("values", {"messages": [human]}), ("updates", {"agent": {"messages": [human]}}), ("values", {"messages": [ai(TEXT)]})],
        "modes of subgraphs": [((), "values", {"messages": [ai(TEXT)]}), (("agent:1",), "values", {"messages": [human]})],
        "version 2": [{"type": "values", "ns": (), "data": {"messages": [human]}}, {"type": "values", "ns": (), "data": {"messages": [human, ai(TEXT)]}}],
        "a part of version 2": {"type": "messages", "ns": (), "data": streamed_whole},
        "a snapshot": types.StateSnapshot({"messages": [human, ai(TEXT)]}, (), {}, *[None] * 3, (), ()),
        "output of version 2": types.GraphOutput({"messages": [human, ai(TEXT)]}, ()),
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
        "stream": schema.StreamingResponse(part for part in PARTS),
        "agent": workflow.AgentOutput(response=message, current_agent_name="a"),
    }


def openai_things():
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    message = {"role": "assistant", "content": TEXT}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    head = {"id": "1", "created": 1, "model": "m"}
    said = {"type": "message", "id": "1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": TEXT, "annotations": []}]}  # fmt: skip
    return {
        "completion": chat.ChatCompletion.model_validate({**head, "object": "chat.completion", "choices": [choice]}),
        "message": chat.ChatCompletionMessage.model_validate(message),
        "response": responses.Response.model_validate({"id": "1", "created_at": 1, "model": "m", "object": "response", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "output": [said]}),
    }  # fmt: skip


def anthropic_message(text=TEXT, reason="end_turn"):
    types = pytest.importorskip("anthropic.types")
    head = {"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    blocks = [{"type": "text", "text": text}]
    ending = {"stop_reason": reason, "usage": usage}
    return types.Message.model_validate({**head, **ending, "content": blocks})


def google_response(**candidate):
    types = pytest.importorskip("google.genai.types")
    return types.GenerateContentResponse.model_validate({"candidates": [candidate]})


def google_things():
    parts = [{"text": "I think.", "thought": True}, {"text": TEXT}]
    content = {"role": "model", "parts": parts}
    halves = [{"role": "model", "parts": [{"text": part}]} for part in PARTS]
    return {
        "response": google_response(content=content, finish_reason="STOP"),
        "parts": [google_response(content=half) for half in halves],
    }


def pydantic_ai_things():
    ai = pytest.importorskip("pydantic_ai")
    asked = ai.ModelRequest([ai.UserPromptPart("How much?")])
    message = ai.ModelResponse([ai.ThinkingPart("Hm."), *map(ai.TextPart, PARTS)])
    answer = ai.ModelResponse([ai.ToolCallPart("final_result", TEXT)])
    return {
        "message": message,
        "list": [asked, message],
        "answer": [asked, answer],
        "result": ai.AgentRunResult(TEXT),
    }


def refusals():
    messages = pytest.importorskip("langchain_core.messages")
    chat = pytest.importorskip("openai.types.chat")
    refusing = {"role": "assistant", "content": None, "refusal": "I can't help."}
    return {
        "OpenAI": chat.ChatCompletionMessage.model_validate(refusing),
        "LangChain": messages.AIMessage("", additional_kwargs={"refusal": "I can't help."}),
        "a block": messages.AIMessage([{"type": "refusal", "refusal": "I can't help."}]),
        "Anthropic": anthropic_message("", reason="refusal"),
        "Google": google_response(finish_reason="SAFETY"),
    }


LIBRARIES = {
    "LangChain": langchain_things,
    "LlamaIndex": llama_index_things,
    "OpenAI": openai_things,
    "Anthropic": lambda: {"message": anthropic_message()},
    "Google": google_things,
    "Pydantic AI": pydantic_ai_things,
}
"""Functions that make the objects of a library, or skip the test where it is not there."""
