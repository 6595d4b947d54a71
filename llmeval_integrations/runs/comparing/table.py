"""Two runs compared, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any, Final

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from llmeval_integrations.printable import one_line, printable
from llmeval_integrations.rounding import rounded
from llmeval_integrations.runs.comparing.comparison import Compared, Comparison
from llmeval_integrations.runs.comparing.difference import Difference
from llmeval_integrations.runs.numbers import counted
from llmeval_integrations.runs.table import WIDTH

_MOST_FIELDS: Final = 6
_MOST_DIFFERENT: Final = 20
_MOST_CHANGES: Final = 5
_LONGEST: Final = 60
_STYLES: Final = {"better": "green", "worse": "red", "none shown": ""}
COLUMNS: Final = (
    *("n", "A", "B", "B - A", "95 % interval", "adjusted p"),
    *("better", "worse", "detectable"),
)
"""What is told of each difference, between its name and its verdict."""

_WHERE_NARROW: Final = COLUMNS[:6]
"""What there is room for on a narrow terminal."""

_ROOM_FOR_ALL: Final = 100

_CAPTION_WHERE_NARROW: Final = (
    "adjusted p: the chance of as much where nothing has changed, adjusted for all differences "
    "together (Holm), which the intervals are not; a field counts in samples whose reference or "
    "output has it"
)
CAPTION: Final = (
    f"{_CAPTION_WHERE_NARROW}; detectable: the smallest difference that so many samples would have "
    "shown, with a chance of 80 %"
)


def as_text(
    comparison: Comparison, console: Console | None = None, *, changes: int = _MOST_CHANGES
) -> str:
    """Write the differences, then up to so many `changes` of each evaluator in each direction.

    For the given console with its width and colours, else as plain text.
    """
    if console is None:
        console = Console(file=StringIO(), width=WIDTH, color_system=None)
    evaluators = [each for each in comparison.differences if each.field is None]
    is_wide = console.width >= _ROOM_FOR_ALL
    columns = COLUMNS if is_wide else _WHERE_NARROW
    tables: list[Table | Text] = [_differences("evaluator", evaluators, columns, title(comparison))]
    for name, (fields, others) in fields_shown(comparison).items():
        tables.append(_fields(name, fields, columns, others))
    caption = CAPTION if is_wide else _CAPTION_WHERE_NARROW
    tables.append(Text(caption, style="dim italic"))
    if changes and any(each.changes for each in comparison.evaluators.values()):
        tables += [Text(""), _changes(comparison.evaluators, changes)]
    with console.capture() as capture:
        console.print(Group(*tables))
    return "\n".join(line.rstrip() for line in capture.get().strip("\n").split("\n")) + "\n"


def title(comparison: Comparison) -> str:
    """Write what is compared."""
    joined = max((each.joined for each in comparison.evaluators.values()), default=0)
    return (
        f"A: {comparison.a}, {comparison.samples_a:,} samples; "
        f"B: {comparison.b}, {comparison.samples_b:,} samples; {joined:,} joined"
    )


def fields_shown(comparison: Comparison) -> dict[str, tuple[list[Difference], int]]:
    """Return for each evaluator with fields those that differ, or the first, and how many not."""
    found: dict[str, tuple[list[Difference], int]] = {}
    for name in comparison.evaluators:
        fields = [
            each
            for each in comparison.differences
            if each.evaluator == name and each.field is not None
        ]
        different = [each for each in fields if each.verdict != "none shown"][:_MOST_DIFFERENT]
        shown = different + fields[len(different) : max(_MOST_FIELDS, len(different))]
        if shown:
            found[name] = shown, len(fields) - len(shown)
    return found


def _differences(
    head: str,
    differences: list[Difference],
    columns: Sequence[str],
    heading: str | None = None,
) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), title_justify="left")
    table.title = None if heading is None else printable(heading)
    table.add_column(Text(printable(head)), overflow="fold", min_width=14)
    for name in columns:
        table.add_column(name.replace("ed p", "ed\np"), justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for each in differences:
        name, *figures, verdict = cells_of(each)
        cells = (name, *figures[: len(columns)], verdict)
        table.add_row(*(Text(printable(cell), _STYLES[each.verdict]) for cell in cells))
    return table


def _fields(name: str, fields: list[Difference], columns: Sequence[str], others: int) -> Table:
    table = _differences(f"{name}: field", fields, columns)
    if others:
        table.add_row(Text(f"and {counted(others, 'field')} more", "dim"))
    return table


def cells_of(each: Difference) -> list[str]:
    """Write a difference as cells: its name, the columns, its verdict where there is one."""
    name = f"{each.evaluator} {each.measure}" if each.field is None else each.field
    interval = "-" if each.interval is None else " to ".join(map(_signed, each.interval))
    return [
        name or "(the whole)",
        f"{each.n:,}",
        rounded(each.a),
        rounded(each.b),
        _signed(each.difference),
        interval,
        "<0.0001" if each.adjusted < 0.0001 else f"{each.adjusted:.4f}",
        f"{each.better:,}",
        f"{each.worse:,}",
        "-" if each.detectable is None else _signed(each.detectable)[1:],
        "" if each.verdict == "none shown" else each.verdict,
    ]


def _signed(figure: float) -> str:
    return f"{figure:+.3f}" if abs(figure) < 100 else f"{figure:+.4g}"


def _changes(evaluators: dict[str, Compared], most: int) -> Table:
    table = Table(box=box.SIMPLE, title="Samples that changed most", title_justify="left")
    table.add_column("evaluator", overflow="fold")
    table.add_column("sample", overflow="fold")
    table.add_column("", no_wrap=True)
    table.add_column("in A", overflow="fold", ratio=1)
    table.add_column("in B", overflow="fold", ratio=1)
    for name, sample, verdict, *said in changes_shown(evaluators, most):
        style = _STYLES[verdict]
        table.add_row(Text(name), Text(sample), Text(verdict, style), *map(Text, said))
    return table


def changes_shown(
    evaluators: dict[str, Compared], most: int = _MOST_CHANGES
) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the samples that changed most: evaluator, id, verdict, what was said in A and in B."""
    for name, found in evaluators.items():
        for better in (False, True):
            listed = [each for each in found.changes if each.better is better][:most]
            for each in listed:
                yield (
                    one_line(name),
                    _cut(str(each.id)),
                    "better" if better else "worse",
                    _said(each.passed_a, each.score_a, each.reason_a),
                    _said(each.passed_b, each.score_b, each.reason_b),
                )


def _said(passed: bool | None, score: Any, reason: str | None) -> str:
    verdict = {True: "passed", False: "failed", None: ""}[passed]
    figure = "" if score is None else rounded(score)
    said = " ".join(part for part in (verdict, figure) if part)
    return f"{said}: {_cut(reason)}" if reason else said


def _cut(text: str) -> str:
    text = one_line(text[: 2 * _LONGEST])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
