"""Small charts as SVG, in the colours of the page, each with a text that says the same."""

from __future__ import annotations

from typing import Final

from llmeval_integrations.intervals import Interval
from llmeval_integrations.markup import Html, tag
from llmeval_integrations.reports.parts.scores import Scores
from llmeval_integrations.runs.numbers import figure, percent

_RATE_WIDTH: Final = 160
_HISTOGRAM_WIDTH: Final = 120
_HEIGHT: Final = 28


def rate_chart(rate: float, interval: Interval) -> Html:
    """Draw a share as a bar, with its interval as a line over it."""
    low, high = (_RATE_WIDTH * bound for bound in interval)
    middle = 8
    return _svg(
        f"{percent(rate)}, 95 % interval {percent(interval[0])} to {percent(interval[1])}",
        _RATE_WIDTH,
        2 * middle,
        tag("rect", class_="track", x=0, y=5, width=_RATE_WIDTH, height=6, rx=3),
        tag("rect", class_="bar", x=0, y=5, width=f"{_RATE_WIDTH * rate:.1f}", height=6, rx=3),
        tag("line", class_="whisker", x1=f"{low:.1f}", x2=f"{high:.1f}", y1=middle, y2=middle),
        *(
            tag("line", class_="whisker", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=4, y2=12)
            for x in (low, high)
        ),
    )


def histogram(scores: Scores) -> Html:
    """Draw how many scores lie where, from the lowest to the highest."""
    most = max(scores.counts)
    step = _HISTOGRAM_WIDTH / len(scores.counts)
    bars = [
        tag(
            "rect",
            tag("title", f"{count:,}"),
            class_="bar",
            x=f"{place * step:.1f}",
            y=f"{_HEIGHT - height:.1f}",
            width=f"{max(step - 1, 1):.1f}",
            height=f"{height:.1f}",
        )
        for place, count in enumerate(scores.counts)
        if count
        for height in [max(2.0, _HEIGHT * count / most)]
    ]
    base = tag("line", class_="base", x1=0, x2=_HISTOGRAM_WIDTH, y1=_HEIGHT, y2=_HEIGHT)
    return _svg(_in_words(scores), _HISTOGRAM_WIDTH, _HEIGHT + 1, *bars, base)


def _in_words(scores: Scores) -> str:
    place = scores.counts.index(max(scores.counts))
    low = scores.low + place * scores.width
    most = f"most, {max(scores.counts):,}, from {figure(low)} to {figure(low + scores.width)}"
    return f"{scores.n:,} scores from {figure(scores.low)} to {figure(scores.high)}; {most}"


def _svg(label: str, width: int, height: int, *parts: Html) -> Html:
    return tag(
        "svg",
        *parts,
        role="img",
        aria_label=label,
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
    )
