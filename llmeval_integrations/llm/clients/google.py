"""Google's models, by the Gemini API or Vertex AI."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from llmeval_integrations.llm.client import LONGEST, NO_KEY
from llmeval_integrations.llm.loop import in_thread
from llmeval_integrations.llm.messages import Image, Message, Output, Request, split_system
from llmeval_integrations.llm.reply import value_of
from llmeval_integrations.llm.sdk_client import Close, SdkClient


class GoogleClient(SdkClient):
    """A model behind Google's generate_content.

    System messages are sent together as `system_instruction`, and the assistant's role is "model".
    A caller's object is called in a thread. Options are fields of google-genai's
    GenerateContentConfig.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {"google": None}
    module = "google.genai"
    accepted = "google.genai.Client"
    key_variables = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
    address_variables = ("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL")

    def parameters(self) -> frozenset[str]:
        return frozenset(self.package.types.GenerateContentConfig.model_fields)

    @classmethod
    def describe(cls, thing: Any) -> dict[str, Any] | None:
        if not isinstance(thing, cls.load_package().Client):
            return None
        inner = value_of(thing, "_api_client")
        http = value_of(inner, "_http_options")
        return {
            "platform": "google",
            "base_url": value_of(http, "base_url"),
            "api_key": value_of(inner, "api_key") or NO_KEY,
            "timeout": min((value_of(http, "timeout") or 300_000) / 1000, LONGEST),
        }

    def make(self) -> tuple[Any, Close | None]:
        # A redirect would send the prompt to another server. With a transport of httpx the package
        # does not use aiohttp, which follows redirects.
        import httpx

        http = {"follow_redirects": False, "transport": httpx.AsyncHTTPTransport()}
        options = {"base_url": self.config.base_url, "async_client_args": http}
        sdk = self.package.Client(api_key=self.key(), http_options=options)
        return sdk, sdk.aio.aclose

    def arguments(self, request: Request, output: Output) -> dict[str, Any]:
        system, messages = split_system(request.messages)
        config: dict[str, Any] = {
            "system_instruction": system or None,
            "temperature": request.temperature,
            "max_output_tokens": request.max_tokens,
            "http_options": {
                "timeout": max(1, round(self.config.timeout * 1000)),  # milliseconds
                "retry_options": {"attempts": 1},
            },
        }
        name, schema = request.schema_name, request.schema
        if output == "json_schema":
            config |= {"response_mime_type": "application/json", "response_json_schema": schema}
        if output == "tool":
            function = {"name": name, "parameters_json_schema": schema}
            choice = {"mode": "ANY", "allowed_function_names": [name]}
            config |= {
                "tools": [{"function_declarations": [function]}],
                "tool_config": {"function_calling_config": choice},
                "automatic_function_calling": {"disable": True},
            }
        contents = [*map(_content, messages)]
        config = self.with_options(config)
        return {"model": self.config.name, "contents": contents, "config": config}

    async def call(self, arguments: dict[str, Any]) -> Any:
        if self.given is None:
            return await self.sdk().aio.models.generate_content(**arguments)
        return await in_thread(partial(self.given.models.generate_content, **arguments))


def _content(message: Message) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        if not isinstance(block, Image):
            parts.append({"text": block})
        elif block.data:
            parts.append({"inline_data": {"mime_type": block.media_type, "data": block.data}})
        else:
            parts.append({"file_data": {"mime_type": block.media_type, "file_uri": block.url}})
    return {"role": "model" if message.role == "assistant" else "user", "parts": parts}
