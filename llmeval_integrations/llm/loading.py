"""Clients by name, or from an object that reaches a model."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from llmeval_integrations.core.errors import InvalidOptionError, UnknownNameError
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.llm.client import Client

if TYPE_CHECKING:
    from llmeval_integrations.llm.sdk_client import SdkClient

_CLIENTS = "llmeval_integrations.llm.clients"


def load_client(model: Any, /, **options: Any) -> Client:
    """Make a client from a name, a configuration, or an object that reaches a model.

    `model` is a text such as "openai:gpt-5-mini" or "ollama:mistral-nemo", a ClientConfig, or a
    mapping with its fields. If the mapping has no platform, its name may contain one, as in a text.
    An SDK's client, a LangChain chat model or a LlamaIndex LLM is accepted, too. An SDK's client
    needs the option `name` for the model. A Client is returned unchanged. Options are fields of
    ClientConfig. Raises UnknownNameError for a platform, InvalidOptionError for an option or an
    object, and MissingDependencyError.
    """
    if isinstance(model, Client):
        if options:
            raise InvalidOptionError(f"{', '.join(options)}: {model!r} is set up already")
        return model
    from llmeval_integrations.llm.config import ClientConfig

    if isinstance(model, str):
        platform, colon, name = model.partition(":")
        if not colon or not name:
            raise InvalidOptionError(
                f"model={model!r} is not 'platform:model'; platforms: {', '.join(_platforms())}"
            )
        return _by_fields({"platform": platform, "name": name, **options})
    if isinstance(model, Mapping):
        fields = {**model, **options}
        platform, colon, name = str(fields.get("name", "")).partition(":")
        # the colon may be the name's own, as in "mistral-nemo:12b"
        if "platform" not in fields and colon and platform in _platforms():
            fields |= {"platform": platform, "name": name}
        return _by_fields(fields)
    if isinstance(model, ClientConfig):
        return _by_fields({**dict(model), **options})
    return _by_object(model, options)


def _by_fields(fields: Mapping[str, Any]) -> Client:
    from llmeval_integrations.llm.config import ClientConfig

    config, platforms = ClientConfig.of(**fields), _platforms()
    if config.platform not in platforms:
        raise UnknownNameError(
            f"there is no platform {config.platform!r}; {hint(config.platform, platforms)}"
        )
    return platforms[config.platform](config)


def _by_object(thing: Any, options: dict[str, Any]) -> Client:
    packages = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    for client in _classes():
        if client.package_name() in packages:
            return client.of(thing, **options)
    # Only the type of an object is shown, because its members may contain a key.
    is_simple = thing is None or isinstance(thing, (bool, int, float))
    what = quote(thing) if is_simple else f"<{type(thing).__name__} object>"
    raise InvalidOptionError(
        f"model={what} is not 'platform:model', a ClientConfig, an SDK's client, "
        "a LangChain chat model, a LlamaIndex LLM or a Client of your own"
    )


def _platforms() -> dict[str, type[SdkClient]]:
    return {name: client for client in _classes() for name in client.platforms}


def _classes() -> Iterator[type[SdkClient]]:
    """Yield the client class of each module in the package `clients`."""
    room = import_module(_CLIENTS)
    for found in pkgutil.iter_modules(room.__path__, f"{_CLIENTS}."):
        for thing in vars(import_module(found.name)).values():
            if getattr(thing, "__module__", "") == found.name and hasattr(thing, "platforms"):
                yield thing
