"""The models of OpenAI, of Azure, and of all servers with OpenAI's chat completions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.chat_form import chat_message, openai_form
from llmeval_integrations.llm.client import ClientConfig
from llmeval_integrations.llm.messages import Output, Request
from llmeval_integrations.llm.reply import Reply
from llmeval_integrations.llm.stainless_client import StainlessClient

_REASONING: Final = re.compile(r"(o\d|gpt-([5-9]|\d\d))(?!.*chat)")

_ENDPOINT: Final = "/v1/chat/completions"
_UNDER_WAY: Final = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
"""The states of a batch that has no replies yet."""


class OpenAIClient(StainlessClient):
    """A model behind OpenAI's chat completions.

    On the platform "openai" some models reason: those whose names begin with o and a digit or with
    gpt-5 or higher, and do not contain "chat". Their system messages have the role developer, and
    they get no temperature. Their limit is sent as max_completion_tokens, which counts the
    reasoning. If another model's server refuses temperature or max_tokens, it gets no more of them.

    Servers of the other platforms get no key from the environment.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {
        "openai": None,
        "ollama": "http://localhost:11434/v1",
        "vllm": "http://localhost:8000/v1",
        "llama.cpp": "http://localhost:8080/v1",
    }
    module = "openai"
    endpoint = "chat.completions"
    declared = "resources.chat.Completions.create"
    plain = "AsyncOpenAI"
    needs_user = False
    accepted = "openai.OpenAI or openai.AsyncOpenAI"
    key_variables = ("OPENAI_API_KEY",)
    address_variables = ("OPENAI_BASE_URL",)

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, given)
        # Azure's batch deployments answer no single requests, and the first one is sent separately.
        is_azure = type(given).__module__ == "openai.lib.azure"
        self.has_batches = config.platform == "openai" and not is_azure

    def arguments(self, request: Request, output: Output) -> dict[str, Any]:
        name = self.config.name.removeprefix("ft:").rpartition("/")[2]
        reasons = self.config.platform == "openai" and bool(_REASONING.match(name))
        messages = [chat_message(message) for message in request.messages]
        for message in messages if reasons else ():
            message["role"] = message["role"].replace("system", "developer")
        return self.with_options(
            {
                "model": self.config.name,
                "messages": messages,
                "temperature": None if reasons else request.temperature,
                "max_completion_tokens" if reasons else "max_tokens": request.max_tokens,
                **openai_form(request, output),
            }
        )

    async def submit(self, requests: Mapping[str, Request]) -> str:
        lines = []
        for name, arguments in self.draft(requests).items():
            body = {each: arguments[each] for each in arguments if not each.startswith("extra_")}
            body |= arguments.get("extra_body", {})
            line = {"custom_id": name, "method": "POST", "url": _ENDPOINT, "body": body}
            lines.append(json.dumps(line))
        text = "\n".join(lines).encode()
        file = await self.fetch("files.create", file=("requests.jsonl", text), purpose="batch")
        settings = {"endpoint": _ENDPOINT, "completion_window": "24h"}
        batch = await self.fetch("batches.create", input_file_id=file.id, **settings)
        return str(batch.id)

    async def collect(self, batch: str) -> Mapping[str, Reply] | None:
        found = await self.fetch("batches.retrieve", batch_id=batch)
        if found.status in _UNDER_WAY:
            return None
        responses = {}
        for file in filter(None, (found.output_file_id, found.error_file_id)):
            content = await self.fetch("files.content", file_id=file)
            for item in map(json.loads, content.content.splitlines()):
                response = item.get("response") or {}
                if response.get("status_code") == 200:
                    responses[item["custom_id"]] = response["body"]
        if found.status != "completed" and not responses:
            errors = (found.errors and found.errors.data) or ()
            why = "; ".join(str(error.message) for error in errors) or "no message"
            raise ClientError(f"the batch {batch} is {found.status}: {why}")
        return self.read_all(responses)
