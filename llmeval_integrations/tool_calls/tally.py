"""Count the calls and arguments of many samples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from llmeval_integrations.core.quote import name_or_other
from llmeval_integrations.fields.tally import FieldTally
from llmeval_integrations.matching.node import Figures

_UNREADABLE: Final = "(unreadable)"


class CallTally:
    """Counts the calls of each tool, and the outcomes of each argument, over a run."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        """The summary lists those of the paths, such as `/weather/city`, that no call has."""
        self._fields = FieldTally(paths)
        self._tools: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, sample: Any, metadata: Mapping[str, Any]) -> None:
        """Count the calls of one sample, from the metadata of its result."""
        calls = metadata.get("calls", ())
        wrong = [one for call in calls for one in call.get("arguments", ()) if "field" in one]
        figures = {
            "matched": metadata.get("right"),
            "output_leaves": metadata.get("called"),
            "reference_leaves": metadata.get("expected"),
        }
        self._fields.add(
            sample, {**metadata, **figures, "outcomes": [*wrong, *metadata.get("graded", ())]}
        )
        for call in calls:
            name = call["name"] or _UNREADABLE
            wanted = call.get("expected_name", name)
            self._tools[name_or_other(wanted, self._tools)]["expected"] += "reference" in call
            counts = self._tools[name_or_other(name, self._tools)]
            counts["called"] += "output" in call
            counts["right"] += call["kind"] == "right"

    def summary(self) -> dict[str, Any]:
        """Return the figures of all calls, of each tool, and of each argument."""
        tools = {}
        for name, counts in sorted(self._tools.items()):
            own = {figure: counts[figure] for figure in ("called", "expected", "right")}
            figures = Figures(own["right"], own["called"], own["expected"])
            tools[name] = {**own, **figures.shares()}
        fields = self._fields.summary()
        if "unmet_paths" in fields:
            fields["unmet_paths"] = [path[1:] for path in fields["unmet_paths"]]
        return {**fields, "tools": tools}
