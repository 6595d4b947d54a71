"""Anthropic's models."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import ClientError, JudgeError
from llmeval_integrations.llm.config import NO_KEY
from llmeval_integrations.llm.messages import system_apart
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest, Output
from llmeval_integrations.llm.sdks.dialects import finish_of, usage_of
from llmeval_integrations.llm.sdks.in_words import messages_in_words
from llmeval_integrations.llm.sdks.stainless_client import StainlessClient, said

MAX_TOKENS: Final = 4096
"""The longest reply where nobody says otherwise; the API wants a limit."""


class AnthropicClient(StainlessClient):
    """A model behind Anthropic's messages.

    System messages go out together as `system`. From version 1 on the package, and with it the
    API, has no temperature, and none is sent; with an older one it is left out for a model that
    refuses it. A reply without `max_tokens` ends at 4,096 tokens.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {"anthropic": None}
    takes = "anthropic"
    example = "claude-sonnet-5"
    declared = "resources.Messages.create"
    key_variables = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    address_variables = ("ANTHROPIC_BASE_URL",)
    twins = (("Anthropic", "AsyncAnthropic"),)
    settings: ClassVar[dict[str, str]] = {
        "api_key": "api_key",
        "auth_token": "auth_token",
        "base_url": "base_url",
        "default_headers": "_custom_headers",
        "default_query": "_custom_query",
    }
    unshared = ("credentials", "_middleware")

    def key(self) -> str | None:
        known = self.config.key() or os.environ.get("ANTHROPIC_API_KEY")
        is_free = self.config.base_url and "ANTHROPIC_AUTH_TOKEN" not in os.environ
        return known or (NO_KEY if is_free else None)

    def method(self, sdk: Any, *, asynchronous: bool) -> Callable[..., Any]:  # noqa: ARG002 - twins
        return sdk.messages.create  # type: ignore[no-any-return]

    def arguments(self, request: JudgeRequest, output: Output) -> dict[str, Any]:
        messages = messages_in_words(request) if output == "json" else request.messages
        system, conversation = system_apart(messages)
        has_temperature = "temperature" in self.parameters
        return self.completed(
            {
                "model": self.config.name,
                "max_tokens": self.max_tokens(request) or MAX_TOKENS,
                "system": system or None,
                "messages": [*map(said, conversation)],
                "temperature": self.temperature(request) if has_temperature else None,
                **self._form(request, output),
            }
        )

    def _form(self, request: JudgeRequest, output: Output) -> dict[str, Any]:
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

    def read(self, response: Any, output: Output) -> JudgeReply:
        finish = finish_of(response.stop_reason)
        text = "".join(map(_text, response.content))
        if finish == "refused":
            details = getattr(response, "stop_details", None)
            text = text or getattr(details, "explanation", None) or ""
        model = response.model or self.config.name
        return JudgeReply(text, finish, usage_of(response.usage), model, output)

    def problem(self, error: Exception) -> JudgeError | None:
        problem = super().problem(error)
        has_no_key = isinstance(error, TypeError) and self.key() is None
        if problem is None and (has_no_key or isinstance(error, self.package.AnthropicError)):
            return ClientError(str(error), kind="authentication")
        if isinstance(problem, ClientError) and problem.kind == "bad_request":
            # The API does not name the parameter that it refuses, and models are at odds on one.
            problem.parameter = "temperature" if "temperature" in self.parameters else None
        return problem


def _text(block: Any) -> str:
    """Return the text of a part of the reply; none for the model's thinking."""
    if block.type == "tool_use":
        return json.dumps(block.input, ensure_ascii=False)
    return str(block.text) if block.type == "text" else ""
