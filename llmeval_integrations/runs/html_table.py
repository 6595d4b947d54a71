"""A run's summary as HTML, for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from llmeval_integrations.reports.markup import Html, joined, tag
from llmeval_integrations.runs.numbers import (
    LABEL_HEADS,
    counted,
    figure,
    figures_of,
    labels_of,
    samples_of,
)
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import Finding

_MOST_KINDS: Final = 5
_MOST_FIELDS: Final = 20
_FIELD_HEADS: Final = ("leaves", "match", "precision", "recall", "F1", "most often wrong")
_LONGEST: Final = 160


def as_html(run: Run) -> str:
    """Write a run's figures as a table; its worst fields, and what was found, are folded below."""
    findings = [
        (name, each) for name, found in run.findings.items() for each in found[:_MOST_KINDS]
    ]
    parts = [
        tag("p", samples_of(run)),
        table(
            ("evaluator", "passed", "95 % interval", "mean", "scored", "unscored", "errors"),
            ([name, *figures_of(each)] for name, each in run.summary["evaluators"].items()),
        ),
    ]
    for name, each in run.summary["evaluators"].items():
        if each.get("fields"):
            parts.append(_fields(name, each["fields"]))
    if labels := list(labels_of(run.summary)):
        parts.append(table(LABEL_HEADS, labels))
    if findings:
        rows = (_finding(name, each) for name, each in findings)
        found = table(("evaluator", "found", "rows", "most often, or for example"), rows)
        rest = sum(map(len, run.findings.values())) - len(findings)
        note = [tag("p", f"and {counted(rest, 'kind')} more in run.findings")] if rest else []
        parts.append(tag("details", tag("summary", "What went wrong"), found, *note))
    return tag("div", *parts)


def _fields(evaluator: str, fields: Mapping[str, Any]) -> Html:
    shown = list(fields.items())[:_MOST_FIELDS]
    rows = ([path or "(the whole)", *_field(each)] for path, each in shown)
    title = tag("summary", f"Fields of {evaluator}")
    rest = len(fields) - len(shown)
    note = [tag("p", f"and {rest:,} more in run.summary")] if rest else []
    return tag("details", title, table(("field", *_FIELD_HEADS), rows), *note)


def _field(figures: Mapping[str, Any]) -> Iterator[str]:
    for name in ("leaves", "match", "precision", "recall", "f1"):
        yield figure(figures[name])
    wrong = figures["wrong_values"][:1]
    yield "".join(f"{each['output']} for {each['reference']} ({each['count']:,})" for each in wrong)


def _finding(evaluator: str, finding: Finding) -> list[str]:
    kind = f"error: {finding.kind}" if finding.is_error else finding.kind
    return [evaluator, kind, f"{finding.count:,}", finding.reason[:_LONGEST]]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """Write a table of texts."""
    head = tag("tr", *(tag("th", each, scope="col") for each in heads))
    body = [tag("tr", *(tag("td", cell) for cell in row)) for row in rows]
    return tag("table", tag("thead", head), tag("tbody", joined(body)))
