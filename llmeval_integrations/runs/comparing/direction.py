"""Which way an evaluator's scores get better."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from llmeval_integrations.runs.comparing.comparable import manifest_of_run
from llmeval_integrations.runs.comparing.joining import Joined, Pair
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.verdicts import Verdicts


def lower_is_better(
    a: Run, b: Run, joined: Joined, said: Collection[str]
) -> dict[str, bool | None]:
    """Say for each evaluator whether its scores are better where they are lower.

    They are where that is `said`, and where the evaluator says so. Where the evaluators are known
    of neither run, the rows tell; None where these do not, either.
    """
    known = known_lower(a)
    if known is None:
        known = known_lower(b)
    return {
        name: name in said or (_lower_passed(pairs) if known is None else name in known)
        for name, pairs in joined.pairs.items()
    }


def contradicted(joined: Joined, lower: Mapping[str, bool | None]) -> Iterator[str]:
    """Word where the rows say something else than is known of an evaluator."""
    for name, pairs in joined.pairs.items():
        told, seen = lower[name], _lower_passed(pairs)
        if None not in (told, seen) and told is not seen:
            better, passed = ("lower", "higher") if told else ("higher", "lower")
            hint = "" if told else "; name it in lower_is_better if that is wrong"
            yield (
                f"{name}: {better} scores count as better, though all that passed have {passed} "
                f"ones than all that failed{hint}"
            )


def known_lower(run: Run) -> frozenset[str] | None:
    """Name the evaluators whose scores are better where they are lower; None where not known."""
    if run.lower_is_better is not None:
        return run.lower_is_better
    manifest = manifest_of_run(run)
    if manifest is None:
        return None
    described = manifest["evaluators"].items()
    return frozenset(name for name, each in described if each.get("lower_is_better"))


def _lower_passed(pairs: Iterable[Pair]) -> bool | None:
    verdicts = Verdicts()
    for pair in pairs:
        for said in (pair.a, pair.b):
            if said.score is not None and said.passed is not None:
                verdicts.add(said.score, said.passed)
    return verdicts.lower_passed
