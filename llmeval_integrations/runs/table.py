"""A run as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from llmeval_integrations.core.figures import format_figure, format_within
from llmeval_integrations.core.printable import make_printable, plain_console
from llmeval_integrations.runs.numbers import (
    LABEL_HEADS,
    counted,
    labels_of,
    samples_of,
)
from llmeval_integrations.text.excerpt import cut_around_difference

if TYPE_CHECKING:
    from rich.console import Console

    from llmeval_integrations.runs.run import Run
    from llmeval_integrations.runs.summary import Finding

WIDTH: Final = 110
"""Characters to a line where there is no terminal to ask."""

_LONGEST_REASON: Final = 120
_LONGEST_KIND: Final = 40
_LONGEST_VALUE: Final = 30
_FIGURES: Final = ("n", "scored", "unscored", "errors", "mean", "pass_rate", "pass_rate_ci95")
_MOST_FIELDS: Final = 6
_MOST_KINDS: Final = 5
_KINDS: Final = {
    "mismatch": "mismatch",
    "missing": "missing",
    "unreadable": "no\nJSON",
    "extra": "extra",
    "wrong_type": "wrong\ntype",
}
_SHARES: Final = {"precision": "precision", "recall": "recall", "f1": "F1"}
_ROOM_FOR_KINDS: Final = WIDTH
_ROOM_FOR_NAMES: Final = 12
_LEGEND: Final = (
    "leaves: single values; precision: of those of the output, recall: of those of the reference, "
    "the share that matches"
)
_OF_UNREADABLE: Final = "; no JSON: those of the missing whose output is unreadable"
_NO_COST: Final = (
    "cost: not known, for genai-prices (pip install 'llmeval-integrations[prices]') is missing or "
    "has no price of the model, or a server told no tokens"
)
_JUDGING: Final = (
    "calls",
    "cached",
    "failed",
    "not_asked",
    "input_tokens",
    "output_tokens",
    "cost",
)


def as_text(run: Run, console: Console | None = None) -> str:
    """Write a run's figures, then what was found in the rows that did not pass.

    For the given console with its width and colours, else as plain text.
    """
    if console is None:
        console = plain_console(WIDTH)
    tables: list[Table | Text] = [Text(samples_of(run), style="italic"), _figures(run)]
    if "judging" in run.summary:
        tables.append(_judging(run))
    with_fields = {
        name: figures["fields"]
        for name, figures in run.summary["evaluators"].items()
        if figures.get("fields")
    }
    tables += [_fields(name, fields, console.width) for name, fields in with_fields.items()]
    if with_fields:
        tables.append(_legend(with_fields.values(), console.width))
    if labels := list(labels_of(run.summary)):
        tables.append(_labels(labels))
    if any(run.findings.values()):
        tables.append(_findings(run))
    with console.capture() as capture:
        console.print(Group(*tables))
    return "\n".join(line.rstrip() for line in capture.get().strip("\n").split("\n")) + "\n"


def _figures(run: Run) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("evaluator", overflow="fold", min_width=12)
    for name in _FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    for evaluator, figures in run.summary["evaluators"].items():
        cells = [_figure(figures[name]) for name in _FIGURES]
        table.add_row(Text(make_printable(evaluator)), *cells)
    return table


def _figure(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return " to ".join(format_within((0, 1), bound, "f", 3) for bound in value)
    return format_figure(value) if isinstance(value, float) else str(value)


def _judging(run: Run) -> Table:
    table = Table(box=box.SIMPLE, caption_justify="left")
    table.add_column("judge", no_wrap=True)
    for name in _JUDGING:
        table.add_column(name, justify="right")
    judges = {
        name: figures["judge"]
        for name, figures in run.summary["evaluators"].items()
        if "judge" in figures
    }
    if len(judges) > 1:
        judges["all"] = run.summary["judging"]
    for name, taken in judges.items():
        cells = [_taken(column, taken[column]) for column in _JUDGING]
        table.add_row(Text(make_printable(name)), *cells)
        if taken["cost"] is None:
            table.caption = Text(_NO_COST)
    return table


def _taken(column: str, value: Any) -> str:
    if column == "cost":
        return "not known" if value is None else f"${value:.4f}"
    return "-" if value is None else f"{value:,}"


def _fields(evaluator: str, fields: dict[str, Any], width: int) -> Table:
    """Show the fields in which most is wrong, each with the wrong value that is most frequent.

    How much is wrong of each kind stands there where there is any, and room for it.
    """
    shown = list(fields.items())[:_MOST_FIELDS]
    table = Table(box=box.SIMPLE, padding=(0, 0, 0, 1))
    head = make_printable(evaluator) + ":\nfield"
    table.add_column(
        Text(head), overflow="fold", min_width=min(len(evaluator) + 1, _ROOM_FOR_NAMES)
    )
    kinds = _KINDS if width >= _ROOM_FOR_KINDS else {}
    found = {kind: head for kind, head in kinds.items() if _any(fields, kind)}
    columns = {"leaves": "leaves", "match": "match", **found, **_SHARES}
    for head in columns.values():
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("most often wrong", overflow="fold")
    for path, figures in shown:
        cells = [_short(figures[name]) for name in columns]
        table.add_row(Text(make_printable(path or "(the whole)")), *cells, _wrong_value(figures))
    if len(fields) > len(shown):
        table.caption = f"and {counted(len(fields) - len(shown), 'field')} more in summary.json"
    return table


def _legend(tables: Iterable[dict[str, Any]], width: int) -> Text:
    """Say what the heads of the tables of fields mean."""
    told = width >= _ROOM_FOR_KINDS and any(_any(fields, "unreadable") for fields in tables)
    return Text(_LEGEND + (_OF_UNREADABLE if told else ""), style="dim italic")


def _short(value: Any) -> str:
    return format_within((0, 1), value, "f", 3) if isinstance(value, float) else _figure(value)


def _any(fields: dict[str, Any], name: str) -> bool:
    return any(figures[name] for figures in fields.values())


def _wrong_value(figures: dict[str, Any]) -> Text:
    for found in figures["wrong_values"][:1]:
        output, reference = cut_around_difference(
            found["output"], found["reference"], _LONGEST_VALUE
        )
        said = f"{output} for {reference}"
        times = f"{found['count']:,}"
        said += f" ({times} times)" if times != "1" else ""
        return Text(make_printable(said))
    return Text("")


def _labels(labels: Iterable[tuple[str, str, str, str]]) -> Table:
    table = Table(box=box.SIMPLE)
    for head in LABEL_HEADS:
        table.add_column(head, justify="right" if head in ("rows", "share") else "left")
    for name, label, *figures in labels:
        table.add_row(
            Text(make_printable(name)), Text(_cut(make_printable(label), _LONGEST_KIND)), *figures
        )
    return table


def _findings(run: Run) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("evaluator", overflow="fold")
    table.add_column("found", overflow="fold")
    table.add_column("rows", justify="right")
    table.add_column("most often, or for example", overflow="fold")
    for evaluator, findings in run.findings.items():
        for finding in findings[:_MOST_KINDS]:
            table.add_row(Text(make_printable(evaluator)), *_cells(finding))
        if more := findings[_MOST_KINDS:]:
            rows = sum(finding.count for finding in more)
            table.add_row(
                Text(make_printable(evaluator)),
                f"and {counted(len(more), 'kind')} more",
                str(rows),
                "",
            )
    return table


def _cells(finding: Finding) -> tuple[Text, str, Text]:
    style = "red" if finding.is_error else ""
    kind = f"error: {finding.kind}" if finding.is_error else _cut(finding.kind, _LONGEST_KIND)
    reason = _cut(finding.reason, _LONGEST_REASON)
    if finding.of_reason > 1:
        reason = f"{reason} ({finding.of_reason} times)"
    return Text(make_printable(kind), style), str(finding.count), Text(make_printable(reason))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
