"""Connections of one event loop's own, for models that keep theirs for good.

A connection can be written to when the event loop that opened it has ended, and not be read from.
A model that is asked in a second loop so pays for replies that nobody hears.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

_HELD: Final = ("root_async_client", "_async_client", "_aclient")
"""Where the models of LangChain and LlamaIndex that stand on OpenAI's or Anthropic's package, or
on one made alike, keep that package's object."""


def with_own_connections(model: Any) -> tuple[Any, Any]:
    """Return a copy of the model with connections of its own, and what closes them.

    The model itself and None where its kind is not known, or its owner has chosen them.
    """
    if getattr(model, "_aclient", model) is None and hasattr(model, "_get_aclient"):
        model._get_aclient()  # noqa: SLF001 - LlamaIndex makes it at the first call
    for name in _HELD:
        held: Any = getattr(model, name, None)
        if _is_plain(model, held):
            package = import_module(type(held).__module__.partition(".")[0])
            own = held.with_options(http_client=package.DefaultAsyncHttpxClient())
            copy = model.model_copy()
            setattr(copy, name, own)
            if name == "root_async_client":
                copy.async_client = own.chat.completions
            return copy, own
    return model, None


def _is_plain(model: Any, held: Any) -> bool:
    """Tell whether the connections are those that an SDK has by default."""
    connections = type(getattr(held, "_client", None)).__name__
    proxies = (getattr(model, name, None) for name in ("openai_proxy", "anthropic_proxy"))
    has_copy = hasattr(model, "model_copy")  # LlamaIndex 0.10 has none
    return connections.endswith("HttpxClientWrapper") and has_copy and not any(proxies)
