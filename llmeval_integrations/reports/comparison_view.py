"""Two runs compared, as sections of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.reports.entries import score
from llmeval_integrations.reports.view import NOTHING, Cell, Column, Section, Tone, View
from llmeval_integrations.runs.comparison.compare import compare
from llmeval_integrations.runs.comparison.comparison import Comparison
from llmeval_integrations.runs.comparison.differences import Difference
from llmeval_integrations.runs.numbers import (
    chance,
    counted,
    figure,
    percent,
    points,
    signed,
)
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.run import Run

_TONES: Final[dict[str, Tone]] = {"worse": "bad", "better": "good", "none shown": "quiet"}
_ORDER: Final = tuple(_TONES)
_NAMED: Final = 3
_MOST_FIELDS: Final = 200
_FEW_FIELDS: Final = 3
_MOST_SURE: Final = 20
"""Fields of a short report, where none and where many surely differ."""

_LONGEST_REASON: Final = 160
_MOST_ROWS: Final = 2_000_000  # some 65 bytes of memory and 10 µs each
_NOTE: Final = (
    "Over the samples that both runs have; of a field, those that have it in either run. The "
    "adjusted p is the chance of as much where nothing has changed, adjusted for all differences "
    "together (Holm), as the verdict is; an interval is not. Better and worse count samples."
)


def comparison_view(comparison: Comparison, changes: int = 5) -> View:
    """Return what a report says of two runs.

    Up to so many `changes` of each evaluator are listed for the worse, and for the better.
    """
    listed = [each for each in comparison.differences if each.field is None]
    fields = [each for each in comparison.differences if each.field is not None]
    sections = [
        _differences("differences", "Comparison", "difference", listed, _NOTE),
        _differences("compared-fields", "Fields compared", "field", fields, ""),
        _changes(comparison, changes),
    ]
    return View(
        _title(comparison),
        _verdict(comparison),
        [each.drop_empty() for each in sections if each.rows],
        comparison.warnings,
    )


def views_of_comparisons(runs: Mapping[str, Run], changes: int = 5) -> Iterator[View]:
    """Compare the first run with each of the others, and say why where that cannot be."""
    (first, a), *others = runs.items()
    for name, b in others:
        if len(a.rows) + len(b.rows) > _MOST_ROWS:
            why = f"they have more than {_MOST_ROWS:,} rows: llmeval compare A B"
        else:
            try:
                found = compare(a, b, changes=changes)
            except InputError as error:
                why = str(error)
            else:
                yield comparison_view(replace(found, a=first, b=name), changes)
                continue
        yield View(f"A: {first}; B: {name}", Cell(f"Not compared: {why}.", "warn"), [])


def _title(comparison: Comparison) -> str:
    joined = max((each.joined for each in comparison.evaluators.values()), default=0)
    return (
        f"A: {comparison.a}, {counted(comparison.samples_a, 'sample')}; "
        f"B: {comparison.b}, {counted(comparison.samples_b, 'sample')}; {joined:,} joined"
    )


def _verdict(comparison: Comparison) -> Cell:
    worse, better = comparison.regressions, comparison.improvements
    parts = [
        f"B is {word}: {_describe(found)}."
        for word, found in (("worse", worse), ("better", better))
        if found
    ]
    if not parts:
        parts = ["No difference is more than chance may make.", comparison.power]
    return Cell(" ".join(parts), "bad" if worse else "good" if better else "")


def _describe(found: Sequence[Difference]) -> str:
    named = [
        f"{_name(each)} {_figure(each, each.a)} → {_figure(each, each.b)}"
        for each in found[:_NAMED]
    ]
    rest = len(found) - len(named)
    return "; ".join([*named, f"and {rest} more"] if rest else named)


def _differences(
    name: str, title: str, noun: str, found: Sequence[Difference], note: str
) -> Section:
    ranked = sorted(found, key=lambda each: _ORDER.index(each.verdict))
    columns = [
        Column("field" if noun == "field" else "figure", "name"),
        Column("evaluator", "name", rank=6, optional=True),
        Column("verdict", "word"),
        Column("A"),
        Column("B"),
        Column("B - A"),
        Column("95 % interval", rank=4),
        Column("samples", rank=3),
        Column("worse", rank=5),
        Column("better", rank=5),
        Column("adjusted p", rank=4),
    ]
    one = len({each.evaluator for each in found}) == 1
    rows = [
        [
            Cell(_name(each) if each.field is None else each.field or "(the whole)"),
            Cell("" if one or each.field is None else each.evaluator),
            *_cells(each),
        ]
        for each in ranked[:_MOST_FIELDS]
    ]
    sure = sum(each.verdict != "none shown" for each in found)
    few = max(_FEW_FIELDS, min(sure, _MOST_SURE)) if noun == "field" else len(rows)
    return Section(
        name,
        title,
        columns,
        rows,
        note,
        noun=noun,
        few=few,
        most=15 if noun == "field" else 50,
        left_out=len(ranked) - len(rows),
        elsewhere="llmeval compare A B --json",
    )


def _name(each: Difference) -> str:
    return f"{each.evaluator} {each.measure if each.field is None else each.field or '(the whole)'}"


def _cells(each: Difference) -> Iterator[Cell]:
    tone = _TONES[each.verdict]
    is_score = each.measure == "score"
    yield Cell(each.verdict, tone)
    yield Cell(_figure(each, each.a))
    yield Cell(_figure(each, each.b))
    yield Cell(
        signed(each.difference) if is_score else f"{points(each.difference)} points",
        tone if tone != "quiet" else "",
    )
    write = signed if is_score else points
    yield Cell(NOTHING if each.interval is None else " to ".join(map(write, each.interval)))
    groups = "" if each.groups is None else f" in {counted(each.groups, 'group')}"
    yield Cell(f"{figure(each.n)}{groups}", "quiet")
    yield Cell(figure(each.worse), "bad" if each.worse else "quiet")
    yield Cell(figure(each.better), "good" if each.better else "quiet")
    yield Cell(chance(each.adjusted), "quiet")


def _figure(each: Difference, value: float) -> str:
    return score(value) if each.measure == "score" else percent(value)


def _changes(comparison: Comparison, most: int) -> Section:
    """List samples that got worse, then those that got better, of each evaluator."""
    listed = [
        (name, change)
        for better in (False, True)
        for name, found in comparison.evaluators.items()
        for change in islice((one for one in found.changes if one.better is better), most)
    ]
    columns = [
        Column("sample", "name"),
        Column("evaluator", "name"),
        Column("verdict", "word"),
        Column("in A", "text"),
        Column("in B", "text"),
    ]
    rows = [
        [
            Cell(text_of(each.id), filter={"evaluator": name, "sample": text_of(each.id)}),
            Cell(name),
            Cell("better" if each.better else "worse", "good" if each.better else "bad"),
            Cell(_describe_side(each.passed_a, each.score_a, each.reason_a)),
            Cell(_describe_side(each.passed_b, each.score_b, each.reason_b)),
        ]
        for name, each in listed
    ]
    changed = sum(each.better + each.worse for each in comparison.evaluators.values())
    return Section(
        "changes",
        "Samples that changed most",
        columns,
        rows,
        noun="change",
        few=len(rows),
        most=10,
        left_out=changed - len(rows),
        elsewhere="llmeval compare A B --json",
    )


def _describe_side(passed: bool | None, score: float | None, reason: str | None) -> str:
    """Write what an evaluator said of a sample: its verdict, its score, why."""
    verdict = {True: "passed", False: "failed", None: ""}[passed]
    said = " ".join(filter(None, (verdict, "" if score is None else figure(score))))
    reason = reason or ""
    reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}..."
    return f"{said}: {reason}" if reason else said
