"""What the tests need to know of each client to play its server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from server import Play, Request, answer, chat

from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.loop import start, wait
from llmeval_integrations.llm.session import Session

KEY = "sk-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["Pass", "Fail"]}},
    "required": ["verdict"],
}
PASSED = '{"verdict": "Pass"}'
VERDICT = json.dumps({"reasoning": "It is.", "verdict": "Pass", "confidence": "High"})


@dataclass(frozen=True)
class Vendor:
    """One client, and its server's part."""

    name: str
    package: str
    """The package without which it is skipped."""
    model: str
    """What `load_client` is given; the class of a framework's model."""
    root: str
    """The path of the base_url."""
    path: str
    """Where the question arrives."""
    said: Callable[..., Play]
    """Answers with a text; `cut=True` at the limit of tokens, `refused=True` not at all."""
    called: Callable[..., Play]
    """Answers with calls of the tool "answer" with these arguments, in JSON."""
    form: str
    """What in the request's body asks for the vendor's own structured output."""
    key_variable: str = "OPENAI_API_KEY"
    address_variable: str = "OPENAI_BASE_URL"

    @property
    def calls_tools(self) -> bool:
        """Whether the client asks for a form by a tool."""
        return self.name != "llama_index"

    @property
    def is_framework(self) -> bool:
        return ":" not in self.model

    def load(self, url: str, **options: Any) -> Any:
        address = options.pop("base_url", url + self.root)
        fields = {"retries": 0, **options}
        if not self.is_framework:
            return load_client(self.model, **{"base_url": address, "api_key": KEY, **fields})
        own = {"api_key": KEY, "max_retries": 0, **fields.pop("model", {})}
        if self.name == "llama_index":
            own = {"api_base": address, "is_chat_model": True, **own}
        else:
            own = {"base_url": address, **own}
        kind = getattr(import_module(self.package), self.model)
        return load_client(kind(**{"model": "gpt-4o", **own}), **fields)

    def way(self, body: Any) -> str:
        """Tell from a request's body how the answer's form is asked for."""
        if self.form in body or self.form in body.get("generationConfig", ()):
            return "json_schema"
        return "tool" if "tools" in body else "json"


def openai_said(
    text: str = "Paris", *, cut: bool = False, refused: bool = False, **more: Any
) -> Play:
    finish = "length" if cut else "stop"
    return chat(text, finish=finish, refusal="I may not" if refused else None, **more)


def openai_called(*calls: Any, content: str | None = None) -> Play:
    return chat(content, calls=calls, finish="tool_calls")


def anthropic_body(*content: Any, stop: Any = "end_turn", usage: Any = None, **more: Any) -> Play:
    about = {"id": "m1", "type": "message", "role": "assistant", "model": "answering-model"}
    used = usage or {"input_tokens": 11, "output_tokens": 7}
    end = {"stop_reason": stop, "stop_sequence": None}
    return answer({**about, "content": content, **end, "usage": used}, **more)


def anthropic_said(
    text: str = "Paris", *, cut: bool = False, refused: bool = False, **more: Any
) -> Play:
    stop = "max_tokens" if cut else "refusal" if refused else "end_turn"
    return anthropic_body({"type": "text", "text": text}, stop=stop, **more)


def anthropic_called(*calls: str) -> Play:
    blocks = [
        {"type": "tool_use", "id": f"t{number}", "name": "answer", "input": json.loads(call)}
        for number, call in enumerate(calls)
    ]
    return anthropic_body(*blocks, stop="tool_use")


def google_body(*parts: Any, finish: Any = "STOP", usage: Any = None, **more: Any) -> Play:
    said = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    used = usage or {"promptTokenCount": 11, "candidatesTokenCount": 7}
    about = {"usageMetadata": used, "modelVersion": "answering-model"}
    return answer({"candidates": [said], **about}, **more)


def google_said(
    text: str = "Paris", *, cut: bool = False, refused: bool = False, **more: Any
) -> Play:
    finish = "MAX_TOKENS" if cut else "SAFETY" if refused else "STOP"
    return google_body({"text": text}, finish=finish, **more)


def google_called(*calls: str) -> Play:
    return google_body(
        *({"functionCall": {"name": "answer", "args": json.loads(call)}} for call in calls)
    )


_OPENAI = ("/v1", "/v1/chat/completions", openai_said, openai_called, "response_format")
_GOOGLE = "/models/gemini-3-flash:generateContent"

VENDORS = [
    Vendor("openai", "openai", "openai:gpt-4o", *_OPENAI),
    Vendor(
        "anthropic", "anthropic", "anthropic:claude-sonnet-5", "", "/v1/messages",
        anthropic_said, anthropic_called, "output_config",
        "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
    ),
    Vendor(
        "google", "google.genai", "google:gemini-3-flash", "", _GOOGLE,
        google_said, google_called, "responseJsonSchema",
        "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL",
    ),
    Vendor("litellm", "litellm", "litellm:openai/gpt-4o", *_OPENAI),
    Vendor("langchain", "langchain_openai", "ChatOpenAI", *_OPENAI),
    Vendor("llama_index", "llama_index.llms.openai_like", "OpenAILike", *_OPENAI),
]  # fmt: skip
BY_NAME = {vendor.name: vendor for vendor in VENDORS}
SDKS = VENDORS[:3]
"""Those that stand on a vendor's own package."""


def key_of(headers: Mapping[str, str]) -> str | None:
    """Find the key in the headers of a request."""
    known = headers.get("x-api-key") or headers.get("x-goog-api-key")
    return known or headers.get("authorization", "").removeprefix("Bearer ")


def keys(requests: list[Request]) -> set[str | None]:
    """Collect the keys that were sent."""
    return {key_of(request.headers) for request in requests}


def ask_client(client: Any, wanted: Any) -> Any:
    """Ask a client as a judge does, with the retries between; gives the reply."""
    return wait(start(Session().reply(client, wanted)))
