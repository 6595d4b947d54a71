"""Count the calls and arguments of many samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from llmeval_integrations.fields.tally import FieldTally
from llmeval_integrations.matching.node import Figures

_MOST_TOOLS: Final = 1_000
_OTHER: Final = "(other)"


class CallTally:
    """Counts the calls of each tool, and the outcomes of each argument, over a run."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        """`paths` are those of settings, as `weather/city`; the summary lists unused ones."""
        self._fields = FieldTally(f"/{path}" for path in paths)
        self._tools: dict[str, Counter[str]] = {}

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
            if "output" in call:
                self._tool(call["name"])["called"] += 1
            if "reference" in call:
                self._tool(call.get("expected_name", call["name"]))["expected"] += 1
            self._tool(call["name"])["right"] += call["kind"] == "right"

    def _tool(self, name: str) -> Counter[str]:
        if name not in self._tools and len(self._tools) >= _MOST_TOOLS:
            name = _OTHER
        return self._tools.setdefault(name, Counter())

    def summary(self) -> dict[str, Any]:
        """Return the figures of all calls, of each tool, and of each argument."""
        tools = {}
        for name, counts in sorted(self._tools.items()):
            right, called, expected = (counts[key] for key in ("right", "called", "expected"))
            own = {"called": called, "expected": expected, "right": right}
            tools[name] = {**own, **Figures(right, called, expected).shares()}
        figures = self._fields.summary()
        if "unmet_paths" in figures:
            figures["unmet_paths"] = [path[1:] for path in figures["unmet_paths"]]
        return {**figures, "tools": tools}
