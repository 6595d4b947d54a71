"""Whether a run is better than the first, as a section of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from llmeval_integrations.errors import InputError
from llmeval_integrations.markup import Html, joined, tag
from llmeval_integrations.reports.parts.sections import number, section, table
from llmeval_integrations.runs.comparing.compare import compare
from llmeval_integrations.runs.comparing.comparison import Comparison
from llmeval_integrations.runs.comparing.difference import Difference
from llmeval_integrations.runs.numbers import counted, figure
from llmeval_integrations.runs.run import Run

MOST_FIELDS: Final = 10
"""Fields that are shown of a comparison."""

NOTHING_SURE: Final = "No difference is more than what chance may do."
"""What is said where no verdict is better or worse."""

_MOST_ROWS: Final = 2_000_000  # some 65 bytes of memory and 10 µs each
_HEADS: Final = (
    "evaluator",
    "of",
    "samples",
    "B − A",
    "95 % interval",
    "p",
    "better",
    "worse",
    "verdict",
)
_NOTE: Final = (
    "Over the samples that both runs have. p is the chance of a difference as large where nothing "
    "has changed, adjusted for all differences together (Holm); better and worse are samples."
)


def comparisons(runs: Mapping[str, Run]) -> Iterator[Html]:
    """Compare the first run with each of the others, where there are any."""
    (first, a), *others = runs.items()
    parts = [part for name, b in others for part in _compared(first, a, name, b)]
    if parts:
        yield section("comparison", "Comparison", *parts, tag("p", _NOTE, class_="quiet"))


def compared(a: Run, b: Run) -> Comparison | str:
    """Compare two runs, or say why a report does not."""
    if len(a.rows) + len(b.rows) > _MOST_ROWS:
        return f"they have more than {_MOST_ROWS:,} rows: llmeval compare"
    try:
        return compare(a, b, changes=0)
    except InputError as error:
        return str(error)


def _compared(first: str, a: Run, second: str, b: Run) -> Iterator[Html]:
    title = f"A: {first}; B: {second}"
    yield tag("h3", title)
    found = compared(a, b)
    if isinstance(found, str):
        yield tag("p", f"Not compared: {found}.")
        return
    yield tag("p", _answer(found))
    fields = [each for each in found.differences if each.field is not None]
    shown = [each for each in found.differences if each.field is None] + fields[:MOST_FIELDS]
    yield table(f"Differences of {title}", _HEADS, [_row(each) for each in shown], "figures")
    rest = len(fields) - MOST_FIELDS
    if rest > 0:
        yield tag("p", f"and {counted(rest, 'field')} less sure", class_="quiet")
    if found.warnings:
        yield tag("ul", *(tag("li", warning) for warning in found.warnings))


def _answer(found: Comparison) -> Html:
    said = [
        tag("span", f"B is {verdict} in {', '.join(map(_named, differences))}. ", class_=style)
        for verdict, differences, style in (
            ("worse", found.regressions, "alarm"),
            ("better", found.improvements, None),
        )
        if differences
    ]
    return joined(said) if said else joined([NOTHING_SURE])


def _named(each: Difference) -> str:
    return f"{each.evaluator} {each.field or each.measure}"


def _row(each: Difference) -> Html:
    bounds = each.interval
    interval = "–" if bounds is None else f"{bounds[0]:+.3f} to {bounds[1]:+.3f}"
    return tag(
        "tr",
        tag("th", each.evaluator, scope="row"),
        tag("td", each.field or each.measure),
        number(figure(each.n)),
        number(f"{each.difference:+.3f}"),
        number(interval),
        number(f"{each.adjusted:.3f}"),
        number(figure(each.better), "" if each.better else "quiet"),
        number(figure(each.worse), "alarm" if each.worse else "quiet"),
        tag("td", each.verdict, class_="alarm" if each.verdict == "worse" else None),
    )
