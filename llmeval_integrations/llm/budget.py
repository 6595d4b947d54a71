"""What calls cost, and how much they may cost."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from llmeval_integrations.core.errors import ClientError, InvalidOptionError, MissingDependencyError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quote import quote
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.reply import Reply, Usage

R = TypeVar("R", Reply, Reply | None)

Price: TypeAlias = Callable[[Usage], float]  # from the usage of a call to US dollars

_LOCAL: Final = re.compile(r"https?://(localhost|127\.|\[::1\])")

_COUNTS: Final = ("calls", "cached", "failed", "not_asked", "input_tokens", "output_tokens")


@dataclass
class Spending:
    """The number of calls and what they cost."""

    calls: int = 0  # answered, by a model or from the cache
    cached: int = 0  # answered from the cache, which costs nothing
    failed: int = 0
    not_asked: int = 0  # the budget was spent, or a frozen cache lacks the reply
    input_tokens: int = 0  # paid for, as all that follow
    output_tokens: int = 0
    cost: float = 0.0  # US dollars, of the calls whose price is known
    unpriced: int = 0  # calls whose price is not known
    uncounted: int = 0  # replies of a server that reports no tokens

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        self.calls += 1
        if reply.cached:
            self.cached += 1
            return
        self.input_tokens += reply.usage.input_tokens
        self.output_tokens += reply.usage.output_tokens
        self.uncounted += not reply.usage.total  # no prompt is empty
        self.unpriced += reply.cost is None
        self.cost += reply.cost or 0

    def add_failure(self, error: ClientError) -> None:
        """Count a request without a reply."""
        was_asked = error.kind not in ("budget", "not_cached")
        self.failed += was_asked
        self.not_asked += not was_asked

    def add_summary(self, summary: Mapping[str, Any]) -> None:
        """Add the figures of another Spending's summary."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + summary[name])
        self.unpriced += summary["cost"] is None
        self.cost += summary["cost"] or 0

    def summary(self) -> dict[str, Any]:
        """Return the figures by name; the cost is None unless it is known for every call."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        return {**counts, "cost": None if self.unpriced else round(self.cost, 8)}


class Budget:
    """What calls may cost together.

    A call reserves its largest possible use before it is made. Its input tokens follow from its
    characters and the largest ratio so far, its output tokens from its own limit or the longest
    reply so far. A call that does not fit waits until others have ended. A single call may always
    be made until the bound is reached, so one call may exceed it. A reply without token counts ends
    the budget.
    """

    def __init__(self, max_cost: float | None = None, max_tokens: float | None = None) -> None:
        for name, bound in (("max_cost", max_cost), ("max_tokens", max_tokens)):
            if bound is not None and not (is_number(bound) and bound >= 0):
                words = f"{name}={quote(bound)} is not a number of at least 0, or None"
                raise InvalidOptionError(words)
        self.max_cost = max_cost  # US dollars; None for no bound
        self.max_tokens = max_tokens  # in and out; None for no bound
        self.spent = Spending()
        self._is_bound = (max_cost, max_tokens) != (None, None)
        self._held: list[tuple[float, float]] = []  # reservations of tokens and US dollars
        self._freed = asyncio.Event()
        self._tokens_a_character = 1 / 3  # at first; English has about 1/4
        self._longest: int | None = None  # until there is a reply, calls are made one at a time

    @property
    def reached(self) -> str | None:
        """The bound that is reached; None if there is none."""
        spent = self.spent
        unknown = " (a server reported no tokens)" if spent.uncounted else ""
        if self.max_tokens is not None and (unknown or spent.tokens >= self.max_tokens):
            return f"max_tokens={self.max_tokens:,}{unknown}"
        if self.max_cost is not None and (unknown or spent.cost >= self.max_cost):
            return f"max_cost={self.max_cost:g}{unknown}"
        return None

    def price(self, client: Client) -> Price | None:
        """Return the price of a client's model; None if it is not known.

        Raises InvalidOptionError if `max_cost` needs it.
        """
        price = find_price(client)
        if not isinstance(price, str):
            return price
        if self.max_cost is None:
            return None
        advice = "give the model a price, or bound max_tokens instead"
        raise InvalidOptionError(f"max_cost={self.max_cost:g}: {price}; {advice}")

    async def pay(
        self,
        request: Request,
        price: Price | None,
        call: Callable[[], Awaitable[R]],
        share: float = 1.0,
    ) -> R:
        """Make a call once it fits, and return its reply with its cost, a share of the price.

        Raises ClientError if no further call may begin.
        """
        while True:
            if self.reached:
                words = f"not asked, because the budget {self.reached} is spent"
                raise ClientError(words, kind="budget")
            held = self._estimate(request, price, share)
            if not (self._is_bound and self._held) or self._fits(held):
                break
            await self._freed.wait()
        self._held.append(held)
        try:
            reply = await call()
            if reply is None:
                return reply
            usage = reply.usage
            cost = share * price(usage) if price and usage.total else None
            reply = msgspec.structs.replace(reply, cost=cost, fence=reply.fence or request.fence)
            self.spent.add(reply)
            self._longest = max(self._longest or 0, usage.output_tokens)
            if self._is_bound:
                ratio = usage.input_tokens / max(request.length, 1)
                self._tokens_a_character = max(self._tokens_a_character, ratio)
            return reply
        finally:
            self._held.remove(held)
            self._freed.set()  # wakes all that wait now
            self._freed.clear()

    def _estimate(self, request: Request, price: Price | None, share: float) -> tuple[float, float]:
        if not self._is_bound:
            return 0, 0
        read = math.ceil(request.length * self._tokens_a_character)
        written = request.max_tokens or self._longest
        if written is None:
            return math.inf, math.inf
        return read + written, share * price(Usage(read, written)) if price else 0

    def _fits(self, estimate: tuple[float, float]) -> bool:
        spent = (self.spent.tokens, self.spent.cost)
        bounds = (self.max_tokens, self.max_cost)
        uses = map(sum, zip(*self._held, estimate, spent))
        return all(bound is None or use <= bound for use, bound in zip(uses, bounds))


def find_price(client: Client) -> Price | str:
    """Return the price of a client's model, or the reason why it is unknown.

    The client's own `price` comes first, then the data of `genai-prices`: the `name` of the
    identity is the model, and its `base_url` or `platform` identifies the seller. The reason
    contains no address, because an address may contain a secret.
    """
    if client.price is not None:
        read, written = client.price
        return lambda usage: (usage.input_tokens * read + usage.output_tokens * written) / 1e6
    name, address, seller = map(client.identity().get, ("name", "base_url", "platform"))
    where = " at an address of its own" if address else ""
    unknown = f"no price is known for the model {quote(name)} of {quote(seller)}{where}"
    # on this machine nothing is sold, and the import below takes 0.4 s
    if not isinstance(name, str) or not (address or seller) or _LOCAL.match(address or ""):
        return unknown
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
        cached = min(usage.cached_tokens, usage.input_tokens)
        tokens = Tokens(
            input_tokens=usage.input_tokens,
            cache_read_tokens=cached,
            cache_write_tokens=min(usage.written_tokens, usage.input_tokens - cached),
            output_tokens=usage.output_tokens,
        )
        return float(model.calc_price(tokens, provider).total_price)

    return price
