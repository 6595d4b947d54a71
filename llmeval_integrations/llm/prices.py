"""The price of a model's tokens, from its owner or from the data of `genai-prices`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from llmeval_integrations.core.errors import MissingDependencyError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.reply import Reply, Usage

Price: TypeAlias = Callable[[Usage], float]
"""A function from the usage of a call to US dollars."""

_ON_THIS_MACHINE: Final = re.compile(r"https?://(localhost|127\.|\[::1\])")


def find_price(client: Client) -> Price | str:
    """Return the price of a client's model, or the reason why it is unknown.

    The client's own `price` comes first. Otherwise the `name` of its identity is the model, and
    its `base_url` or `platform` identifies the seller. The reason contains no address, because an
    address may contain a secret.
    """
    if client.price is not None:
        read, written = client.price
        return lambda usage: (usage.input_tokens * read + usage.output_tokens * written) / 1e6
    name, address, seller = map(client.identity().get, ("name", "base_url", "platform"))
    where = " at an address of its own" if address else ""
    unknown = f"no price is known for the model {quote(name)} of {quote(seller)}{where}"
    if not isinstance(name, str) or not (address or seller):
        return unknown
    if address and _ON_THIS_MACHINE.match(address):
        return unknown  # before the import below, which takes 0.4 s
    try:
        from genai_prices.data_snapshot import get_snapshot
        from genai_prices.types import Usage as Tokens
    except ImportError:
        return str(MissingDependencyError.of("genai-prices", "prices"))
    try:
        provider, model = get_snapshot().find_provider_model(
            name, None, None if address else seller, address
        )
    except LookupError:
        return unknown

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


def charge(reply: Reply, fence: str, price: Price | None, share: float = 1.0) -> Reply:
    """Return a reply with the mark of its request and its cost, which is a share of the price."""
    cost = share * price(reply.usage) if price and reply.usage.total else None
    return msgspec.structs.replace(reply, cost=cost, fence=fence)
