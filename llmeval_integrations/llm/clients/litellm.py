"""All models that LiteLLM reaches."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import Any, ClassVar

from llmeval_integrations.core.errors import ClientError, JudgeError, MissingDependencyError
from llmeval_integrations.llm.config import NO_KEY, ClientConfig
from llmeval_integrations.llm.forms import in_words, openai_form
from llmeval_integrations.llm.keys import keys_in_environment
from llmeval_integrations.llm.messages import Output, Request
from llmeval_integrations.llm.reply import Reply, finish_of, text_or_calls, usage_of, value_of
from llmeval_integrations.llm.sdk_client import SdkClient
from llmeval_integrations.llm.stainless_client import chat_message


class LiteLLMClient(SdkClient):
    """A model by LiteLLM's name for it, such as "anthropic/claude-sonnet-5".

    Messages go to LiteLLM in OpenAI's form. A temperature is left out for a model that has none.
    LiteLLM is imported, which takes seconds, at the first call, and kept off the network.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {"litellm": None}

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, given)
        if find_spec("litellm") is None:
            raise MissingDependencyError.of("litellm", "litellm")

    def make(self) -> Any:
        """Import LiteLLM without letting it fetch its table of prices, or print at errors."""
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm

        litellm.suppress_debug_info = True
        return litellm

    async def call(self, sdk: Any, arguments: dict[str, Any]) -> Any:
        return await sdk.acompletion(**arguments)

    def arguments(
        self, request: Request, output: Output, without: Collection[str]
    ) -> dict[str, Any]:
        form, known = openai_form(request, output), self._parameters()
        if form.keys() - known:
            raise ClientError(f"{self!r} takes no {', '.join(form)}", kind="bad_request")
        has_temperature = "temperature" in known
        return self.completed(
            {
                "model": self.config.name,
                "messages": [*map(chat_message, in_words(request, output))],
                "temperature": self.temperature(request, without) if has_temperature else None,
                "max_tokens": self.max_tokens(request),
                "api_key": self._sent_key(),
                "base_url": self.config.base_url,
                "timeout": self.config.timeout,
                "num_retries": 0,
                "max_retries": 0,
                # At any tool LiteLLM imports what its extra "mcp" installs, unless told not to.
                "_skip_mcp_handler": True if "tools" in form else None,
                **form,
            }
        )

    def read(self, response: Any, output: Output) -> Reply:
        choice = response.choices[0]
        message = choice.message
        called = [value_of(call, "function") for call in message.tool_calls or ()]
        # a custom tool of somebody's own is no function
        calls = [function.arguments for function in called if function is not None]
        refusal = (message.get("provider_specific_fields") or {}).get("refusal")
        return Reply(
            text=refusal or text_or_calls(message.content or "", calls),
            finish="refused" if refusal else finish_of(choice.finish_reason),
            usage=usage_of(response.usage),
            model=response.model or self.config.name,
            output=output,
        )

    def problem(self, error: Exception) -> JudgeError | None:
        problem = super().problem(error)
        if isinstance(problem, ClientError) and type(error).__name__ == "UnsupportedParamsError":
            # It does not name the parameter; models are at odds on this one's values.
            problem.parameter = "temperature"
        return problem

    def server(self) -> str | None:
        vendor, slash, _ = self.config.name.partition("/")
        name = vendor.removesuffix("_chat").upper() if slash else "OPENAI"
        found = map(os.environ.get, (f"{name}_API_BASE", f"{name}_BASE_URL"))
        return super().server() or next(filter(None, found), None)

    def identity(self) -> dict[str, Any]:
        vendor, slash, name = self.config.name.partition("/")
        sold = {"platform": vendor, "name": name} if slash else {}
        return {**super().identity(), **sold, "model": self.config.name}

    def _parameters(self) -> set[str]:
        """Name the arguments of OpenAI's that LiteLLM passes on to this model."""
        litellm = self.make()
        try:
            return {*(litellm.get_supported_openai_params(model=self.config.name) or ())}
        except litellm.exceptions.BadRequestError as error:
            raise ClientError(str(error), kind="bad_request") from error  # no vendor in the name

    def _sent_key(self) -> str | None:
        """Return the key; "-" for a server of one's own, where LiteLLM finds none."""
        key = self.config.key()
        if key is not None or self.config.base_url is None:
            return key
        found = self.make().validate_environment(model=self.config.name)
        return None if found["keys_in_environment"] else NO_KEY

    def secrets(self) -> list[str]:
        return [*super().secrets(), *keys_in_environment()]
