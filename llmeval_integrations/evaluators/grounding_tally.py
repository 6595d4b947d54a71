"""Count how often the values of each field are found in the sources of many extractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from llmeval_integrations.core.quote import name_or_other
from llmeval_integrations.fields.paths import is_met


class GroundingTally:
    """Counts for each field of a run how many values are found in their sources."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        """The summary lists those of the paths that no output has."""
        self._paths = [*paths]
        self._fields: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, sample: Any, metadata: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Count the values of one sample, from the metadata of its result."""
        for outcome in metadata.get("outcomes", ()):
            kind, path = outcome["kind"], name_or_other(outcome["field"], self._fields)
            counts = self._fields[path]
            counts[kind if kind in ("open", "ungrounded") else "grounded"] += 1
            counts["common"] += outcome.get("common", False)

    def summary(self) -> dict[str, Any]:
        """Return the figures of all fields, the fields with the most ungrounded values first."""
        fields = sorted(self._fields.items(), key=lambda item: (-item[1]["ungrounded"], item[0]))
        unmet = [path for path in self._paths if not is_met(path, self._fields)]
        return {
            **({"unmet_paths": unmet} if unmet and fields else {}),
            "grounding": {path: _figures(counts) for path, counts in fields},
        }


def _figures(counts: Counter[str]) -> dict[str, Any]:
    """Return the counts of a field with two shares: grounded of judged, and common of grounded."""
    grounded, ungrounded = counts["grounded"], counts["ungrounded"]
    judged = grounded + ungrounded
    return {
        "grounded": grounded,
        "ungrounded": ungrounded,
        "open": counts["open"],
        "share": grounded / judged if judged else None,
        "common": counts["common"] / grounded if grounded else None,
    }
