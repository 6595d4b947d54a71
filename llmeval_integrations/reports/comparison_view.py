"""The comparison of two runs, as sections of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import shorten
from llmeval_integrations.reports.view import Cell, Column, Row, Section, Tone, View, mute, score
from llmeval_integrations.runs.cells import text_of
from llmeval_integrations.runs.comparison.compare import Comparison, compare
from llmeval_integrations.runs.comparison.differences import Difference
from llmeval_integrations.runs.numbers import (
    NOTHING,
    chance,
    figure,
    percent,
    points,
    write_count,
    write_difference,
)
from llmeval_integrations.runs.run import Run

_TONES: Final[dict[str, Tone]] = {"worse": "bad", "better": "good", "none shown": "quiet"}
_NAMED: Final = 3
_LONGEST_REASON: Final = 160
_NOTE: Final = (
    "Only samples of both runs are compared, and for a field those that have it in either run. "
    "The verdicts take all differences together into account."
)
_OF_INTERVALS: Final = "Each interval is for one difference alone."
_OF_CHANCE: Final = "The adjusted p is the chance of such a difference if nothing changed (Holm)."
_ALL: Final = "llmeval compare A B --json"


def comparison_view(comparison: Comparison, changes: int = 5) -> View:
    """Return the report of a comparison.

    For each evaluator it lists up to `changes` samples that got worse, and as many that got better.
    """
    joined = max((each.joined for each in comparison.evaluators.values()), default=0)
    title = (
        f"A: {comparison.a}, {write_count(comparison.samples_a, 'sample')}; "
        f"B: {comparison.b}, {write_count(comparison.samples_b, 'sample')}; {joined:,} joined"
    )
    sections = [*_differences(comparison.differences), _changes(comparison, changes)]
    shown = [each for each in sections if each.rows]
    return View(title, _verdict(comparison), shown, comparison.warnings)


def views_of_comparisons(runs: Mapping[str, Run], changes: int = 5) -> Iterator[View]:
    """Compare the first run with each of the others, or explain why they cannot be compared."""
    (first, a), *others = runs.items()
    for name, b in others:
        try:
            found = replace(compare(a, b, changes=changes), a=first, b=name)
        except InputError as error:
            yield View(f"A: {first}; B: {name}", Cell(f"Not compared: {error}.", "warn"), [])
        else:
            yield comparison_view(found, changes)


def _verdict(comparison: Comparison) -> Cell:
    worse, better = comparison.regressions, comparison.improvements
    parts = [
        f"B is {word}: {_describe(found)}."
        for word, found in (("worse", worse), ("better", better))
        if found
    ]
    if not parts:
        parts = ["No difference is significant.", comparison.power]
    return Cell(" ".join(parts), "bad" if worse else "good" if better else "")


def _describe(found: Sequence[Difference]) -> str:
    named = []
    for each in found[:_NAMED]:
        row = _row(each)
        what = row["figure"] if each.field is None else f"{each.evaluator} {row['figure']}"
        named.append(f"{what} {row['a']} → {row['b']}")
    rest = len(found) - len(named)
    return "; ".join([*named, f"and {rest} more"] if rest else named)


def _differences(found: Sequence[Difference]) -> Iterator[Section]:
    """Yield the differences of evaluators, then those of fields."""
    ranked = sorted(found, key=lambda each: [*_TONES].index(each.verdict))
    name = Column("figure", "figure", kind="name")
    figures = [
        Column("verdict", "verdict", kind="word", tone=lambda verdict: _TONES[verdict]),
        Column("A", "a"),
        Column("B", "b"),
        Column("B - A", "difference"),
        Column("95 % interval", "interval", rank=4, note=_OF_INTERVALS),
        Column("samples", "samples", rank=3, tone=mute),
        Column("worse", "worse", rank=5, tone=lambda count: "bad" if count else "quiet"),
        Column("better", "better", rank=5, tone=lambda count: "good" if count else "quiet"),
        Column("adjusted p", "p", rank=4, tone=mute, note=_OF_CHANCE),
    ]
    rows = [_row(each) for each in ranked if each.field is None]
    columns = [name, *figures]
    yield Section.of("differences", "Comparison", columns, rows, note=_NOTE, few=len(rows), most=50)
    rows = [_row(each) for each in ranked if each.field is not None]
    sure = sum(each["verdict"] != "none shown" for each in rows)
    few = max(3, min(sure, 20))
    evaluator = Column("evaluator", "evaluator", kind="name", rank=6, optional=True)
    columns = [
        replace(name, head="field"),
        evaluator,
        *(replace(each, note="") for each in figures),
    ]
    title = "Fields compared"
    yield Section.of("compared-fields", title, columns, rows, noun="field", few=few, elsewhere=_ALL)


def _row(each: Difference) -> Row:
    """Write the figures of a difference: scores with three decimals, shares in per cent."""
    is_score = each.measure == "score"
    level, change = (score, write_difference) if is_score else (percent, points)
    unit = "" if is_score else " points"
    groups = "" if each.groups is None else f" in {write_count(each.groups, 'group')}"
    own = f"{each.evaluator} {each.measure}" if each.field is None else each.field
    return {
        "figure": own or "(the whole)",
        "evaluator": each.evaluator,
        "verdict": each.verdict,
        "a": level(each.a),
        "b": level(each.b),
        "difference": f"{change(each.difference)}{unit}",
        "interval": NOTHING if each.interval is None else " to ".join(map(change, each.interval)),
        "samples": f"{figure(each.n)}{groups}",
        "worse": each.worse,
        "better": each.better,
        "p": chance(each.adjusted),
    }


def _changes(comparison: Comparison, most: int) -> Section:
    """List the samples of each evaluator that got worse, then the samples that got better."""
    columns = [
        Column("sample", "sample", kind="name"),
        Column("evaluator", "evaluator", kind="name", rank=1),
        Column("verdict", "verdict", kind="word", tone=lambda verdict: _TONES[verdict]),
        Column("in A", "a", kind="text"),
        Column("in B", "b", kind="text"),
    ]
    rows = [
        {
            "sample": text_of(each.id),
            "evaluator": name,
            "verdict": verdict,
            "a": _describe_side(each.passed_a, each.score_a, each.reason_a),
            "b": _describe_side(each.passed_b, each.score_b, each.reason_b),
            "link": {"evaluator": name, "sample": text_of(each.id)},
        }
        for verdict in ("worse", "better")
        for name, found in comparison.evaluators.items()
        for each in [one for one in found.changes if one.better is (verdict == "better")][:most]
    ]
    changed = sum(each.better + each.worse for each in comparison.evaluators.values())
    return Section.of(
        "changes",
        "Samples that changed most",
        columns,
        rows,
        len(rows),
        noun="change",
        few=len(rows),
        most=10,
        left_out=changed - len(rows),
        elsewhere="llmeval compare A B --changes N",
    )


def _describe_side(passed: bool | None, value: float | None, reason: str | None) -> str:
    """Write an evaluator's verdict, score and reason for a sample."""
    verdict = {True: "passed", False: "failed", None: ""}[passed]
    said = " ".join(filter(None, (verdict, "" if value is None else figure(value))))
    return f"{said}: {shorten(reason, _LONGEST_REASON)}" if reason else said
