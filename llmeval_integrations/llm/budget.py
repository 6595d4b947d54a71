"""What calls cost, and how much they may cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.errors import ClientError, InvalidOptionError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quote import quote
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.prices import Price, find_price
from llmeval_integrations.llm.reply import Reply, Usage

if TYPE_CHECKING:
    from asyncio import Event

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
        if reply.cost is None:
            self.unpriced += 1
        else:
            self.cost += reply.cost

    def add_failure(self, error: ClientError) -> None:
        """Count a request without a reply."""
        was_asked = error.kind not in ("budget", "not_cached")
        self.failed += was_asked
        self.not_asked += not was_asked

    def add_summary(self, summary: Mapping[str, Any]) -> None:
        """Add the figures of another Spending's summary."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + summary[name])
        if summary["cost"] is None:
            self.unpriced += 1
        else:
            self.cost += summary["cost"]

    def summary(self) -> dict[str, Any]:
        """Return the figures by name; the cost is None unless it is known for every call."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        return {**counts, "cost": None if self.unpriced else round(self.cost, 8)}


class Budget:
    """What calls may cost together.

    A call reserves its largest possible use before it is made. The input tokens are estimated from
    its characters, by the largest ratio seen so far. The output tokens are its own limit, or the
    length of the longest reply so far. A call that does not fit waits until others have ended. A
    single call may always be made until the bound is reached, so one call may exceed the bound.
    Replies from the cache are free. A reply without token counts ends the budget, because the bound
    can no longer be enforced.
    """

    def __init__(
        self,
        max_cost: float | None = None,
        max_tokens: float | None = None,
        *,
        is_priced: bool = True,
    ) -> None:
        for name, bound in (("max_cost", max_cost), ("max_tokens", max_tokens)):
            if bound is not None and not (is_number(bound) and 0 <= bound < math.inf):
                raise InvalidOptionError(
                    f"{name}={quote(bound)} is not a number of at least 0, or None"
                )
        self.max_cost = max_cost
        """US dollars; None for no bound."""
        self.max_tokens = max_tokens
        """Tokens in and out; None for no bound."""
        self.spent = Spending()
        """What was spent."""
        self._is_priced = is_priced  # finding a price takes 0.4 s
        self._is_bound = (max_cost, max_tokens) != (None, None)
        self._held: list[tuple[float, float]] = []
        self._freed: Event | None = None
        self._tokens_a_character = 1 / 3  # at first; English has about 1/4
        self._longest = math.inf  # until there is a reply, calls are made one at a time

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
        """Return the price of a client's model; None if it is neither known nor needed.

        Raises InvalidOptionError if `max_cost` needs an unknown price.
        """
        if not self._is_priced:
            return None
        price = find_price(client)
        if not isinstance(price, str):
            return price
        if self.max_cost is not None:
            raise InvalidOptionError(
                f"max_cost={self.max_cost:g}: {price}; give the model a price, "
                "or bound max_tokens instead"
            )
        return None

    async def reserve(self, request: Request, price: Price | None) -> tuple[float, float]:
        """Wait until a call fits, and reserve its largest use: tokens and US dollars.

        Raises ClientError if no further call may begin.
        """
        while not self.reached:
            estimate = self._estimate(request, price)
            if not self._held or self._fits(estimate):
                self._held.append(estimate)
                return estimate
            from asyncio import Event  # late, because a run without judges needs no event loop

            self._freed = self._freed or Event()
            await self._freed.wait()
        raise ClientError(f"not asked, because the budget {self.reached} is spent", kind="budget")

    def settle(self, held: tuple[float, float], request: Request, reply: Reply | None) -> None:
        """Replace the reservation of a call by its real use."""
        if reply is not None:
            self.spent.add(reply)
            longest = 0 if self._longest == math.inf else self._longest
            self._longest = max(longest, reply.usage.output_tokens)
            if self._is_bound:
                share = reply.usage.input_tokens / max(request.length, 1)
                self._tokens_a_character = max(self._tokens_a_character, share)
        self._held.remove(held)
        if self._freed is not None:
            self._freed.set()
            self._freed = None

    def _estimate(self, request: Request, price: Price | None) -> tuple[float, float]:
        if not self._is_bound:
            return 0, 0
        read = math.ceil(request.length * self._tokens_a_character)
        written = request.max_tokens or self._longest
        if written == math.inf:
            return math.inf, math.inf
        return read + written, price(Usage(read, int(written))) if price else 0

    def _fits(self, estimate: tuple[float, float]) -> bool:
        tokens, cost = (sum(column) for column in zip(*self._held, estimate))
        return (self.max_tokens is None or self.spent.tokens + tokens <= self.max_tokens) and (
            self.max_cost is None or self.spent.cost + cost <= self.max_cost
        )
