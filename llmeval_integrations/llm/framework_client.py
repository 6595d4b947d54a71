"""The shared base of clients for frameworks' models, which the user has set up."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import ClientError, InvalidOptionError
from llmeval_integrations.llm.config import ClientConfig, check_address
from llmeval_integrations.llm.keys import without_keys
from llmeval_integrations.llm.loop import in_callers_loop, in_thread
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.sdk_client import SdkClient

_LIMITS: Final = ("max_tokens", "max_output_tokens", "max_completion_tokens", "num_predict")
_ADDRESSES: Final = ("base_url", "api_base", "openai_api_base", "anthropic_api_url")

_DEEPEST: Final = 8
"""How many levels of nested models are followed."""


class FrameworkClient(SdkClient):
    """A client for a model that its owner has set up in a framework.

    The model is called in a thread. A model without a blocking call is awaited in the caller's
    loop. Its settings stay unchanged unless an option or a request sets another temperature or
    limit: then a copy of the model is asked. It keeps its own retries, and ours are added. It also
    keeps its own time-out; ours, 600 s by default, ends a call that hangs.
    """

    vendors: ClassVar[re.Pattern[str]]
    """Finds the vendor's name in the module name of a framework's integration."""

    settled = SdkClient.settled | {"name"}

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, given)
        self._is_only_awaited = False
        self._keys: list[str] = []
        about = without_keys(_describe(given, self._keys), keys=self._keys)
        self._digest = sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
        self.model(None, config.max_tokens)  # raises if the model cannot be limited

    @classmethod
    def about(cls, model: Any, name: Any, options: dict[str, Any]) -> ClientConfig:
        """Describe the model as a configuration; raises InvalidOptionError for a wrong option."""
        cls.check_object(model, options)
        vendors = (cls.vendors.match(kind.__module__) for kind in type(model).__mro__)
        fields = {
            "name": name if isinstance(name, str) and name else type(model).__name__,
            "platform": next((vendor[1] for vendor in vendors if vendor), cls.package_name()),
            "temperature": None,
            "timeout": 600,
        }
        with suppress(ValueError):  # an address with a login or a query must not be shown
            check_address(_address(model) or "")
            fields["base_url"] = _address(model)
        return ClientConfig.of(**{**fields, **options})

    @abstractmethod
    def model(self, temperature: float | None, max_tokens: int | None) -> Any:
        """Return the owner's object, with these settings in its models."""

    def check_images(self, request: Request, *, is_chat: bool) -> None:
        """Raise ClientError for images to a model that completes text."""
        if not is_chat and any(message.images for message in request.messages):
            raise ClientError(f"{self!r} completes text and accepts no images", kind="bad_request")

    def make(self) -> Any:
        return self.given

    async def run(self, blocking: Callable[[], Any], awaited: Callable[[], Any]) -> Any:
        """Call a model in a thread; await it if it has no blocking call."""
        if not self._is_only_awaited:
            try:
                return await in_thread(blocking)
            except NotImplementedError:
                self._is_only_awaited = True
        return await in_callers_loop(awaited)

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "model": self._digest}

    def secrets(self) -> list[Any]:
        return [*super().secrets(), *self._keys]


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


def _address(model: Any) -> str | None:
    """Return the address that a model calls, from its own field or from its SDK's object."""
    private = getattr(model, "__pydantic_private__", None) or {}
    members = [*getattr(model, "__dict__", {}).values(), *private.values()]
    places = [getattr(model, name, None) for name in _ADDRESSES]
    places += [getattr(each, "base_url", None) for each in members]
    return next((str(place) for place in places if type(place).__name__ in ("str", "URL")), None)


def _describe(model: Any, keys: list[str], levels: int = _DEEPEST) -> Any:
    """Describe a framework's model as JSON, the same in every process; add secrets to `keys`."""
    if model is None or isinstance(model, (str, bool, int, float)):
        return model
    if isinstance(model, Mapping):
        return {str(key): _describe(each, keys, levels) for key, each in model.items()}
    if isinstance(model, (list, tuple)):
        return [_describe(each, keys, levels) for each in model]
    kind = model if isinstance(model, type) or callable(model) else type(model)
    name = f"{kind.__module__}.{getattr(kind, '__qualname__', type(kind).__name__)}"
    if hasattr(model, "get_secret_value"):
        keys.append(model.get_secret_value())
        return name
    fields = getattr(type(model), "model_fields", None)
    if not fields or not levels:
        return name
    members = {
        field: _describe(vars(model).get(field), keys, levels - 1)
        for field, about in fields.items()
        if not about.exclude
    }
    return [name, _address(model), members]
