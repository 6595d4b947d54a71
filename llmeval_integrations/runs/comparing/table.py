"""Two runs compared, as tables."""

from __future__ import annotations

from io import StringIO
from typing import Any, Final

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from llmeval_integrations.printable import one_line, printable
from llmeval_integrations.runs.comparing.changing import Change
from llmeval_integrations.runs.comparing.comparison import Compared, Comparison
from llmeval_integrations.runs.comparing.difference import Difference
from llmeval_integrations.runs.table import WIDTH

_MOST_FIELDS: Final = 6
_MOST_DIFFERENT: Final = 20
_MOST_CHANGES: Final = 5
_LONGEST: Final = 60
_STYLES: Final = {"better": "green", "worse": "red", "none shown": ""}
_COLUMNS: Final = ("n", "A", "B", "B - A", "95 % interval", "p", "better", "worse", "detectable")
_CAPTION: Final = (
    "p: the chance of as much where nothing has changed, adjusted for all differences together "
    "(Holm); detectable: the smallest difference that so many samples would have shown, with a "
    "chance of 80 %"
)


def as_text(comparison: Comparison, console: Console | None = None) -> str:
    """Write the differences, then the samples that changed.

    For the given console with its width and colours, else as plain text.
    """
    if console is None:
        console = Console(file=StringIO(), width=WIDTH, color_system=None)
    evaluators = [each for each in comparison.differences if each.field is None]
    tables: list[Table | Text] = [_differences("evaluator", evaluators, _title(comparison))]
    for name in comparison.evaluators:
        fields = [
            each
            for each in comparison.differences
            if each.evaluator == name and each.field is not None
        ]
        if fields:
            tables.append(_fields(name, fields))
    tables.append(Text(_CAPTION, style="dim italic"))
    if any(each.changes for each in comparison.evaluators.values()):
        tables += [Text(""), _changes(comparison.evaluators)]
    with console.capture() as capture:
        console.print(Group(*tables))
    return "\n".join(line.rstrip() for line in capture.get().strip("\n").split("\n")) + "\n"


def _title(comparison: Comparison) -> str:
    joined = max((each.joined for each in comparison.evaluators.values()), default=0)
    return (
        f"A: {comparison.a}, {comparison.samples_a:,} samples; "
        f"B: {comparison.b}, {comparison.samples_b:,} samples; {joined:,} joined"
    )


def _differences(head: str, differences: list[Difference], title: str | None = None) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), title_justify="left")
    table.title = None if title is None else printable(title)
    table.add_column(Text(printable(head)), overflow="fold", min_width=14)
    for name in _COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for each in differences:
        table.add_row(*_cells(each))
    return table


def _fields(name: str, fields: list[Difference]) -> Table:
    """Show the fields that differ, and beside them the first that do not."""
    different = [each for each in fields if each.verdict != "none shown"][:_MOST_DIFFERENT]
    shown = different + fields[len(different) : max(_MOST_FIELDS, len(different))]
    table = _differences(f"{name}: field", shown)
    if len(fields) > len(shown):
        table.add_row(Text(f"and {len(fields) - len(shown)} more", "dim"))
    return table


def _cells(each: Difference) -> list[Text]:
    name = f"{each.evaluator} {each.measure}" if each.field is None else each.field
    interval = "-" if each.interval is None else " to ".join(map(_signed, each.interval))
    cells = [
        name or "(the whole)",
        f"{each.n:,}",
        f"{each.a:.4g}",
        f"{each.b:.4g}",
        _signed(each.difference),
        interval,
        "<0.0001" if each.adjusted < 0.0001 else f"{each.adjusted:.4f}",
        f"{each.better:,}",
        f"{each.worse:,}",
        "-" if each.detectable is None else _signed(each.detectable)[1:],
        "" if each.verdict == "none shown" else each.verdict,
    ]
    return [Text(printable(cell), _STYLES[each.verdict]) for cell in cells]


def _signed(figure: float) -> str:
    return f"{figure:+.3f}" if abs(figure) < 100 else f"{figure:+.4g}"


def _changes(evaluators: dict[str, Compared]) -> Table:
    table = Table(box=box.SIMPLE, title="Samples that changed most", title_justify="left")
    table.add_column("evaluator", overflow="fold")
    table.add_column("sample", overflow="fold")
    table.add_column("", no_wrap=True)
    table.add_column("in A", overflow="fold", ratio=1)
    table.add_column("in B", overflow="fold", ratio=1)
    for name, found in evaluators.items():
        for better in (False, True):
            listed = [each for each in found.changes if each.better is better][:_MOST_CHANGES]
            for each in listed:
                table.add_row(*_change(name, each))
    return table


def _change(name: str, each: Change) -> list[Text]:
    verdict = "better" if each.better else "worse"
    return [
        Text(one_line(name)),
        Text(_cut(str(each.id))),
        Text(verdict, _STYLES[verdict]),
        Text(_said(each.passed_a, each.score_a, each.reason_a)),
        Text(_said(each.passed_b, each.score_b, each.reason_b)),
    ]


def _said(passed: bool | None, score: Any, reason: str | None) -> str:
    verdict = {True: "passed", False: "failed", None: ""}[passed]
    figure = "" if score is None else f"{score:.4g}"
    said = " ".join(part for part in (verdict, figure) if part)
    return f"{said}: {_cut(reason)}" if reason else said


def _cut(text: str) -> str:
    text = one_line(text[: 2 * _LONGEST])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
