"""What calls cost, and how much they may."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmeval_integrations.core.errors import ClientError, InvalidOptionError, MissingDependencyError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.prices import Price, price_of
from llmeval_integrations.llm.reply import JudgeReply


@dataclass
class Spending:
    """What was asked and paid."""

    calls: int = 0
    """Requests that were answered, by a model or from the cache."""

    cached: int = 0
    """How many of them came from the cache, which costs nothing."""

    failed: int = 0
    """Requests that got no answer."""

    not_asked: int = 0
    """Requests that were not made: the budget was spent, or a frozen cache lacks the reply."""

    input_tokens: int = 0
    """Tokens of prompts that were paid for."""

    output_tokens: int = 0
    """Generated tokens that were paid for."""

    cost: float = 0.0
    """US dollars, of the calls whose price is known."""

    unpriced: int = 0
    """How many calls were paid for at a price that is not known."""

    uncounted: int = 0
    """How many replies came from a server that does not tell what they took."""

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens

    def add(self, reply: JudgeReply, price: Price | None) -> None:
        """Count a reply."""
        self.calls += 1
        if reply.cached:
            self.cached += 1
            return
        self.input_tokens += reply.usage.input_tokens
        self.output_tokens += reply.usage.output_tokens
        is_counted = reply.usage.total > 0  # no prompt is empty
        self.uncounted += not is_counted
        if price is None or not is_counted:
            self.unpriced += 1
        else:
            self.cost += price(reply.usage)

    def add_summary(self, summary: Mapping[str, Any]) -> None:
        """Count in what a summary of another one says."""
        for name in ("calls", "cached", "failed", "not_asked", "input_tokens", "output_tokens"):
            setattr(self, name, getattr(self, name) + summary[name])
        if summary["cost"] is None:
            self.unpriced += 1
        else:
            self.cost += summary["cost"]

    def add_failure(self, error: ClientError) -> None:
        """Count a request without a reply."""
        if error.kind in ("budget", "not_cached"):
            self.not_asked += 1
        else:
            self.failed += 1

    def summary(self) -> dict[str, Any]:
        """Return the figures by name; the cost is None where it is not known of every call."""
        return {
            "calls": self.calls,
            "cached": self.cached,
            "failed": self.failed,
            "not_asked": self.not_asked,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost": None if self.unpriced else round(self.cost, 8),
        }


class Budget:
    """What calls may cost together.

    Once it is spent no further call begins, whatever is under way ends and is counted; so it is
    overshot by at most the calls that are under way together. Replies of the cache are free. A
    reply of which the server tells no tokens ends it too, for nobody can keep it any more.
    """

    def __init__(self, max_cost: float | None = None, max_tokens: float | None = None) -> None:
        self.max_cost = _bound("max_cost", max_cost)
        """US dollars; None for no bound."""
        self.max_tokens = _bound("max_tokens", max_tokens)
        """Tokens in and out; None for no bound."""
        self.spent = Spending()
        """What was spent."""

    @property
    def reached(self) -> str | None:
        """Name the bound that is reached, None where there is none."""
        spent = self.spent
        untold = " (a server told no tokens)" if spent.uncounted else ""
        if self.max_tokens is not None and (untold or spent.tokens >= self.max_tokens):
            return f"max_tokens={self.max_tokens:,}{untold}"
        if self.max_cost is not None and (untold or spent.cost >= self.max_cost):
            return f"max_cost={self.max_cost:g}{untold}"
        return None

    def price(self, identity: Mapping[str, Any]) -> Price | None:
        """Return the price of a client's model, None where none is known and none is needed.

        Raises InvalidOptionError, and MissingDependencyError, where `max_cost` needs one.
        """
        try:
            price = price_of(identity)
        except MissingDependencyError:
            if self.max_cost is not None:
                raise
            return None
        if price is None and self.max_cost is not None:
            raise InvalidOptionError(
                f"max_cost={self.max_cost:g}: {_no_price(identity)}; bound max_tokens instead"
            )
        return price

    def check(self) -> None:
        """Raise ClientError where no further call may begin."""
        reached = self.reached
        if reached is not None:
            raise ClientError(f"not asked, for the budget {reached} is spent", kind="budget")


def why_unpriced(identity: Mapping[str, Any]) -> str | None:
    """Say why a model's price is not known, None where it is."""
    try:
        return None if price_of(identity) else _no_price(identity)
    except MissingDependencyError as error:
        return str(error)


def _no_price(identity: Mapping[str, Any]) -> str:
    return f"no price is known of {_named(identity)}"


def _named(identity: Mapping[str, Any]) -> str:
    """Name a model by what tells its price; an address or an option may hold what is secret."""
    name, seller = (quote(identity.get(each)) for each in ("name", "platform"))
    where = " behind an address of its own" if identity.get("base_url") else ""
    return f"the model {name} of {seller}{where}"


def _bound(name: str, value: float | None) -> float | None:
    if value is None or (
        isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf
    ):
        return value
    raise InvalidOptionError(f"{name}={quote(value)} is not a number of at least 0, or None")
