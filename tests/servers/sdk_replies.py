"""Three functions of SDKs, and what their APIs answer: texts, calls of a tool "pay", streams."""

import json

import pytest
from server import answer, chat
from vendors import anthropic_body

FUNCTIONS = {
    "chat": ("openai", "OpenAI", lambda sdk: sdk.chat.completions.create),
    "response": ("openai", "OpenAI", lambda sdk: sdk.responses.create),
    "message": ("anthropic", "Anthropic", lambda sdk: sdk.messages.create),
}


def make_client(name, server, kind=""):
    """Make the SDK's client of a function for a server; skip where the SDK is not installed."""
    package, client, _ = FUNCTIONS[name]
    path = "/v1" if package == "openai" else ""
    kind = getattr(pytest.importorskip(package), kind + client)
    return kind(base_url=server.url + path, api_key="sk-1", max_retries=0)


def chat_calls(*arguments):
    functions = [{"name": "pay", "arguments": text} for text in arguments]
    calls = [
        {"id": f"c{n}", "type": "function", "function": one} for n, one in enumerate(functions)
    ]
    return chat(None, calls=calls)


def response(*output, **more):
    about = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [*output]}
    about |= {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
    return answer({**about, **more})


def response_text(text):
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "i", "role": "assistant", "status": "completed"}
    return response({**item, "content": [part]})


def response_calls(*arguments):
    call = {"type": "function_call", "name": "pay", "status": "completed"}
    ids = [{"id": f"f{number}", "call_id": f"c{number}"} for number in range(len(arguments))]
    return response(*({**call, **one, "arguments": text} for one, text in zip(ids, arguments)))


def message_text(text):
    return anthropic_body({"type": "text", "text": text})


def message_calls(*arguments):
    inputs = enumerate(map(json.loads, arguments))
    calls = [{"type": "tool_use", "id": f"c{n}", "name": "pay", "input": one} for n, one in inputs]
    return anthropic_body({"type": "text", "text": ""}, *calls)


def pieces(text, size=7):
    return [text[start : start + size] for start in range(0, len(text), size)]


def events(bodies):
    """Write the events of a stream as servers send them."""
    lines = [f"event: {body['type']}\n" if "type" in body else "" for body in bodies]
    data = "".join(f"{line}data: {json.dumps(body)}\n\n" for line, body in zip(lines, bodies))
    return answer(data + "data: [DONE]\n\n", headers={"content-type": "text/event-stream"})


def chat_stream(*deltas):
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    return events([{**chunk, "choices": [choice]} for choice in choices])


def chat_text_stream(text):
    return chat_stream(*({"content": piece} for piece in pieces(text)))


def chat_call_stream(text):
    named = {"index": 0, "id": "c", "function": {"name": "pay", "arguments": ""}}
    further = [{"index": 0, "function": {"arguments": piece}} for piece in pieces(text)]
    return chat_stream(*({"tool_calls": [call]} for call in (named, *further)))


def response_stream(kind, text, *first):
    place = {"item_id": "i", "output_index": 0, "content_index": 0, "logprobs": []}
    deltas = [{"type": kind, "delta": piece, **place} for piece in pieces(text)]
    return events([{"sequence_number": 1, **one} for one in (*first, *deltas)])


def response_text_stream(text):
    return response_stream("response.output_text.delta", text)


def response_call_stream(text):
    item = {"type": "function_call", "name": "pay", "arguments": "", "call_id": "c", "id": "i"}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    return response_stream("response.function_call_arguments.delta", text, added)


def message_stream(text, block, kind, name):
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    deltas = [{"type": kind, name: piece} for piece in pieces(text)]
    deltas = [{"type": "content_block_delta", "index": 0, "delta": one} for one in deltas]
    return events([start, *deltas, {"type": "message_stop"}])


def message_text_stream(text):
    return message_stream(text, {"type": "text", "text": ""}, "text_delta", "text")


def message_call_stream(text):
    block = {"type": "tool_use", "id": "t", "name": "pay", "input": {}}
    return message_stream(text, block, "input_json_delta", "partial_json")
