"""LlamaIndex's models, of all vendors."""

from __future__ import annotations

import json
import re
from functools import partial
from inspect import signature
from typing import Any, Final

from llmeval_integrations.core.errors import ClientError, InvalidOptionError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.llm.forms import in_words, openai_form, strict_schema
from llmeval_integrations.llm.framework_client import FrameworkClient, set_model
from llmeval_integrations.llm.images import Image
from llmeval_integrations.llm.messages import Message, Output, Request, address_user
from llmeval_integrations.llm.reply import Reply, finish_of, text_or_calls, usage_of, value_of
from llmeval_integrations.llm.sdk_client import SdkClient

_REASONS: Final = ("finish_reason", "stop_reason", "done_reason")


class LlamaIndexClient(FrameworkClient):
    """A LlamaIndex LLM.

    The form of an answer is requested by a schema if the model's class is OpenAI's or Ollama's.
    Else it is requested by a forced function call if the model's metadata allow one, and otherwise
    in words. Options are further arguments of `chat`.
    """

    takes = "llama_index"
    vendors = re.compile(r"llama_index\.llms\.([a-z]+)")

    @classmethod
    def of(cls, thing: Any, **options: Any) -> SdkClient:
        from llama_index.core.llms import LLM

        if not isinstance(thing, LLM):
            raise InvalidOptionError(
                f"model={quote(thing)} cannot be asked; expected an LLM of LlamaIndex"
            )
        name = thing.metadata.model_name
        return cls(cls.about(thing, None if name == "unknown" else name, options), thing)

    def model(self, temperature: float | None, max_tokens: int | None) -> Any:
        return set_model(self.given, temperature, max_tokens)

    def arguments(self, request: Request, output: Output) -> dict[str, Any]:
        model = self.model(request.temperature, request.max_tokens)
        self.check_images(request, is_chat=self.given.metadata.is_chat_model)
        spoken = [*map(_message, address_user(in_words(request, output)))]
        arguments = {"model": model, **self.config.options}
        if request.schema is None or output not in ("json_schema", "tool"):
            return {"method": "chat", "messages": spoken, **arguments}
        if output == "json_schema":
            return {"method": "chat", "messages": spoken, **arguments, **self._form(request)}
        ask = getattr(model, "chat_with_tools", None)  # below 0.12 it cannot force a call
        can_be_made_to = ask is not None and "tool_required" in signature(ask).parameters
        if not can_be_made_to or not model.metadata.is_function_calling_model:
            raise ClientError(f"{self!r} cannot be made to call a function", kind="bad_request")
        tool = {"tools": [_tool(request)], "tool_required": True}
        return {"method": "chat_with_tools", "chat_history": spoken, **arguments, **tool}

    async def call(self, arguments: dict[str, Any]) -> Any:
        model, method = arguments.pop("model"), arguments.pop("method")
        return await self.run(
            partial(getattr(model, method), **arguments),
            partial(getattr(model, f"a{method}"), **arguments),
        )

    def _form(self, request: Request) -> dict[str, Any]:
        """Return the schema in the form of the model's class; raises ClientError if it has none."""
        if not self.given.metadata.is_chat_model:
            raise ClientError(f"{self!r} can only complete text", kind="bad_request")
        names = {f"{kind.__module__}.{kind.__name__}" for kind in type(self.given).__mro__}
        if "llama_index.llms.openai.base.OpenAI" in names:
            return openai_form(request, "json_schema")
        if "llama_index.llms.ollama.base.Ollama" in names:
            return {"format": request.schema}
        raise ClientError(f"{self!r} accepts no schema in a known form", kind="bad_request")

    def read(self, response: Any, output: Output) -> Reply:
        raw, message = response.raw, response.message
        first = next(iter(value_of(raw, "choices", "candidates") or ()), None)
        sent = value_of(first, "message") or value_of(raw, "message")
        calls = self._calls(response, sent) if output == "tool" else []
        refusal = value_of(sent, "refusal")
        reason = value_of(raw, *_REASONS) or value_of(first, *_REASONS)
        account = value_of(raw, "usage", "usage_metadata") or response.additional_kwargs or raw
        return Reply(
            text=refusal or text_or_calls(message.content or "", calls),
            finish="refused" if refusal else finish_of(reason),
            usage=usage_of(account),
            model=value_of(raw, "model", "model_version") or self.config.name,
            output=output,
        )

    def _calls(self, response: Any, sent: Any) -> list[str]:
        """Return the arguments of the function calls as JSON, as the model wrote them if possible.

        The calls in the `sent` message are preferred. If there are several, LlamaIndex keeps only
        one. It also completes text that is not JSON, so that a verdict would be guessed.
        """
        functions = [value_of(call, "function") for call in value_of(sent, "tool_calls") or ()]
        found = [value_of(function, "arguments") for function in functions]
        if not found:
            read = self.given.get_tool_calls_from_response(response, error_on_no_tool_call=False)
            found = [call.tool_kwargs for call in read]
        return [
            call if isinstance(call, str) else json.dumps(call, ensure_ascii=False)
            for call in found
        ]


def _message(message: Message) -> Any:
    from llama_index.core.llms import ChatMessage

    if not message.images:
        # Parts are joined here, because LlamaIndex would join them without a space.
        return ChatMessage(role=message.role, content=message.text)
    from llama_index.core.base.llms.types import ImageBlock, TextBlock

    blocks = [
        ImageBlock(image=block.data.encode() or None, url=block.url or None)
        if isinstance(block, Image)
        else TextBlock(text=block)
        for block in message.blocks
    ]
    return ChatMessage(role=message.role, blocks=blocks)


def _tool(request: Request) -> Any:
    from llama_index.core.tools import FunctionTool, ToolMetadata
    from pydantic import BaseModel

    schema = request.schema or {}
    given = strict_schema(schema) or schema
    # LlamaIndex and its integrations require a pydantic class and use only its schema.
    form = type("Answer", (BaseModel,), {"model_json_schema": lambda *_, **__: dict(given)})
    about = ToolMetadata("Give the answer.", request.schema_name, form)
    return FunctionTool(lambda **arguments: arguments, about)
