"""Figures as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.figures import format_figure, format_within

if TYPE_CHECKING:
    from llmeval_integrations.runs.run import Run


def percent(share: float) -> str:
    """Write a share with one decimal, or as many as tell it from all and from nothing."""
    return f"{_percentage(share)} %"


def percents(interval: Sequence[float]) -> str:
    """Write the bounds of a share."""
    return f"{_percentage(interval[0])} to {_percentage(interval[1])} %"


def _percentage(share: float) -> str:
    return format_within((0, 100), 100 * share, "f", 1)


def figure(value: Any) -> str:
    """Write a figure as `rounded`, a count in full, and what is not there as a dash."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return format_figure(value)


def signed(difference: float) -> str:
    """Write a difference with its sign and three decimals, or two digits where these say more."""
    size = abs(difference)
    if size == 0:
        return "+0.000"
    return f"{difference:{'+.3f' if 0.01 <= size < 100 else '+.4g' if size >= 100 else '+.2g'}}"


def chance(p: float) -> str:
    """Write a chance with four decimals, which are none where it is smaller."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def counted(count: int, noun: str) -> str:
    """Write so many of something, in the plural where that is right."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def samples_of(run: Run) -> str:
    """Write how many samples a run has, and why it is incomplete where it is."""
    samples = counted(run.summary["samples"], "sample")
    return f"{samples}; the run is incomplete: {run.incomplete}" if run.incomplete else samples


def figures_of(summary: Mapping[str, Any]) -> Iterator[str]:
    """Write an evaluator's pass rate, its interval, mean, and rows scored, unscored and errors."""
    rate, interval = summary["pass_rate"], summary["pass_rate_ci95"]
    yield "–" if rate is None else percent(rate)
    yield "–" if interval is None else percents(interval)
    for name in ("mean", "scored", "unscored", "errors"):
        yield figure(summary[name])


LABEL_HEADS: Final = ("evaluator", "label", "rows", "share")
"""The heads of what `labels_of` gives."""

_MOST_LABELS: Final = 20


def labels_of(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Write how often each label came of evaluators that only label, and give no verdict."""
    for name, figures in summary["evaluators"].items():
        unanswered = figures["unscored"] + figures["errors"]
        if figures["pass_rate"] is not None or unanswered == figures["n"]:
            continue
        labels = list(figures["labels"].items())
        for label, count in labels[:_MOST_LABELS]:
            yield name, label, f"{count:,}", percent(count / figures["n"])
        if rest := [count for _, count in labels[_MOST_LABELS:]]:
            others = f"and {counted(len(rest), 'label')} more"
            yield name, others, f"{sum(rest):,}", percent(sum(rest) / figures["n"])
