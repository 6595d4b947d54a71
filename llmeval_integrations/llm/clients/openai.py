"""OpenAI's models, Azure's, and those of all servers that speak OpenAI's chat completions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final

from llmeval_integrations.llm.config import NO_KEY
from llmeval_integrations.llm.forms import chat_message, in_words, openai_form, read_chat
from llmeval_integrations.llm.messages import Output, Request
from llmeval_integrations.llm.reply import Reply
from llmeval_integrations.llm.stainless_client import StainlessClient

_REASONING: Final = re.compile(r"(o\d|gpt-([5-9]|\d\d))(?!.*chat)")


class OpenAIClient(StainlessClient):
    """A model behind OpenAI's chat completions.

    On the platform "openai" a model whose name begins with o and a digit or with gpt-5 or higher,
    and does not contain "chat", reasons: its system messages go out with the role developer, its
    limit of tokens, which counts the reasoning, as max_completion_tokens, and no temperature. A
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

    def key(self) -> str | None:
        if self.config.platform != "openai":
            return self.config.key() or NO_KEY
        return super().key() or (NO_KEY if self.server() else None)

    def arguments(
        self, request: Request, output: Output, without: Collection[str]
    ) -> dict[str, Any]:
        name = self.config.name.removeprefix("ft:").rpartition("/")[2]
        reasons = self.config.platform == "openai" and bool(_REASONING.match(name))
        messages = [chat_message(message) for message in in_words(request, output)]
        for message in messages if reasons else ():
            message["role"] = message["role"].replace("system", "developer")
        is_new = reasons or "max_tokens" in without
        return self.with_options(
            {
                "model": self.config.name,
                "messages": messages,
                "temperature": None if reasons else request.temperature,
                "max_completion_tokens" if is_new else "max_tokens": request.max_tokens,
                **openai_form(request, output),
            }
        )

    def read(self, response: Any, output: Output) -> Reply:
        return read_chat(response, self.config.name, output)
