"""Where wrong values come from: the model invented them, or misread their source."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.runs.rows import Row

_WRONG: Final = ("mismatch", "wrong_type", "extra")


class Origins:
    """Counts, of each field that is compared, the wrong values by where they come from.

    What JsonGrounded does not find in the source is invented, what it finds there is misread; of
    what it does not look for nothing is known.
    """

    def __init__(self, evaluators: Mapping[str, Evaluator]) -> None:
        self._names = [*evaluators]
        self._grounded = _places_of(evaluators, "evaluators.json_grounded.JsonGrounded")
        self._compared = _places_of(
            evaluators, "evaluators.json_fields.JsonFields", "judges.judged_fields.JudgedFields"
        )
        self._found: Counter[tuple[str, str, str]] = Counter()

    def add(self, rows: Sequence[Row]) -> None:
        """Count in rows, sample by sample, each with one of every evaluator."""
        if not self._grounded or not self._compared:
            return
        width = len(self._names)
        for start in range(0, len(rows), width):
            said = rows[start : start + width]
            kinds = {
                each["pointer"]: each["kind"]
                for place in self._grounded
                for each in said[place].metadata.get("outcomes", ())
            }
            for place in self._compared:
                for each in said[place].metadata.get("outcomes", ()):
                    kind = kinds.get(each["pointer"], "open")
                    if kind != "open" and each["kind"] in _WRONG:
                        origin = "invented" if kind == "ungrounded" else "misread"
                        self._found[self._names[place], each["field"], origin] += 1

    def add_to(self, evaluators: Mapping[str, dict[str, Any]]) -> None:
        """Add the counts to the figures of a summary, in all and by field."""
        if not self._grounded:
            return
        for place in self._compared:
            name = self._names[place]
            figures = evaluators[name]
            for origin in ("invented", "misread"):
                figures[origin] = sum(
                    count for key, count in self._found.items() if key[::2] == (name, origin)
                )
                for path, field in figures["fields"].items():
                    field[origin] = self._found[name, path, origin]


def _places_of(evaluators: Mapping[str, Evaluator], *classes: str) -> list[int]:
    """Return the places of the evaluators of these classes, and import none for it."""
    found = []
    for each in classes:
        file, _, name = each.rpartition(".")
        found.append(getattr(sys.modules.get(f"llmeval_integrations.{file}"), name, ()))
    return [n for n, each in enumerate(evaluators.values()) if isinstance(each, tuple(found))]
