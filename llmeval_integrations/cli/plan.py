"""What a run would do, ask and pay, without doing it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.llm.budget import Budget, find_price
from llmeval_integrations.llm.cache import Cache, request_key
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.reply import Usage
from llmeval_integrations.llm.session import Ask, Session
from llmeval_integrations.runs import evaluate
from llmeval_integrations.runs.judges import clients_of
from llmeval_integrations.runs.numbers import write_count

_CHARACTERS_A_TOKEN: Final = 4
"""English has about four characters a token, other languages have fewer."""

_REPLY: Final = 150
"""Tokens of a reply with its reasons; a reasoning model uses many more."""


class _NotAskedError(Exception):
    """A model would be asked, and its reply decides what follows."""


@dataclass
class _Estimate:
    """The requests that judges would send at least; after a reply they may send further ones."""

    share: float  # of the price that is paid: half for a batch
    frozen: bool  # whether only replies from the cache are used
    asked: set[bytes] = field(default_factory=set)  # keys of requests: equal ones share a call
    calls: int = 0  # requests whose reply is not in the cache
    cached: int = 0  # replies from the cache, and those that equal requests share
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0  # in US dollars
    unpriced: str = ""  # why a price is not known

    def add(self, client: Client, request: Request) -> NoReturn:
        """Count a request to a model."""
        key = request_key(json.dumps(client.identity(), sort_keys=True), request)
        if key not in self.asked:
            self.asked.add(key)
            usage = Usage(
                -(-request.length // _CHARACTERS_A_TOKEN), min(request.max_tokens or _REPLY, _REPLY)
            )
            price = find_price(client)
            self.calls += 1
            self.input_tokens += usage.input_tokens
            self.output_tokens += usage.output_tokens
            if isinstance(price, str):
                self.unpriced = self.unpriced or price
            else:
                self.cost += self.share * price(usage)
        elif not self.frozen:  # a frozen run lacks this reply, too
            self.cached += 1
        raise _NotAskedError

    def __str__(self) -> str:
        if self.frozen:
            return f"{self.cached:,} replies from the cache, which lacks at least {self.calls:,}"
        unknown = f"at an unknown price: {self.unpriced}"
        return (
            f"at least {write_count(self.calls, 'call')}, {self.cached:,} replies from the cache, "
            f"about {self.input_tokens:,} tokens of questions and {self.output_tokens:,} of "
            f"replies, {unknown if self.unpriced else f'about ${self.cost:.4f}'}"
        )


class _CostProbe(JudgedEvaluator):
    """A judge that sends no requests, and counts those that it would send."""

    shows = ()  # the inner judge reads the images

    def __init__(self, judge: JudgedEvaluator, session: Session, estimate: _Estimate) -> None:
        vars(self).update(name=judge.name, needs=judge.needs)
        self._judge, self._session, self._estimate = judge, session, estimate

    async def judge(self, sample: Sample, ask: Ask) -> Result:
        ask = Ask(self._session)
        try:
            return await self._judge.result(sample, ask)
        except _NotAskedError:
            return Result.unscored("nobody was asked", label="not_cached")
        finally:
            self._estimate.cached += ask.spending.cached


def plan(
    data: str, evaluators: Mapping[str, Evaluator], options: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what `evaluate` would do, a line for each evaluator, and what all judges would ask.

    Raises the errors of data, columns and prices that `evaluate` raises before it begins.
    """
    for client in clients_of(evaluators):
        Budget(options.get("max_cost")).price(client)
    has_cache = Path(options["cache"] or "").is_file()
    cache = Cache(options["cache"], frozen=True) if has_cache else None
    estimate = _Estimate(0.5 if options.get("batch") else 1.0, options.get("frozen", False))
    session = Session(cache=cache, count=estimate.add)
    probes = {
        name: _CostProbe(each, session, estimate) if isinstance(each, JudgedEvaluator) else each
        for name, each in evaluators.items()
    }
    ours = {"cache": None, "batch": False, "frozen": False}  # a probe asks nothing
    run = evaluate(data, probes, **{**options, **ours})
    samples = run.summary["samples"]
    yield f"{write_count(samples, 'sample')}; nothing is asked and nothing is written"
    for name, figures in run.summary["evaluators"].items():
        errors = figures["errors"]
        parts = [f"{samples - errors:,} evaluated"]
        if errors:
            first = next((each.reason for each in run.findings[name] if each.is_error), "")
            parts.append(f"{write_count(errors, 'error row')} (for example: {first})")
        yield f"{name}: {', '.join(parts)}"
    if any(isinstance(each, _CostProbe) for each in probes.values()):
        yield f"judges: {estimate}"
