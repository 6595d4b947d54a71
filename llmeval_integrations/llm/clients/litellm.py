"""All models that LiteLLM reaches."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, ClassVar

from llmeval_integrations.core.errors import ClientError, MissingDependencyError
from llmeval_integrations.llm.chat_form import chat_message, openai_form
from llmeval_integrations.llm.client import NO_KEY
from llmeval_integrations.llm.messages import Output, Request
from llmeval_integrations.llm.sdk_client import SdkClient


class LiteLLMClient(SdkClient):
    """A model by LiteLLM's name for it, such as "anthropic/claude-sonnet-5".

    Messages are sent to LiteLLM in OpenAI's form. A model without a temperature gets none. LiteLLM
    is imported at the first call, because that takes seconds, and does not use the network then.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {"litellm": None}
    needs_user = False

    @classmethod
    def load_package(cls) -> None:
        if find_spec("litellm") is None:
            raise MissingDependencyError.of("litellm", "litellm")

    async def call(self, arguments: dict[str, Any]) -> Any:
        return await _import().acompletion(**arguments)

    def arguments(self, request: Request, output: Output) -> dict[str, Any]:
        litellm, name, form = _import(), self.config.name, openai_form(request, output)
        try:
            known = {*(litellm.get_supported_openai_params(model=name) or ())}
        except litellm.exceptions.BadRequestError as error:
            raise ClientError(str(error), kind="bad_request") from error  # the name has no vendor
        if form.keys() - known:
            raise ClientError(f"{self!r} does not accept {', '.join(form)}", kind="bad_request")
        key = self.config.key()
        if key is None and self.config.base_url:  # the user's own server may need no key
            found = litellm.validate_environment(model=name)["keys_in_environment"]
            key = None if found else NO_KEY
        return self.with_options(
            {
                "model": name,
                "messages": [*map(chat_message, request.messages)],
                "temperature": request.temperature,
                "max_tokens": request.max_tokens,
                "api_key": key,
                "base_url": self.config.base_url,
                "timeout": self.config.timeout,
                "drop_params": True,  # such as a temperature that the model does not accept
                "num_retries": 0,
                "max_retries": 0,
                # Otherwise LiteLLM imports the packages of its extra "mcp" for any tool.
                "_skip_mcp_handler": True if "tools" in form else None,
                **form,
            }
        )

    def identity(self) -> dict[str, Any]:
        vendor, slash, name = self.config.name.partition("/")
        sold = {"platform": vendor, "name": name} if slash else {}
        return {**super().identity(), **sold, "model": self.config.name}


def _import() -> Any:
    """Import LiteLLM; stop it from fetching its price table and from printing at errors."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    return litellm
