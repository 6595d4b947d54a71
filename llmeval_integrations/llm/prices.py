"""What a model's tokens cost, by the package `genai-prices` and the data that it brings along."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.errors import MissingDependencyError
from llmeval_integrations.llm.reply import Usage

Price: TypeAlias = Callable[[Usage], float]
"""From what a call took to US dollars."""

_ON_THIS_MACHINE: Final = re.compile(r"https?://(localhost|127\.|\[::1\])")


def price_of(identity: Mapping[str, Any]) -> Price | None:
    """Return the price of a client's model, None where none is known.

    `identity` is a client's: its `name` is the model, and its `base_url`, else its `platform`,
    tells who sells it. Raises MissingDependencyError.
    """
    name, address = identity.get("name"), identity.get("base_url")
    seller = identity.get("platform")
    if not isinstance(name, str) or not (address or seller):
        return None
    if address and _ON_THIS_MACHINE.match(address):
        return None  # before the import below, which takes 0.4 s
    try:
        from genai_prices.data_snapshot import get_snapshot
        from genai_prices.types import Usage as Tokens
    except ImportError as error:
        raise MissingDependencyError.of("genai-prices", "prices") from error
    try:
        provider, model = get_snapshot().find_provider_model(
            name, None, None if address else seller, address
        )
    except LookupError:
        return None

    def price(usage: Usage) -> float:
        read = min(usage.cached_tokens, usage.input_tokens)
        tokens = Tokens(
            input_tokens=usage.input_tokens,
            cache_read_tokens=read,
            cache_write_tokens=min(usage.written_tokens, usage.input_tokens - read),
            output_tokens=usage.output_tokens,
        )
        return float(model.calc_price(tokens, provider).total_price)

    return price
