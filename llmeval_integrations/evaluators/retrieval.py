"""Are the relevant documents retrieved, and do they come first?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import format_against
from llmeval_integrations.core.options import Count, ZeroToOne
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.json_values.parse import as_python, parse

Metric = Literal["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"]
"""The metrics of one query. The mean of `ap` over a run is MAP, and the mean of `mrr` is MRR."""


@dataclass(frozen=True)
class Retrieval(Evaluator):
    """Are the relevant documents retrieved, and do they come first?

    A sample has two lists of ids, or their JSON: `retrieved` (or else the output), best first, and
    `relevant`. If an id is repeated, its first position counts. The number 1 and the text "1" are
    the same id.

    Example:
        >>> retrieval = Retrieval(metric="mrr")
        >>> retrieval(None, retrieved=["b", "a"], relevant=["a"]).score
        0.5

    Score: the metric, from 0 to 1. Without any relevant id, the result is unscored. Metadata: all
    metrics. A document is relevant or not, so each relevant one has the gain 1 in NDCG (Järvelin
    and Kekäläinen, 2002). With `k`, the ideal order has at most `k` documents, too.
    """

    needs: ClassVar[tuple[str, ...]] = ("relevant",)

    metric: Metric = "ndcg"
    """The metric that is the score."""

    k: Count | None = None
    """How many of the retrieved ids count, from the best; None means all."""

    threshold: ZeroToOne | None = None
    """The lowest score that passes. With None no result passes or fails."""

    def check(self, sample: Sample) -> Result:
        relevant = set(self._ids("relevant", sample.require("relevant", self.name)))
        given = sample.retrieved
        if given is MISSING or given is None:
            given = sample.output
        retrieved = list(dict.fromkeys(self._ids("retrieved", given)))[: self.k]
        if not relevant:
            return Result.unscored("No document is relevant", label="nothing_relevant")
        figures = measure_retrieval(retrieved, relevant, self.k or len(relevant))
        score, passed, reason = figures[self.metric], None, None
        if self.threshold is not None:
            passed = score >= self.threshold
            reason = None if passed else f"{self.metric} {format_against(self.threshold, score)}"
        return Result(score, passed, None, reason, {**figures})

    def _ids(self, field: str, value: Any) -> list[str]:
        ids = parse(value) if isinstance(value, str) else as_python(value)
        if not isinstance(ids, (list, tuple)) or any(type(each) not in (str, int) for each in ids):
            raise InputError(f"{self.name}: {field}={quote(value)} is not a list of ids")
        return [*map(str, ids)]  # a table may have read the ids of one column as numbers


def measure_retrieval(retrieved: list[str], relevant: set[str], k: int) -> dict[str, float]:
    """Return all metrics of retrieved ids, which are different and best first, and at most k."""
    ranks = [rank for rank, each in enumerate(retrieved, 1) if each in relevant]
    gains = sum(1 / math.log2(rank + 1) for rank in ranks)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    precisions = sum(found / rank for found, rank in enumerate(ranks, 1))
    return {
        "hit_rate": float(bool(ranks)),
        "mrr": 1 / ranks[0] if ranks else 0.0,
        "precision": len(ranks) / len(retrieved) if retrieved else 0.0,
        "recall": len(ranks) / len(relevant),
        "ap": precisions / len(relevant),
        "ndcg": gains / ideal,
    }
