"""What a run would do, without doing it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.errors import ClientError, EvalError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.llm.client import Ask, Client
from llmeval_integrations.llm.reply import JudgeReply, Usage
from llmeval_integrations.llm.request import JudgeRequest
from llmeval_integrations.llm.steps import Step, drive
from llmeval_integrations.runs.chunks import in_chunks
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.engine import Engine, lines_of
from llmeval_integrations.runs.judging import clients_of
from llmeval_integrations.runs.naming import name_evaluators
from llmeval_integrations.runs.numbers import counted
from llmeval_integrations.runs.reading.opening import open_source
from llmeval_integrations.runs.reading.selecting import select
from llmeval_integrations.runs.samples import samples_of

if TYPE_CHECKING:
    from llmeval_integrations.llm.caching.cache import Cache
    from llmeval_integrations.llm.prices import Price

LOOKED_AT: Final = 1_000
"""The samples whose questions are worked out; the figures of more are in proportion."""

CHARACTERS_A_TOKEN: Final = 4
"""By which tokens are estimated; English has about four, other languages fewer."""


@dataclass
class Asking:
    """What a judge would ask, as far as that can be told before there is a reply.

    A judge that asks anew, or goes on by what was replied, asks more.
    """

    calls: int = 0
    """Requests that the cache lacks."""

    cached: int = 0
    """Requests whose reply is in the cache."""

    input_tokens: int = 0
    """Of the calls, about."""

    cost: float | None = 0.0
    """US dollars for these; None where a price is not known."""

    most_cost: float | None = 0.0
    """US dollars where every reply is as long as it may be; None where that is not bounded."""

    unpriced: str | None = None
    """Why a price is not known; None where all are."""


@dataclass(frozen=True)
class Plan:
    """What a run would do."""

    samples: int
    """Rows of the data that would be evaluated."""

    errors: dict[str, int]
    """For each evaluator the rows that it cannot look at."""

    judges: dict[str, Asking]
    """For each judge what it would ask."""

    def summary(self) -> dict[str, Any]:
        """Return it by names, for JSON."""
        return {
            "samples": self.samples,
            "evaluators": {
                name: {
                    "errors": errors,
                    **({"judge": asdict(self.judges[name])} if name in self.judges else {}),
                }
                for name, errors in self.errors.items()
            },
        }


def plan(
    samples: Any,
    evaluators: Mapping[str, Evaluator] | Iterable[Evaluator],
    *,
    columns: Mapping[str, str | None] | None = None,
    format: str | None = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    cache: str | PathLike[str] | None = None,
    max_cost: float | None = None,
) -> Plan:
    """Say what `evaluate` would do with the same arguments; asks nobody and writes nothing.

    Reads all of the data. What judges would ask is worked out for the first 1,000 samples. Raises
    what `evaluate` raises before it begins.
    """
    from llmeval_integrations.llm.budget import Budget

    named = name_evaluators(evaluators)
    by_evaluator = columns_by_evaluator(columns or {}, named)
    budget = Budget(max_cost)
    for client in clients_of(named):
        budget.price(client.identity())
    source = open_source(samples, format)
    select(source, limit, sample, seed)
    if engine is not None:
        lines_of(source)
    count = 0
    errors = dict.fromkeys(named, 0)
    with _opened(cache) as known:
        judges = {
            name: _Judge(evaluator, known)
            for name, evaluator in named.items()
            if isinstance(evaluator, JudgedEvaluator)
        }
        for chunk in in_chunks(source):
            count += len(chunk)
            for name, seen in samples_of(by_evaluator, chunk).items():
                unfit = seen.unfit(named[name], name)
                errors[name] += len(unfit)
                if name in judges:
                    judges[name].look_at(seen.without(unfit))
    return Plan(count, errors, {name: judge.asking() for name, judge in judges.items()})


@contextmanager
def _opened(path: str | PathLike[str] | None) -> Iterator[Cache | None]:
    if path is None or not Path(path).exists():
        yield None
        return
    from llmeval_integrations.llm.caching.cache import Cache

    with closing(Cache(path, frozen=True)) as cache:
        yield cache


class _Judge:
    """Works out what one judge would ask."""

    def __init__(self, judge: JudgedEvaluator, cache: Cache | None) -> None:
        self._judge = judge
        self._cache = cache
        self._found = Asking()
        self._samples = 0
        self._looked_at = 0
        self._prices: dict[int, Price | None] = {}

    def look_at(self, samples: list[Sample]) -> None:
        """Count samples, and what the first of them would ask."""
        self._samples += len(samples)
        for sample in samples[: LOOKED_AT - self._looked_at]:
            self._looked_at += 1
            try:
                drive(self._judge.steps(sample), self._perform)
            except EvalError:
                continue  # a row that would be an error

    def asking(self) -> Asking:
        """Return the figures in proportion to all samples."""
        times = self._samples / max(self._looked_at, 1)
        found = self._found
        return Asking(
            round(found.calls * times),
            round(found.cached * times),
            round(found.input_tokens * times),
            None if found.cost is None else round(found.cost * times, 6),
            None if found.most_cost is None else round(found.most_cost * times, 6),
            found.unpriced,
        )

    def _perform(self, step: Step) -> Any:
        if isinstance(step, Ask):
            return self._reply(step.client, step.request)
        return step.run(self._perform)

    def _reply(self, client: Client, request: JudgeRequest) -> JudgeReply:
        """Return the reply that the cache has; else take the question down, and give none."""
        from llmeval_integrations.llm.caching.cached import Cached

        if self._cache is not None:
            try:
                reply = drive(Cached(client, self._cache).answer(request))
            except ClientError as error:
                if error.kind != "not_cached":
                    raise
            else:
                self._found.cached += 1
                return reply
        self._count(client, request)
        raise ClientError("a plan asks nobody", kind="not_cached")

    def _count(self, client: Client, request: JudgeRequest) -> None:
        found, identity = self._found, client.identity()
        text = "".join(message.text for message in request.messages)
        characters = len(text) + (len(json.dumps(request.schema)) if request.schema else 0)
        tokens = -(-characters // CHARACTERS_A_TOKEN)
        most = request.max_tokens or identity.get("max_tokens")
        price = self._price(client)
        found.calls += 1
        found.input_tokens += tokens
        found.cost = _plus(found.cost, price and price(Usage(tokens)))
        found.most_cost = _plus(
            found.most_cost, price(Usage(tokens, most)) if price and most else None
        )

    def _price(self, client: Client) -> Price | None:
        """Return the price of a client's model, None where it is not known; takes down why."""
        from llmeval_integrations.llm.budget import Budget, why_unpriced

        if id(client) not in self._prices:
            identity = client.identity()
            self._prices[id(client)] = Budget().price(identity)
            self._found.unpriced = self._found.unpriced or why_unpriced(identity)
        return self._prices[id(client)]


def _plus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def plan_text(plan: Plan) -> str:
    """Write a plan in a line for every evaluator."""
    lines = [f"{counted(plan.samples, 'sample')}; nothing is asked and nothing is written"]
    for name, errors in plan.errors.items():
        parts = [f"{plan.samples - errors:,} evaluated"]
        if errors:
            parts.append(counted(errors, "error row"))
        if name in plan.judges:
            parts += _asked(plan.judges[name])
        lines.append(f"{name}: {', '.join(parts)}")
    return "\n".join(lines) + "\n"


def _asked(asking: Asking) -> Iterator[str]:
    yield f"at least {counted(asking.calls, 'call')}"
    if asking.cached:
        yield f"{asking.cached:,} replies from the cache"
    if asking.calls:
        yield f"about {asking.input_tokens:,} tokens of questions"
        if asking.cost is None:
            yield f"at a price that is not known: {asking.unpriced}"
        elif asking.most_cost is None:
            yield f"${asking.cost:.4f} and what the replies cost"
        else:
            yield f"${asking.cost:.4f} to ${asking.most_cost:.4f}"
