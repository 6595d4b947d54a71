"""Two runs compared, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from llmeval_integrations.core.figures import format_figure
from llmeval_integrations.core.printable import make_printable, one_line, plain_console
from llmeval_integrations.runs.comparing.comparison import Compared, Comparison
from llmeval_integrations.runs.comparing.difference import Difference
from llmeval_integrations.runs.numbers import chance, counted, signed
from llmeval_integrations.runs.table import WIDTH

_MOST_FIELDS: Final = 6
_MOST_DIFFERENT: Final = 20
_MOST_CHANGES: Final = 5
_LONGEST: Final = 60
_LEAST_NAME: Final = 14
_BETWEEN: Final = 2
"""Spaces behind a column."""

_BESIDE: Final = 5
"""Spaces at the ends, and behind the name and the verdict."""
_STYLES: Final = {"better": "green", "worse": "red", "none shown": ""}
COLUMNS: Final = (
    *("n", "A", "B", "B - A", "95 % interval", "adjusted p"),
    *("better", "worse", "detectable"),
)
"""What is told of each difference, between its name and its verdict."""

_LEAST: Final = (
    *(("detectable",), ("better", "worse"), ("95 % interval",)),
    *(("adjusted p",), ("n",), ("A", "B")),
)
"""Which of them are left out first where there is no room for all."""

_CAPTIONS: Final = {
    "adjusted p": "adjusted p: the chance of as much where nothing has changed, adjusted for all "
    "differences together (Holm), which the intervals are not",
    "n": "a field counts in samples whose reference or output has it",
    "detectable": "detectable: the smallest difference that so many samples would have shown, with "
    "a chance of 80 %",
}
CAPTION: Final = "; ".join(_CAPTIONS.values())


def as_text(
    comparison: Comparison, console: Console | None = None, *, changes: int = _MOST_CHANGES
) -> str:
    """Write the differences, then up to so many `changes` of each evaluator in each direction.

    For the given console with its width and colours, else as plain text.
    """
    if console is None:
        console = plain_console(WIDTH)
    evaluators = [each for each in comparison.differences if each.field is None]
    by_evaluator = fields_shown(comparison)
    shown = [*evaluators, *(each for fields, _ in by_evaluator.values() for each in fields)]
    columns = _columns_with_room(console.width, shown)
    tables: list[Table | Text] = [_differences("evaluator", evaluators, columns, title(comparison))]
    for name, (fields, others) in by_evaluator.items():
        tables.append(_fields(name, fields, columns, others))
    caption = "; ".join(said for column, said in _CAPTIONS.items() if column in columns)
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


def _columns_with_room(width: int, differences: list[Difference]) -> Sequence[str]:
    """Return the columns that there is room for, none of which is to be cut."""
    heads = (max(_head(name).split("\n"), key=len) for name in COLUMNS)
    cells = [("", *heads, ""), *map(cells_of, differences)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    needed = dict(zip(COLUMNS, widths[1:]))
    room = width - _LEAST_NAME - widths[-1] - _BESIDE
    for names in _LEAST:
        if sum(needed.values()) + _BETWEEN * len(needed) <= room:
            break
        for name in names:
            del needed[name]
    return tuple(needed)


def _head(name: str) -> str:
    return name.replace("ed p", "ed\np")


def _differences(
    head: str,
    differences: list[Difference],
    columns: Sequence[str],
    heading: str | None = None,
) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), title_justify="left")
    table.title = None if heading is None else make_printable(heading)
    table.add_column(Text(make_printable(head)), overflow="fold", min_width=_LEAST_NAME)
    for name in columns:
        table.add_column(_head(name), justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for each in differences:
        name, *figures, verdict = cells_of(each)
        said = dict(zip(COLUMNS, figures))
        cells = (name, *map(said.__getitem__, columns), verdict)
        table.add_row(*(Text(make_printable(cell), _STYLES[each.verdict]) for cell in cells))
    return table


def _fields(name: str, fields: list[Difference], columns: Sequence[str], others: int) -> Table:
    table = _differences(f"{name}: field", fields, columns)
    if others:
        table.add_row(Text(f"and {counted(others, 'field')} more", "dim"))
    return table


def cells_of(each: Difference) -> list[str]:
    """Write a difference as cells: its name, the columns, its verdict where there is one."""
    name = f"{each.evaluator} {each.measure}" if each.field is None else each.field
    interval = "-" if each.interval is None else " to ".join(map(signed, each.interval))
    return [
        name or "(the whole)",
        f"{each.n:,}",
        format_figure(each.a),
        format_figure(each.b),
        signed(each.difference),
        interval,
        chance(each.adjusted),
        f"{each.better:,}",
        f"{each.worse:,}",
        "-" if each.detectable is None else signed(each.detectable)[1:],
        "" if each.verdict == "none shown" else each.verdict,
    ]


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
    figure = "" if score is None else format_figure(score)
    said = " ".join(part for part in (verdict, figure) if part)
    return f"{said}: {_cut(reason)}" if reason else said


def _cut(text: str) -> str:
    text = one_line(text[: 2 * _LONGEST])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
