"""What a run would do, ask and pay, without doing it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.llm.budget import Budget, why_unpriced
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.reply import JudgeReply, Usage
from llmeval_integrations.llm.request import JudgeRequest
from llmeval_integrations.llm.steps import Steps
from llmeval_integrations.runs import evaluate
from llmeval_integrations.runs.judging import clients_of
from llmeval_integrations.runs.numbers import counted

_CHARACTERS_A_TOKEN: Final = 4
"""English has about four, other languages fewer."""


@dataclass
class Estimate:
    """What a judge would ask before it has any reply; after one it may ask more."""

    calls: int = 0
    """Requests that the cache lacks."""
    cached: int = 0
    """Requests whose reply is in the cache."""
    input_tokens: int = 0
    """Of the calls, about."""
    cost: float | None = 0.0
    """US dollars for these; None where a price is not known."""
    unpriced: str | None = None
    """Why a price is not known."""


class _Estimator(Client):
    """Stands in the place of a judge's client, and asks nobody."""

    def __init__(self, client: Client, estimate: Estimate) -> None:
        self._client, self._estimate = client, estimate

    def identity(self) -> dict[str, Any]:
        return self._client.identity()

    def answer(self, request: JudgeRequest) -> Steps[JudgeReply]:
        found, identity = self._estimate, self.identity()
        text = "".join(message.text for message in request.messages)
        characters = len(text) + (len(json.dumps(request.schema)) if request.schema else 0)
        tokens = -(-characters // _CHARACTERS_A_TOKEN)
        found.calls += 1
        found.input_tokens += tokens
        price = Budget().price(identity)
        if price is None or found.cost is None:
            found.cost = None
        else:
            found.cost = round(found.cost + price(Usage(tokens)), 9)
        found.unpriced = found.unpriced or why_unpriced(identity)
        raise ClientError("a plan asks nobody", kind="not_cached")
        yield  # which makes it a generator


def plan(
    data: str, evaluators: Mapping[str, Evaluator], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Say what `evaluate` would do; raises what it raises before it begins."""
    for client in clients_of(evaluators):
        Budget(options.get("max_cost")).price(client.identity())
    estimates: dict[str, Estimate] = {}
    named = {**evaluators}
    for name, judge in evaluators.items():
        if isinstance(judge, JudgedEvaluator):
            estimate = estimates[name] = Estimate()
            named[name] = judge.with_clients(partial(_Estimator, estimate=estimate))
    cache = options["cache"] if Path(options["cache"] or "").is_file() else None
    summary = evaluate(data, named, **{**options, "cache": cache}).summary
    rows: dict[str, Any] = {}
    for name, figures in summary["evaluators"].items():
        rows[name] = {"errors": figures["errors"]}
        if name in estimates:
            estimates[name].cached = figures["judge"]["cached"]
            rows[name]["judge"] = asdict(estimates[name])
    return {"samples": summary["samples"], "evaluators": rows}


def write_plan(found: Mapping[str, Any]) -> str:
    """Write a plan in a line for every evaluator."""
    samples = found["samples"]
    lines = [f"{counted(samples, 'sample')}; nothing is asked and nothing is written"]
    for name, figures in found["evaluators"].items():
        parts = [f"{samples - figures['errors']:,} evaluated"]
        if figures["errors"]:
            parts.append(counted(figures["errors"], "error row"))
        if "judge" in figures:
            parts += _word(Estimate(**figures["judge"]))
        lines.append(f"{name}: {', '.join(parts)}")
    return "\n".join(lines) + "\n"


def _word(estimate: Estimate) -> Iterator[str]:
    yield f"at least {counted(estimate.calls, 'call')}"
    if estimate.cached:
        yield f"{estimate.cached:,} replies from the cache"
    if estimate.calls:
        yield f"about {estimate.input_tokens:,} tokens of questions"
        if estimate.cost is None:
            yield f"at a price that is not known: {estimate.unpriced}"
        else:
            yield f"${estimate.cost:.4f} and what the replies cost"
