"""LlamaIndex's models, of all vendors."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.chat_form import openai_form
from llmeval_integrations.llm.framework_client import FrameworkClient
from llmeval_integrations.llm.messages import Image, Message, Output, Request


class LlamaIndexClient(FrameworkClient):
    """A LlamaIndex LLM.

    The form of an answer is requested by a schema if the model's class is OpenAI's or Ollama's, and
    otherwise in words. Options are further arguments of `chat`.
    """

    module = "llama_index"
    accepted = "an LLM of LlamaIndex"
    function = "chat"

    @classmethod
    def describe(cls, thing: Any) -> dict[str, Any] | None:
        from llama_index.core.llms import LLM

        if not isinstance(thing, LLM):
            return None
        name = thing.metadata.model_name
        return cls.fields_of(thing, None if name == "unknown" else name)

    def arguments(self, request: Request, output: Output) -> dict[str, Any]:
        self.check_images(request, is_chat=self.given.metadata.is_chat_model)
        return {
            "model": self.model(request.temperature, request.max_tokens),
            "messages": [*map(_message, request.messages)],
            **self.config.options,
            **self._form(request, output),
        }

    def _form(self, request: Request, output: Output) -> dict[str, Any]:
        """Return the schema in the form of the model's class; raises ClientError if it has none."""
        if output not in ("json_schema", "tool"):
            return {}
        names = {f"{kind.__module__}.{kind.__name__}" for kind in type(self.given).__mro__}
        if output == "json_schema" and self.given.metadata.is_chat_model:
            if "llama_index.llms.openai.base.OpenAI" in names:
                return openai_form(request, output)
            if "llama_index.llms.ollama.base.Ollama" in names:
                return {"format": request.schema}
        raise ClientError(f"{self!r} accepts no schema in a known form", kind="bad_request")


def _message(message: Message) -> Any:
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock

    # Texts are joined here, because LlamaIndex would join them without a space.
    blocks = [
        ImageBlock(image=block.data.encode() or None, url=block.url or None)
        if isinstance(block, Image)
        else TextBlock(text=block)
        for block in (message.blocks if message.images else [message.text])
    ]
    return ChatMessage(role=message.role, blocks=blocks)
