"""Anthropic's models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.client import ClientConfig
from llmeval_integrations.llm.loop import in_thread
from llmeval_integrations.llm.messages import Image, Message, Output, Request, split_system
from llmeval_integrations.llm.reply import Reply
from llmeval_integrations.llm.stainless_client import StainlessClient

MAX_TOKENS: Final = 4096  # the default limit of a reply, because the API requires one
_SHORTEST_KEPT: Final = 4_096  # characters of a beginning that Anthropic caches: 1,024 tokens


class AnthropicClient(StainlessClient):
    """A model behind Anthropic's Messages API.

    System messages are sent together as `system`. No temperature is sent from version 1 of the
    package on, which no longer accepts one. Without `max_tokens` a reply ends at 4,096 tokens.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {"anthropic": None}
    module = "anthropic"
    endpoint = "messages"
    declared = "resources.Messages.create"
    plain = "AsyncAnthropic"
    accepted = "anthropic.Anthropic or anthropic.AsyncAnthropic"
    has_batches = True
    key_variables = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    address_variables = ("ANTHROPIC_BASE_URL",)

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, given)
        self._beginnings: set[int] = set()  # hashes of those that were sent

    def arguments(self, request: Request, output: Output) -> dict[str, Any]:
        system, messages = split_system(request.messages)
        has_temperature = "temperature" in (self.known or ())
        arguments = {
            "model": self.config.name,
            "max_tokens": request.max_tokens or MAX_TOKENS,
            "system": system or None,
            "messages": [self._message(message, request.fence) for message in messages],
            "temperature": request.temperature if has_temperature else None,
        }
        name, schema = request.schema_name, request.schema
        if output == "tool":
            arguments["tools"] = [{"name": name, "input_schema": schema}]
            choice = {"type": "tool", "name": name, "disable_parallel_tool_use": True}
            arguments["tool_choice"] = choice
        if output == "json_schema":
            try:
                form = {"type": "json_schema", "schema": self.package.transform_schema(schema)}
            except (ValueError, AssertionError) as error:
                raise ClientError(f"no structured output: {error}", kind="bad_request") from error
            arguments["output_config"] = {"format": form}
        return self.with_options(arguments)

    async def submit(self, requests: Mapping[str, Request]) -> str:
        drafts = [
            {"custom_id": name, "params": each} for name, each in self.draft(requests).items()
        ]
        return str((await self.fetch("messages.batches.create", requests=drafts)).id)

    async def collect(self, batch: str) -> Mapping[str, Reply] | None:
        found = await self.fetch("messages.batches.retrieve", message_batch_id=batch)
        if found.processing_status != "ended":
            return None
        results = await self.fetch("messages.batches.results", message_batch_id=batch)
        if hasattr(results, "__aiter__"):
            items = [item async for item in results]
        else:
            items = await in_thread(partial(list, results))
        succeeded = [item for item in items if item.result.type == "succeeded"]
        return self.read_all({item.custom_id: item.result.message.to_dict() for item in succeeded})

    def _message(self, message: Message, fence: str) -> dict[str, Any]:
        """Return a message as JSON."""
        blocks: list[dict[str, Any]] = []
        for block in message.blocks:
            if isinstance(block, Image):
                content = {"type": "base64", "media_type": block.media_type, "data": block.data}
                source = content if block.data else {"type": "url", "url": block.url}
                blocks.append({"type": "image", "source": source})
                continue
            start = 0
            for end in self._find_repeated(block, fence):
                kept = {"cache_control": {"type": "ephemeral"}}
                blocks.append({"type": "text", "text": block[start:end], **kept})
                start = end
            blocks.append({"type": "text", "text": block[start:]})
        is_plain = isinstance(message.content, str) and len(blocks) == 1
        return {"role": message.role, "content": message.content if is_plain else blocks}

    def _find_repeated(self, text: str, fence: str) -> Iterator[int]:
        """Yield the ends of the beginnings of a text that were sent before: Anthropic keeps them.

        The documents end at their mark, and all material at the last mark. Draws of a vote and
        judges of a sample share the material, and many samples may share documents. Keeping raises
        the price of these tokens by a quarter, and reading what is kept costs a tenth.
        """
        for mark in (f"</documents {fence}>", f"{fence}>") if fence else ():
            end = text.rfind(mark) + len(mark)
            beginning = hash(text[:end])
            if mark in text and end >= _SHORTEST_KEPT:
                if beginning in self._beginnings:
                    yield end
                self._beginnings.add(beginning)
