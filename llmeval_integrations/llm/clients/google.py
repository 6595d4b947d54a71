"""Google's models, by the Gemini API or Vertex AI."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import (
    ClientError,
    InvalidOptionError,
    JudgeError,
    MissingDependencyError,
)
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.config import LONGEST, NO_KEY, ClientConfig
from llmeval_integrations.llm.messages import Message, system_apart
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest, Output
from llmeval_integrations.llm.sdks.dialects import finish_of, usage_of
from llmeval_integrations.llm.sdks.http_problems import status_problem
from llmeval_integrations.llm.sdks.in_words import messages_in_words
from llmeval_integrations.llm.sdks.sdk_client import SdkClient

_OWN_HEADERS: Final = frozenset(
    ("content-type", "user-agent", "x-goog-api-client", "x-goog-api-key", "authorization")
)
"""Headers that google-genai sets by itself."""


class GoogleClient(SdkClient):
    """A model behind Google's generate_content.

    System messages go out together as `system_instruction`, and the assistant is called model.
    Further options are those of google-genai's GenerateContentConfig.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {"google": None}
    takes = "google"
    example = "gemini-3-flash"
    key_variables = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
    address_variables = ("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL")

    def __init__(self, config: ClientConfig, sdk: Any = None) -> None:
        super().__init__(config, sdk)
        self.package = _package()
        if config.options:
            self.check_options(self.package.types.GenerateContentConfig.model_fields)

    @classmethod
    def of(cls, thing: Any, **options: Any) -> SdkClient:
        if not isinstance(thing, _package().Client):
            raise InvalidOptionError(
                f"client={quote(thing)} cannot be asked; expected google.genai.Client"
            )
        cls.check_beside(thing, options)
        inner = getattr(thing, "_api_client", None)
        http = getattr(inner, "_http_options", None)
        fields = {
            "platform": "google",
            "base_url": getattr(http, "base_url", None),
            "api_key": getattr(inner, "api_key", None) or NO_KEY,
        }
        waited = getattr(http, "timeout", None)  # milliseconds
        if waited:
            fields["timeout"] = min(waited / 1000, LONGEST)
        return cls(ClientConfig.of(**{**fields, **options}), thing)

    def key(self) -> str | None:
        return super().key() or (NO_KEY if self.config.base_url else None)

    def sent_by_given(self) -> dict[str, Any]:
        http = getattr(getattr(self.given, "_api_client", None), "_http_options", None)
        headers = getattr(http, "headers", None) or {}
        own = {name: value for name, value in headers.items() if name.lower() not in _OWN_HEADERS}
        return {"default_headers": own} if own else {}

    def make(self, *, asynchronous: bool) -> Any:  # noqa: ARG002 - one object serves both
        if self.given is not None:
            return self.given
        key, options = self.key(), {"base_url": self.config.base_url}
        try:
            return self.package.Client(api_key=key, http_options=options)
        except ValueError as error:
            raise ClientError(str(error), kind="authentication") from error  # there is no key

    async def close(self, sdk: Any) -> None:
        if sdk is not self.given:
            await sdk.aio.aclose()

    def method(self, sdk: Any, *, asynchronous: bool) -> Callable[..., Any]:
        # The methods do not keep their client alive, and it closes its connections as it goes.
        async def awaited(**arguments: Any) -> Any:
            return await sdk.aio.models.generate_content(**arguments)

        return awaited if asynchronous else sdk.models.generate_content

    def arguments(self, request: JudgeRequest, output: Output) -> dict[str, Any]:
        messages = messages_in_words(request) if output == "json" else request.messages
        system, conversation = system_apart(messages)
        config = {
            "system_instruction": system or None,
            "temperature": self.temperature(request),
            "max_output_tokens": self.max_tokens(request),
            "http_options": {
                "timeout": max(1, round(self.config.timeout * 1000)),  # milliseconds
                "retry_options": {"attempts": 1},
            },
            **_form(request, output),
        }
        return {
            "model": self.config.name,
            "contents": [_content(message) for message in conversation],
            "config": self.completed(config),
        }

    def read(self, response: Any, output: Output) -> JudgeReply:
        candidates = response.candidates
        usage, model = usage_of(response.usage_metadata), response.model_version or self.config.name
        if not candidates and response.prompt_feedback is not None:
            reason = _name(response.prompt_feedback.block_reason)
            return JudgeReply(reason, "refused", usage, model, output)
        candidate = candidates[0]
        finish = finish_of(candidate.finish_reason)
        text = "".join(map(_text, (candidate.content and candidate.content.parts) or ()))
        if finish == "refused":
            text = text or candidate.finish_message or _name(candidate.finish_reason)
        return JudgeReply(text, finish, usage, model, output)

    def problem(self, error: Exception) -> JudgeError | None:
        errors = self.package.errors
        if isinstance(error, errors.APIError):
            headers = getattr(error.response, "headers", None)
            return status_problem(error.code, error.details, headers)
        if type(error).__name__ == "UnknownApiResponseError":  # older versions lack it
            return ClientError(f"the response is not JSON: {error}", kind="garbled")
        if type(error).__module__.startswith("google.auth"):
            return ClientError(str(error), kind="authentication")
        return None


def _package() -> Any:
    try:
        from google import genai
    except ImportError as error:
        raise MissingDependencyError.of("google-genai", "google") from error
    return genai


def _content(message: Message) -> dict[str, Any]:
    parts = (message.content,) if isinstance(message.content, str) else message.content
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [{"text": part} for part in parts]}


def _form(request: JudgeRequest, output: Output) -> dict[str, Any]:
    if request.schema is None or output not in ("json_schema", "tool"):
        return {}
    if output == "json_schema":
        return {
            "response_mime_type": "application/json",
            "response_json_schema": request.schema,
        }
    name = request.schema_name
    function = {"name": name, "parameters_json_schema": request.schema}
    choice = {"mode": "ANY", "allowed_function_names": [name]}
    return {
        "tools": [{"function_declarations": [function]}],
        "tool_config": {"function_calling_config": choice},
        "automatic_function_calling": {"disable": True},
    }


def _text(part: Any) -> str:
    """Return the text of a part of the reply; none for the model's thinking."""
    if part.function_call is not None:
        return json.dumps(part.function_call.args, ensure_ascii=False)
    return "" if part.thought else part.text or ""


def _name(reason: Any) -> str:
    return str(getattr(reason, "value", reason))
