"""What the sources of a run tell of its values: invented or misread, or found by chance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final, TypeAlias

from llmeval_integrations.reports.differences import GROUNDED
from llmeval_integrations.reports.tables import by_sample
from llmeval_integrations.runs.numbers import counted
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.stored import read_texts
from llmeval_integrations.text.sources import common_numbers, normalize

_MOST_SOURCES: Final = 200
"""Sources whose numbers are counted; each takes about a millisecond."""

_FEWEST_SOURCES: Final = 10
"""Of fewer nobody can say what is common."""

Origins: TypeAlias = Mapping[tuple[str, str], Counter[str]]
"""By evaluator and field, how many wrong values were `invented` and how many `misread`; of
JsonGrounded, how many values that were found are `common`."""


def origins_of(run: Run) -> Origins:
    """Count where the values of a run's outputs come from.

    What JsonGrounded does not find in the source is invented, what it finds there is misread; of
    what it does not look for nothing is known.
    """
    evaluators = run.summary["evaluators"]
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    grounded = [name for name, each in evaluators.items() if "grounding" in each]
    compared = [name for name, each in evaluators.items() if "fields" in each]
    common = {name: _common(run, name) for name in grounded}
    for _, rows in by_sample(run) if grounded else ():
        outcomes = {row.evaluator: (row.metadata or {}).get("outcomes", ()) for row in rows}
        kinds = {
            each["pointer"]: each["kind"] for name in grounded for each in outcomes.get(name, ())
        }
        for name in grounded:
            for each in outcomes.get(name, ()):
                is_common = each["kind"] in GROUNDED and normalize(each["output"]) in common[name]
                found[name, each["field"]]["common"] += is_common
        for name in compared:
            for each in outcomes.get(name, ()):
                kind = kinds.get(each["pointer"], "open")
                if kind != "open" and each["kind"] in ("mismatch", "wrong_type", "extra"):
                    origin = "invented" if kind == "ungrounded" else "misread"
                    found[name, each["field"]][origin] += 1
    return found


def _common(run: Run, evaluator: str) -> frozenset[Any]:
    """Return the numbers that many sources have, as far as the run knows its sources."""
    sources = set()
    for _, sample in islice(read_texts(run, evaluator), _MOST_SOURCES):
        parts = [sample.get("input"), *(sample.get("contexts") or ())]
        sources.add("\n\n".join(part for part in parts if isinstance(part, str)))
    if len(sources) < _FEWEST_SOURCES:
        return frozenset()
    return frozenset(map(normalize, common_numbers(sources)))


def describe_origins(origins: Origins) -> str:
    """Say how many wrong values were invented and misread, nothing where that is not known."""
    counts = sum(origins.values(), Counter[str]())
    invented, misread = counts["invented"], counts["misread"]
    if not invented + misread:
        return ""
    wrong = counted(invented + misread, "wrong value")
    return f"Of {wrong} {invented:,} are not in the source (invented), {misread:,} are (misread)"
