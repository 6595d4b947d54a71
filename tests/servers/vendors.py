"""What the tests need to know of each client to play its server."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest
from server import ModelServer, Play, answer, chat

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.client import load_client
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
    model: str  # what `load_client` gets, or the class of a framework's model
    root: str  # the path of the base_url
    path: str  # where the question arrives
    said: Callable[
        ..., Play
    ]  # a text; `cut=True` at the limit of tokens, `refused=True` not at all
    called: Callable[..., Play]  # calls of the tool "answer" with these arguments, in JSON
    form: str  # the part of a request's body that asks for the vendor's own structured output
    key_variable: str = "OPENAI_API_KEY"
    address_variable: str = "OPENAI_BASE_URL"

    @property
    def calls_tools(self) -> bool:
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
        if self.form in body or self.form in body.get("generationConfig", ()):
            return "json_schema"
        return "tool" if "tools" in body else "json"


def openai_said(text="Paris", *, cut=False, refused=False, **more):
    finish = "length" if cut else "stop"
    return chat(text, finish=finish, refusal="I may not" if refused else None, **more)


def openai_called(*calls):
    return chat(None, calls=calls, finish="tool_calls")


def anthropic_body(*content, stop="end_turn", usage=None, **more):
    about = {"id": "m1", "type": "message", "role": "assistant", "model": "answering-model"}
    used = usage or {"input_tokens": 11, "output_tokens": 7}
    end = {"stop_reason": stop, "stop_sequence": None}
    return answer({**about, "content": content, **end, "usage": used}, **more)


def anthropic_said(text="Paris", *, cut=False, refused=False, **more):
    stop = "max_tokens" if cut else "refusal" if refused else "end_turn"
    return anthropic_body({"type": "text", "text": text}, stop=stop, **more)


def anthropic_called(*calls):
    blocks = [
        {"type": "tool_use", "id": f"t{number}", "name": "answer", "input": json.loads(call)}
        for number, call in enumerate(calls)
    ]
    return anthropic_body(*blocks, stop="tool_use")


def google_body(*parts, finish="STOP", usage=None, **more):
    said = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    used = usage or {"promptTokenCount": 11, "candidatesTokenCount": 7}
    about = {"usageMetadata": used, "modelVersion": "answering-model"}
    return answer({"candidates": [said], **about}, **more)


def google_said(text="Paris", *, cut=False, refused=False, **more):
    finish = "MAX_TOKENS" if cut else "SAFETY" if refused else "STOP"
    return google_body({"text": text}, finish=finish, **more)


def google_called(*calls):
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


def key_of(request):
    """Find the key in the headers of a request."""
    known = request.headers.get("x-api-key") or request.headers.get("x-goog-api-key")
    return known or request.headers.get("authorization", "").removeprefix("Bearer ")


def ask_client(client, wanted):
    """Ask a client as a judge does, with the retries between."""
    return wait(start(Session().reply(client, wanted)))


@dataclass
class Case:
    """One client before its server."""

    vendor: Vendor
    server: ModelServer

    def client(self, **options):
        return self.vendor.load(self.server.url, **options)

    def error(self, client, wanted):
        with pytest.raises(ClientError) as caught:
            ask_client(client, wanted)
        return caught.value
