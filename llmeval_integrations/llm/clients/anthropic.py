"""Anthropic's models."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import ClientError, JudgeError
from llmeval_integrations.llm.config import NO_KEY
from llmeval_integrations.llm.forms import in_words
from llmeval_integrations.llm.messages import Message, Output, Request, system_apart
from llmeval_integrations.llm.reply import Reply, finish_of, usage_of
from llmeval_integrations.llm.stainless_client import StainlessClient, chat_message

MAX_TOKENS: Final = 4096
"""The longest reply where nobody says otherwise; the API wants a limit."""


_SHORTEST_SHARED: Final = 4_096
"""The characters from which on a prefix has the 1,024 tokens that Anthropic keeps."""

_EPHEMERAL: Final = {"type": "ephemeral"}


class AnthropicClient(StainlessClient):
    """A model behind Anthropic's messages.

    System messages go out together as `system`. From version 1 on the package, and with it the
    API, has no temperature, and none is sent; with an older one it is left out for a model that
    refuses it. A reply without `max_tokens` ends at 4,096 tokens.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {"anthropic": None}
    takes = "anthropic"
    example = "claude-sonnet-5"
    endpoint = "messages"
    declared = "resources.Messages.create"
    plain = "AsyncAnthropic"
    key_variables = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    address_variables = ("ANTHROPIC_BASE_URL",)
    settings: ClassVar[dict[str, str]] = {
        "api_key": "api_key",
        "auth_token": "auth_token",
        "base_url": "base_url",
        "default_headers": "_custom_headers",
        "default_query": "_custom_query",
    }

    def key(self) -> str | None:
        known = self.config.key() or os.environ.get("ANTHROPIC_API_KEY")
        is_free = self.config.base_url and "ANTHROPIC_AUTH_TOKEN" not in os.environ
        return known or (NO_KEY if is_free else None)

    def check(self) -> None:
        if "ANTHROPIC_AUTH_TOKEN" not in os.environ:
            super().check()

    def arguments(
        self, request: Request, output: Output, without: Collection[str]
    ) -> dict[str, Any]:
        system, conversation = system_apart(in_words(request, output))
        messages = [_mark_shared(message, request) for message in conversation]
        has_temperature = "temperature" in self.parameters
        return self.completed(
            {
                "model": self.config.name,
                "max_tokens": self.max_tokens(request) or MAX_TOKENS,
                "system": system or None,
                "messages": messages,
                "temperature": self.temperature(request, without) if has_temperature else None,
                **self._form(request, output),
            }
        )

    def _form(self, request: Request, output: Output) -> dict[str, Any]:
        if request.schema is None or output not in ("json_schema", "tool"):
            return {}
        if output == "tool":
            name = request.schema_name
            return {
                "tools": [{"name": name, "input_schema": request.schema}],
                "tool_choice": {"type": "tool", "name": name, "disable_parallel_tool_use": True},
            }
        try:
            schema = self.package.transform_schema(request.schema)
        except (ValueError, AssertionError) as error:
            raise ClientError(f"no structured output: {error}", kind="bad_request") from error
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def read(self, response: Any, output: Output) -> Reply:
        finish = finish_of(response.get("stop_reason"))
        text = "".join(map(_text, response["content"]))
        if finish == "refused":
            details = response.get("stop_details") or {}
            text = text or details.get("explanation") or ""
        model = response.get("model") or self.config.name
        return Reply(text, finish, usage_of(response.get("usage")), model, output)

    def problem(self, error: Exception) -> JudgeError | None:
        problem = super().problem(error)
        has_no_key = isinstance(error, TypeError) and self.key() is None
        if problem is None and (has_no_key or isinstance(error, self.package.AnthropicError)):
            return ClientError(str(error), kind="authentication")
        if isinstance(problem, ClientError) and problem.kind == "bad_request":
            # The API does not name the parameter that it refuses, and models are at odds on one.
            problem.parameter = "temperature" if "temperature" in self.parameters else None
        return problem


def _mark_shared(message: Message, request: Request) -> Mapping[str, Any]:
    """Write a message; of a vote's draws, what they share is kept in Anthropic's cache.

    That is the material, up to the last of its marks. Writing it costs a quarter more, and reading
    it a tenth, so it pays from the second draw on. Below 1,024 tokens nothing is kept.
    """
    end = message.text.rfind(f"{request.fence}>") if request.fence and request.draw else -1
    if end < _SHORTEST_SHARED or not isinstance(message.content, str):
        return chat_message(message)
    end += len(request.fence) + 1
    shared = {"type": "text", "text": message.content[:end], "cache_control": _EPHEMERAL}
    rest = {"type": "text", "text": message.content[end:]}
    return {"role": message.role, "content": [shared, rest]}


def _text(block: Any) -> str:
    """Return the text of a part of the reply; none for the model's thinking."""
    if block["type"] == "tool_use":
        return json.dumps(block["input"], ensure_ascii=False)
    return str(block["text"]) if block["type"] == "text" else ""
