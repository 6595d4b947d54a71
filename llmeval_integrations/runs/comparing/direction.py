"""Which way an evaluator's scores get better."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable

from llmeval_integrations.runs.comparing.comparable import manifest_of_run
from llmeval_integrations.runs.comparing.difference import mean
from llmeval_integrations.runs.comparing.joining import Joined, Pair
from llmeval_integrations.runs.distances import distances_in
from llmeval_integrations.runs.run import Run


def lower_is_better(
    a: Run, b: Run, joined: Joined, said: Collection[str] = ()
) -> dict[str, bool | None]:
    """Say for each evaluator whether its scores are better where they are lower.

    They are where that is `said`, where it measures a distance, and where rows passed with lower
    scores than they failed with, in both runs together. None where nothing tells: the evaluators
    are known of neither run, and no rows passed or none failed.
    """
    known = _known_distances(a)
    if known is None:
        known = _known_distances(b)
    found: dict[str, bool | None] = {}
    for name, pairs in joined.pairs.items():
        if name in said or name in (known or ()):
            found[name] = True
        else:
            lower = _passes_lower(pairs)
            found[name] = False if lower is None and known is not None else lower
    return found


def distances(run: Run) -> Collection[str]:
    """Name the evaluators that measure a distance, none where they are unknown.

    So it is known where no row tells, as all failed.
    """
    return _known_distances(run) or ()


def _known_distances(run: Run) -> frozenset[str] | None:
    """Name the evaluators that measure a distance, None where that is not known."""
    if run.distances is not None:
        return run.distances
    manifest = manifest_of_run(run)
    return None if manifest is None else distances_in(manifest)


def _passes_lower(pairs: Iterable[Pair]) -> bool | None:
    """Say whether lower scores passed; None where rows do not tell."""
    scores = {True: array("d"), False: array("d")}
    for pair in pairs:
        for said in (pair.a, pair.b):
            if said.score is not None and said.passed is not None:
                scores[said.passed].append(said.score)
    passed, failed = mean(scores[True]), mean(scores[False])
    return passed < failed if passed < failed or passed > failed else None  # NaN is neither
