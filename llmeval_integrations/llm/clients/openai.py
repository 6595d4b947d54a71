"""OpenAI's models, Azure's, and those of all servers that speak OpenAI's chat completions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final

from llmeval_integrations.llm.config import NO_KEY
from llmeval_integrations.llm.forms import in_words, openai_form
from llmeval_integrations.llm.messages import Message, Output, Request
from llmeval_integrations.llm.reply import Reply, finish_of, text_or_calls, usage_of
from llmeval_integrations.llm.stainless_client import StainlessClient, chat_message

_REASONING: Final = re.compile(r"(o\d|gpt-([5-9]|\d\d))(?!.*chat)")


class OpenAIClient(StainlessClient):
    """A model behind OpenAI's chat completions.

    On the platform "openai" a model whose name begins with o and a digit or with gpt-5 or higher,
    and does not contain "chat", reasons: its system messages go out with the role developer, its
    limit of tokens, which counts the thinking, as max_completion_tokens, and no temperature. A
    temperature or max_tokens that another model's server refuses is learned from its answer.

    Servers of the other platforms get no key from the environment.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {
        "openai": None,
        "ollama": "http://localhost:11434/v1",
        "vllm": "http://localhost:8000/v1",
        "llama.cpp": "http://localhost:8080/v1",
    }
    takes = "openai"
    example = "gpt-5-mini"
    endpoint = "chat.completions"
    declared = "resources.chat.Completions.create"
    plain = "AsyncOpenAI"
    key_variables = ("OPENAI_API_KEY",)
    address_variables = ("OPENAI_BASE_URL",)
    settings: ClassVar[dict[str, str]] = {
        "api_key": "api_key",
        "organization": "organization",
        "project": "project",
        "base_url": "base_url",
        "default_headers": "_custom_headers",
        "default_query": "_custom_query",
        "api_version": "_api_version",
        "azure_ad_token": "_azure_ad_token",
        "azure_ad_token_provider": "_azure_ad_token_provider",
    }

    @property
    def reasons(self) -> bool:
        """Whether the model's name is that of one of OpenAI's reasoning models."""
        name = self.config.name.removeprefix("ft:").rpartition("/")[2]
        return self.config.platform == "openai" and bool(_REASONING.match(name))

    def key(self) -> str | None:
        if self.config.platform != "openai":
            return self.config.key() or NO_KEY
        return super().key() or (NO_KEY if self.server() else None)

    def arguments(
        self, request: Request, output: Output, without: Collection[str]
    ) -> dict[str, Any]:
        is_new = self.reasons or "max_tokens" in without
        return self.completed(
            {
                "model": self.config.name,
                "messages": [self._message(message) for message in in_words(request, output)],
                "temperature": None if self.reasons else self.temperature(request, without),
                "max_completion_tokens" if is_new else "max_tokens": self.max_tokens(request),
                **openai_form(request, output),
            }
        )

    def _message(self, message: Message) -> Mapping[str, Any]:
        is_developers = self.reasons and message.role == "system"
        return {**chat_message(message), **({"role": "developer"} if is_developers else {})}

    def read(self, response: Any, output: Output) -> Reply:
        choice = response["choices"][0]
        message = choice["message"]
        made = message.get("tool_calls") or ()
        # a custom tool of somebody's own is no function
        calls = [call["function"]["arguments"] for call in made if call.get("type") != "custom"]
        refusal = message.get("refusal")
        content = message.get("content") or ""
        if isinstance(content, list):  # some servers send it in parts, the thinking beside it
            content = "".join(part["text"] for part in content if part["type"] == "text")
        return Reply(
            text=refusal or text_or_calls(content, calls),
            finish="refused" if refusal else finish_of(choice.get("finish_reason")),
            usage=usage_of(response.get("usage")),
            model=response.get("model") or self.config.name,
            output=output,
        )
