"""OpenAI's models, Azure's, and those of all servers that speak OpenAI's chat completions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from types import MethodType
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import ClientError, JudgeError
from llmeval_integrations.llm.config import NO_KEY
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.reply import JudgeReply, text_or_calls
from llmeval_integrations.llm.request import JudgeRequest, Output
from llmeval_integrations.llm.sdks.dialects import finish_of, usage_of
from llmeval_integrations.llm.sdks.in_words import messages_in_words
from llmeval_integrations.llm.sdks.openai_form import openai_form
from llmeval_integrations.llm.sdks.stainless_client import StainlessClient, said

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
    declared = "resources.chat.Completions.create"
    key_variables = ("OPENAI_API_KEY",)
    address_variables = ("OPENAI_BASE_URL",)
    twins = (("OpenAI", "AsyncOpenAI"), ("AzureOpenAI", "AsyncAzureOpenAI"))
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
    unshared = ("_api_key_provider", "_provider", "workload_identity")

    @property
    def reasons(self) -> bool:
        """Whether the model's name is that of one of OpenAI's reasoning models."""
        name = self.config.name.removeprefix("ft:").rpartition("/")[2]
        return self.config.platform == "openai" and bool(_REASONING.match(name))

    def key(self) -> str | None:
        if self.config.platform != "openai":
            return self.config.key() or NO_KEY
        return super().key() or (NO_KEY if self.config.base_url else None)

    def method(self, sdk: Any, *, asynchronous: bool) -> Callable[..., Any]:  # noqa: ARG002 - twins
        create = sdk.chat.completions.create
        return partial(_post, sdk) if self._is_its_own(create) else create

    def _is_its_own(self, create: Any) -> bool:
        """Tell whether this is the package's function, and not what a tracer put in its place."""
        return type(create) is MethodType and create.__code__.co_filename.startswith(self._folder)

    @cached_property
    def _folder(self) -> str:
        return str(Path(self.package.__file__).parent)

    def arguments(self, request: JudgeRequest, output: Output) -> dict[str, Any]:
        messages = messages_in_words(request) if output == "json" else request.messages
        arguments = {
            "model": self.config.name,
            "messages": [*map(self._said, messages)],
            "temperature": None if self.reasons else self.temperature(request),
            self._limit(request): self.max_tokens(request),
            **openai_form(request, output),
        }
        return self.completed(arguments)

    def _said(self, message: Message) -> dict[str, Any]:
        is_developers = self.reasons and message.role == "system"
        return {**said(message), **({"role": "developer"} if is_developers else {})}

    def _limit(self, request: JudgeRequest) -> str:
        is_new = self.reasons or "max_tokens" in request.without
        return "max_completion_tokens" if is_new else "max_tokens"

    def read(self, response: Any, output: Output) -> JudgeReply:
        given = response if isinstance(response, dict) else response.to_dict()
        choice = given["choices"][0]
        message = choice["message"]
        calls = _calls(message.get("tool_calls") or ())
        refusal = message.get("refusal")
        return JudgeReply(
            text=refusal or text_or_calls(_text(message.get("content")), calls),
            finish="refused" if refusal else finish_of(choice.get("finish_reason")),
            usage=usage_of(given.get("usage")),
            model=given.get("model") or self.config.name,
            output=output,
        )

    def problem(self, error: Exception) -> JudgeError | None:
        problem = super().problem(error)
        if problem is None and isinstance(error, self.package.OpenAIError):
            return ClientError(str(error), kind="authentication")  # there is no key
        return problem


def _text(content: Any) -> Any:
    """Return the text of a content; some servers send it in parts, with the thinking beside it."""
    if not isinstance(content, list):
        return content or ""
    return "".join(part["text"] for part in content if part["type"] == "text")


def _calls(calls: Any) -> list[Any]:
    """Return the arguments of the calls of functions; a custom tool of somebody's own is none."""
    return [call["function"]["arguments"] for call in calls if call.get("type") != "custom"]


def _post(
    sdk: Any,
    *,
    extra_headers: Any = None,
    extra_query: Any = None,
    extra_body: Any = None,
    timeout: Any = None,
    **body: Any,
) -> Any:
    """Make the request that `create` makes; gives the response as the dict that it is.

    `create` walks request and response by their declared types, which takes 0.6 ms a call.
    """
    options = {
        "headers": extra_headers,
        "params": extra_query,
        "extra_json": extra_body,
        "timeout": timeout,
        "security": {"bearer_auth": True},
    }
    given = {name: value for name, value in options.items() if value is not None}
    return sdk.post("/chat/completions", cast_to=object, body=body, options=given)
