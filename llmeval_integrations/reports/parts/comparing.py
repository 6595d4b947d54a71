"""Whether a run is better than the first, as a section of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.reports.markup import Html, joined, tag
from llmeval_integrations.reports.parts.sections import number, sample_link, section, table
from llmeval_integrations.runs.comparing.changing import Change
from llmeval_integrations.runs.comparing.compare import compare
from llmeval_integrations.runs.comparing.comparison import Comparison
from llmeval_integrations.runs.comparing.difference import Difference
from llmeval_integrations.runs.numbers import chance, counted, figure, signed
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.run import Run

MOST_FIELDS: Final = 10
"""Fields that are shown of a comparison."""

NOTHING_SURE: Final = "No difference is more than what chance may do."
"""What is said where no verdict is better or worse."""

CHANGED: Final = "Samples that changed most"
"""What the list of them is called."""

MORE_CHANGED: Final = "more; llmeval compare --json lists up to 100 of each evaluator"
"""What is said, behind their number, of those that are not listed."""

_MOST_CHANGES: Final = 20
_LONGEST_REASON: Final = 160
_MOST_ROWS: Final = 2_000_000  # some 65 bytes of memory and 10 µs each
_HEADS: Final = (
    "evaluator",
    "of",
    "samples",
    "B − A",
    "95 % interval",
    "adjusted p",
    "better",
    "worse",
    "detectable",
    "verdict",
)
_CHANGE_HEADS: Final = ("evaluator", "sample", "", "A", "B", "what was wrong")
_NOTE: Final = (
    "Over the samples that both runs have; of a field, those whose reference or output has it in "
    "either run, and an output that rightly lacks it counts as right. The adjusted p is the chance "
    "of a difference as large where nothing has changed, adjusted for all differences together "
    "(Holm), as the verdict is; an interval is not, so that it may exclude 0 where none is shown. "
    "Better and worse are samples; detectable is the smallest difference that so many of them "
    "would have shown with a chance of 80 %."
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
        return compare(a, b, changes=_MOST_CHANGES)
    except InputError as error:
        return str(error)


def would_have_shown(found: Comparison, named: Callable[[Difference], str]) -> str:
    """Say how large the differences of evaluators that were not shown would have had to be."""
    seen = [
        f"{figure(each.detectable)} in {named(each)}"
        for each in found.differences
        if each.field is None and each.verdict == "none shown" and each.detectable is not None
    ]
    if not seen:
        return ""
    return f"A difference of {' or '.join(seen)} would have been shown with a chance of 80 %."


def changes_of(found: Comparison, most: int) -> tuple[list[tuple[str, Change]], int]:
    """List samples that got worse, and better, up to `most` of each with the evaluator's name.

    Gives as well how many are not listed.
    """
    listed = [
        (name, change)
        for name, each in found.evaluators.items()
        for better in (False, True)
        for change in islice((one for one in each.changes if one.better is better), most)
    ]
    changed = sum(each.better + each.worse for each in found.evaluators.values())
    return listed, changed - len(listed)


def outcomes_of(change: Change) -> tuple[str, str]:
    """Write what became of a sample: its verdicts where these differ, else its scores."""
    if {change.passed_a, change.passed_b} == {True, False}:
        return ("passed", "failed") if change.passed_a else ("failed", "passed")
    return figure(change.score_a), figure(change.score_b)


def reason_of(change: Change) -> str:
    """Return why the worse of the two outputs is no better."""
    reason = (change.reason_a if change.better else change.reason_b) or ""
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}..."


def _compared(first: str, a: Run, second: str, b: Run) -> Iterator[Html]:
    title = f"A: {first}; B: {second}"
    yield tag("h3", title)
    found = compared(a, b)
    if isinstance(found, str):
        yield tag("p", f"Not compared: {found}.")
        return
    yield tag("p", _answer(found), would_have_shown(found, _named))
    fields = [each for each in found.differences if each.field is not None]
    shown = [each for each in found.differences if each.field is None] + fields[:MOST_FIELDS]
    yield table(f"Differences of {title}", _HEADS, [_row(each) for each in shown], "figures")
    rest = len(fields) - MOST_FIELDS
    if rest > 0:
        yield tag("p", f"and {counted(rest, 'field')} more, of no smaller p", class_="quiet")
    yield from _changes(title, found, first, second)
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
    return joined(said) if said else joined([NOTHING_SURE, " "])


def _named(each: Difference) -> str:
    return f"{each.evaluator} {each.field or each.measure}"


def _row(each: Difference) -> Html:
    bounds = each.interval
    interval = "–" if bounds is None else " to ".join(map(signed, bounds))
    return tag(
        "tr",
        tag("th", each.evaluator, scope="row"),
        tag("td", each.field or each.measure),
        number(figure(each.n)),
        number(signed(each.difference)),
        number(interval),
        number(chance(each.adjusted)),
        number(figure(each.better), "" if each.better else "quiet"),
        number(figure(each.worse), "alarm" if each.worse else "quiet"),
        number(figure(each.detectable)),
        tag("td", each.verdict, class_="alarm" if each.verdict == "worse" else None),
    )


def _changes(title: str, found: Comparison, first: str, second: str) -> Iterator[Html]:
    """Write a folded table of the samples that changed."""
    listed, rest = changes_of(found, _MOST_CHANGES)
    if listed:
        rows = [_change(name, change, first, second) for name, change in listed]
        yield tag(
            "details",
            tag("summary", CHANGED),
            table(f"{CHANGED}: {title}", _CHANGE_HEADS, rows),
            tag("p", f"and {rest:,} {MORE_CHANGED}", class_="quiet") if rest else "",
        )


def _change(evaluator: str, change: Change, first: str, second: str) -> Html:
    """Write a sample that changed, as a link where it failed in the run in which it is worse."""
    run, passed = (first, change.passed_a) if change.better else (second, change.passed_b)
    id_ = text_of(change.id)
    return tag(
        "tr",
        tag("th", evaluator, scope="row"),
        tag("td", sample_link(id_, evaluator, run) if passed is False else id_),
        tag(
            "td", "better" if change.better else "worse", class_=None if change.better else "alarm"
        ),
        *(tag("td", outcome) for outcome in outcomes_of(change)),
        tag("td", reason_of(change), class_="quiet"),
    )
