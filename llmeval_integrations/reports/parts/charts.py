"""Small charts as SVG, in the colours of the page, each with a text that says the same."""

from __future__ import annotations

from typing import Any, Final

import pygal
from pygal.etree import etree

from llmeval_integrations.reports.markup import Html
from llmeval_integrations.reports.parts.scores import Scores
from llmeval_integrations.runs.numbers import figure, percent
from llmeval_integrations.stats.intervals import Interval

_BARE: Final[dict[str, Any]] = {
    "explicit_size": True,
    "margin": 0,
    "no_prefix": True,
    "show_legend": False,
    "show_x_guides": False,
    "show_x_labels": False,
    "show_y_guides": False,
    "show_y_labels": False,
}
_SVG: Final = "{http://www.w3.org/2000/svg}"
_LEFT_OUT: Final = ("defs", "desc", "title")
"""Styles and scripts, which the page forbids, and what its script would show."""


def rate_chart(rate: float, interval: Interval) -> Html:
    """Draw a share as a bar, with its interval as a line over it."""
    low, high = interval
    chart = pygal.HorizontalBar(width=160, height=16, range=(0, 1), spacing=0, **_BARE)
    chart.add("", [{"value": rate, "ci": {"low": low, "high": high}}])
    return _svg(chart, f"{percent(rate)}, 95 % interval {percent(low)} to {percent(high)}")


def histogram(scores: Scores) -> Html:
    """Draw how many scores lie where, from the lowest to the highest."""
    chart = pygal.Histogram(width=120, height=29, **_BARE)
    least = max(scores.counts) / 14  # two pixels, so that a few scores are seen beside very many
    heights = [count and max(count, least) for count in scores.counts]
    chart.add("", [(height, place, place + 1) for place, height in enumerate(heights)])
    return _svg(chart, _in_words(scores))


def _in_words(scores: Scores) -> str:
    place = scores.counts.index(max(scores.counts))
    low = scores.low + place * scores.width
    most = f"most, {max(scores.counts):,}, from {figure(low)} to {figure(low + scores.width)}"
    return f"{scores.n:,} scores from {figure(scores.low)} to {figure(scores.high)}; {most}"


def _svg(chart: Any, label: str) -> Html:
    """Write a chart with nothing but its shapes, which the page's own style gives colours."""
    root = chart.render_tree()
    for parent in [*root.iter()]:
        for child in [*parent]:
            if not _is_shape(child):
                parent.remove(child)
    del root.attrib["id"]
    root.set("role", "img")
    root.set("aria-label", label)
    return Html(etree.tostring(root, encoding="unicode"))


def _is_shape(part: Any) -> bool:
    if not isinstance(part.tag, str) or part.tag.removeprefix(_SVG) in _LEFT_OUT:
        return False
    return "tooltip-overlay" not in part.get("class", "")
