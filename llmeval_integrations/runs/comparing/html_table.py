"""Two runs compared as HTML, for a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from llmeval_integrations.reports.markup import Html, tag
from llmeval_integrations.runs.comparing.comparison import Comparison
from llmeval_integrations.runs.comparing.table import (
    CAPTION,
    COLUMNS,
    cells_of,
    changes_shown,
    fields_shown,
    title,
)
from llmeval_integrations.runs.html_table import table


def as_html(comparison: Comparison) -> str:
    """Write the differences as tables, what is doubtful, and below the samples that changed."""
    return tag("div", *_parts(comparison))


def _parts(comparison: Comparison) -> Iterator[Html]:
    yield tag("p", title(comparison))
    evaluators = (each for each in comparison.differences if each.field is None)
    yield table(("evaluator", *COLUMNS, "verdict"), map(cells_of, evaluators))
    for name, (fields, others) in fields_shown(comparison).items():
        yield table((f"{name}: field", *COLUMNS, "verdict"), map(cells_of, fields))
        if others:
            yield tag("p", f"and {others} more")
    yield tag("p", tag("small", CAPTION))
    if comparison.warnings:
        yield tag("ul", *(tag("li", warning) for warning in comparison.warnings))
    changes = [*changes_shown(comparison.evaluators)]
    if changes:
        found = table(("evaluator", "sample", "verdict", "in A", "in B"), changes)
        yield tag("details", tag("summary", "Samples that changed most"), found)
