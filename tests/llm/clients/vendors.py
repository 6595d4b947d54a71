"""What the tests need to know of each vendor to play its server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from server import Play, Request, answer, chat

from llmeval_integrations.llm.loop import start, wait
from llmeval_integrations.llm.session import Session


@dataclass(frozen=True)
class Vendor:
    """One SDK that is asked, and its server's part."""

    package: str
    """The package without which it is skipped."""
    model: str
    """What `load_client` is given."""
    root: str
    """The path of the base_url."""
    path: str
    """Where the question arrives."""
    key: Callable[[Mapping[str, str]], str | None]
    """Finds the key in the headers of a request."""
    key_variable: str
    """Where the SDK looks for a key."""
    address_variable: str
    """Where it looks for the base_url."""
    said: Callable[..., Play]
    """Answers with a text; `cut=True` at the limit of tokens, `refused=True` not at all."""
    called: Callable[[str], Play]
    """Answers with a call of the tool "answer" with these arguments, in JSON."""
    way: Callable[[Any], str]
    """Tells from a request's body how the answer's form is asked for."""


def openai_said(
    text: str = "Paris", *, cut: bool = False, refused: bool = False, **more: Any
) -> Play:
    finish = "length" if cut else "stop"
    return chat(text, finish=finish, refusal="I may not" if refused else None, **more)


def anthropic_body(*content: Any, stop: str = "end_turn", usage: Any = None, **more: Any) -> Play:
    return answer(
        {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "answering-model",
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage or {"input_tokens": 11, "output_tokens": 7},
        },
        **more,
    )


def anthropic_said(
    text: str = "Paris", *, cut: bool = False, refused: bool = False, **more: Any
) -> Play:
    stop = "max_tokens" if cut else "refusal" if refused else "end_turn"
    return anthropic_body({"type": "text", "text": text}, stop=stop, **more)


def anthropic_called(arguments: str) -> Play:
    block = {"type": "tool_use", "id": "t1", "name": "answer", "input": _value(arguments)}
    return anthropic_body(block, stop="tool_use")


def google_body(*parts: Any, finish: str = "STOP", usage: Any = None, **more: Any) -> Play:
    return answer(
        {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
            ],
            "usageMetadata": usage or {"promptTokenCount": 11, "candidatesTokenCount": 7},
            "modelVersion": "answering-model",
        },
        **more,
    )


def google_said(
    text: str = "Paris", *, cut: bool = False, refused: bool = False, **more: Any
) -> Play:
    finish = "MAX_TOKENS" if cut else "SAFETY" if refused else "STOP"
    return google_body({"text": text}, finish=finish, **more)


def google_called(arguments: str) -> Play:
    return google_body({"functionCall": {"name": "answer", "args": _value(arguments)}})


def _value(text: str) -> Any:
    import json

    return json.loads(text)


def _bearer(headers: Mapping[str, str]) -> str | None:
    return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")


def _way(native: Callable[[Any], Any]) -> Callable[[Any], str]:
    def way(body: Any) -> str:
        if native(body):
            return "json_schema"
        return "tool" if "tools" in body else "json"

    return way


VENDORS = [
    Vendor(
        "openai",
        "openai:gpt-4o",
        "/v1",
        "/v1/chat/completions",
        _bearer,
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        openai_said,
        lambda arguments: chat(arguments, tool="answer"),
        _way(lambda body: "response_format" in body),
    ),
    Vendor(
        "anthropic",
        "anthropic:claude-sonnet-5",
        "",
        "/v1/messages",
        _bearer,
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        anthropic_said,
        anthropic_called,
        _way(lambda body: "output_config" in body),
    ),
    Vendor(
        "google.genai",
        "google:gemini-3-flash",
        "",
        "/models/gemini-3-flash:generateContent",
        lambda headers: headers.get("x-goog-api-key"),
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        google_said,
        google_called,
        _way(lambda body: "responseJsonSchema" in body["generationConfig"]),
    ),
]


def keys(vendor: Vendor, requests: list[Request]) -> set[str | None]:
    """Collect the keys that were sent."""
    return {vendor.key(request.headers) for request in requests}


def ask_client(client: Any, wanted: Any) -> Any:
    """Ask a client as a judge does, with the retries between; gives the reply."""
    return wait(start(Session().reply(client, wanted)))
