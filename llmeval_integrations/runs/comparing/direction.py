"""Which way an evaluator's scores get better."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final

from llmeval_integrations.runs.comparing.comparable import manifest_of_run
from llmeval_integrations.runs.comparing.difference import mean
from llmeval_integrations.runs.comparing.joining import Joined, Pair
from llmeval_integrations.runs.run import Run

_CEILING: Final = "max_distance"
"""The option of evaluators that pass at a distance or below."""


def lower_is_better(run: Run, joined: Joined) -> set[str]:
    """Name the evaluators whose scores are better where they are lower.

    Those whose rows passed with lower scores than they failed with, in both runs together; and
    those that measure a distance.
    """
    known = distances(run)
    return {name for name, pairs in joined.pairs.items() if name in known or _passes_lower(pairs)}


def distances(run: Run) -> set[str]:
    """Name the evaluators that measure a distance, by their options; none where these are unknown.

    So it is known where no row tells, as all failed.
    """
    manifest = manifest_of_run(run)
    return {
        name
        for name, described in (manifest["evaluators"] if manifest else {}).items()
        if _CEILING in described.get("options", {})
    }


def _passes_lower(pairs: Iterable[Pair]) -> bool:
    scores = {True: array("d"), False: array("d")}
    for pair in pairs:
        for said in (pair.a, pair.b):
            if said.score is not None and said.passed is not None:
                scores[said.passed].append(said.score)
    return mean(scores[True]) < mean(scores[False])  # NaN, where there are none, is not less
