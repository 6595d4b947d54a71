"""The shared base of clients for frameworks' models, which the user has set up."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import ClientError, InvalidOptionError
from llmeval_integrations.llm.client import ClientConfig, check_address, without_keys
from llmeval_integrations.llm.loop import in_callers_loop, in_thread
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.sdk_client import SdkClient

_LIMITS: Final = ("max_tokens", "max_output_tokens", "max_completion_tokens", "num_predict")
_ADDRESSES: Final = ("base_url", "api_base", "openai_api_base", "anthropic_api_url")

_VENDOR: Final = re.compile(r"(?:langchain_(?!core)|llama_index\.llms\.)([a-z]+)")
"""Finds the vendor's name in the module name of a framework's integration."""


class FrameworkClient(SdkClient):
    """A client for a model that its owner has set up in a framework.

    The model is called in a thread. A model without a blocking call is awaited in the caller's
    loop. Its settings stay unchanged unless an option or a request sets another temperature or
    limit: then a copy of the model is asked. It keeps its own retries, and ours are added. It also
    keeps its own time-out; ours, 600 s by default, ends a call that hangs.
    """

    function: ClassVar[str]  # of a model, to ask it; its awaited form begins with an "a"

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, given)
        self._is_only_awaited = False
        self._keys: list[str] = []
        try:
            members = given.model_dump(serialize_as_any=True, warnings=False)
        except ValueError:  # such as a member that contains itself; then no two models are equal
            members = repr(given)
        about = [_name(type(given)), without_keys(members, keys=self._keys)]
        text = json.dumps(about, sort_keys=True, default=self._describe_member)
        self._digest = sha256(text.encode()).hexdigest()
        self.model(None, config.max_tokens)  # raises if the model cannot be limited

    @classmethod
    def fields_of(cls, model: Any, name: Any) -> dict[str, Any]:
        """Return the fields of ClientConfig that a model with this name defines."""
        vendors = (_VENDOR.match(kind.__module__) for kind in type(model).__mro__)
        fields = {
            "name": name if isinstance(name, str) and name else type(model).__name__,
            "platform": next((vendor[1] for vendor in vendors if vendor), cls.package_name()),
            "base_url": None,
            "api_key": "-",
            "temperature": None,
            "timeout": 600,
        }
        places = (getattr(model, name, None) for name in _ADDRESSES)
        address = next((place for place in places if isinstance(place, str)), "")
        with suppress(InvalidOptionError):  # an address with a login or a query must not be shown
            check_address("base_url", address)
            fields["base_url"] = address or None
        return fields

    def model(self, temperature: float | None, max_tokens: int | None) -> Any:
        """Return the owner's object, with these settings in its models."""
        return set_model(self.given, temperature, max_tokens)

    def check_images(self, request: Request, *, is_chat: bool) -> None:
        """Raise ClientError for images to a model that completes text."""
        if not is_chat and any(message.images for message in request.messages):
            raise ClientError(f"{self!r} completes text and accepts no images", kind="bad_request")

    async def call(self, arguments: dict[str, Any]) -> Any:
        """Call a model in a thread; await it if it has no blocking call."""
        model = arguments.pop("model")
        if not self._is_only_awaited:
            try:
                return await in_thread(partial(getattr(model, self.function), **arguments))
            except NotImplementedError:
                self._is_only_awaited = True
        return await in_callers_loop(partial(getattr(model, f"a{self.function}"), **arguments))

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "model": self._digest}

    def secrets(self) -> list[Any]:
        return [*super().secrets(), *self._keys]

    def _describe_member(self, member: Any) -> str:
        """Describe a member that is not JSON, the same in every process."""
        if hasattr(member, "get_secret_value"):
            self._keys.append(member.get_secret_value())
        return _name(member if isinstance(member, type) or callable(member) else type(member))


def _name(kind: Any) -> str:
    return f"{kind.__module__}.{getattr(kind, '__qualname__', type(kind).__name__)}"


def set_model(model: Any, temperature: float | None, max_tokens: int | None) -> Any:
    """Return the model, or a copy with these settings; raises if the model lacks one of them."""
    fields, kind = getattr(type(model), "model_fields", {}), type(model).__name__
    changes: dict[str, Any] = {}
    if temperature is not None:
        if "temperature" not in fields:
            raise ClientError(
                f"{kind} has no temperature", kind="bad_request", parameter="temperature"
            )
        changes["temperature"] = temperature
    if max_tokens is not None:
        limit = next((name for name in _LIMITS if name in fields), None)
        if limit is None:
            raise InvalidOptionError(
                f"max_tokens={max_tokens}: {kind} has no such setting; "
                "set the limit when you create the model"
            )
        changes[limit] = max_tokens
    return model.model_copy(update=changes) if changes else model
