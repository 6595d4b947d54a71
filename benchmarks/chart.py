"""Draws `docs/images/speed.svg` out of RESULTS.md: microseconds a call, ours and the peer's.

python benchmarks/chart.py
"""

from __future__ import annotations

import re
from html import escape
from math import log10
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
CHART = HERE.parent / "docs/images/speed.svg"

# What a bar is called, and how its row in RESULTS.md begins.
ROWS = {
    "JsonValidity": "JsonValidity (mixed), one call | .* | LangChain",
    "JsonEquality": "JsonEquality (rows that parse, 30 % of them wrong), one call | .* | LangChain",
    "JsonMatch, wrong outputs": (
        "JsonMatch (mixed, 30 % of what parses wrong), one call | .* | OpenJudge"
    ),
    "JsonFields": "JsonFields | nested | .* | stickler-eval",
    "JsonSchema": "JsonSchema, one call | .* | LangChain",
    "JsonMatch, 1,000 items shuffled": "JsonMatch, 1,000 shuffled items, one call | .* | OpenJudge",
    "JsonEquality, 10 kB, lenient": "JsonEquality (lenient, 10 kB), one call | .* | LangChain",
}
WIDTH, LEFT, RIGHT, ROW, TOP = 760, 240, 130, 40, 44
DECADES = (0, 6)  # from 1 microsecond to 1 second
NAMES = ("1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s")


class Bar(NamedTuple):
    """A row of the chart."""

    label: str
    ours: float
    peer: str
    theirs: float


def read_bars(text: str) -> list[Bar]:
    """Return the bars; raise SystemExit for a row that RESULTS.md does not have."""
    bars = []
    for label, row in ROWS.items():
        pattern = re.escape(row).replace(r"\.\*", r"([\d.,]+)")
        found = re.search(rf"^\| {pattern}[^|\d]*?(?:\([^|]*\) \| )?([\d.,]+)", text, re.MULTILINE)
        if found is None:
            raise SystemExit(f"{RESULTS.name} has no row {row!r}")
        ours, theirs = (float(number.replace(",", "")) for number in found.groups())
        bars.append(Bar(label, ours, row.rpartition("| ")[2].removesuffix("-eval"), theirs))
    return bars


def place(microseconds: float) -> float:
    """Return where a time stands from the left, on a scale of decades."""
    first, last = DECADES
    share = (log10(microseconds) - first) / (last - first)
    return LEFT + max(share, 0.0) * (WIDTH - LEFT - RIGHT)


def draw(bars: list[Bar]) -> str:
    """Return the chart as SVG."""
    height = TOP + ROW * len(bars) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        '<g font-family="system-ui, sans-serif" font-size="13">',
        "<title>Microseconds a call, ours and the peer's, on a logarithmic scale</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#fff"/>',
        '<rect x="16" y="14" width="12" height="12" fill="#245a9e"/>',
        '<text x="34" y="25" fill="#444">llmeval-integrations</text>',
        '<rect x="184" y="14" width="12" height="12" fill="#c9ced6"/>',
        '<text x="202" y="25" fill="#444">the peer; one call, on a logarithmic scale</text>',
    ]
    for decade, name in enumerate(NAMES):
        x = place(10**decade)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - 26}" stroke="#e4e7eb"/>'
            f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle" fill="#666">{name}</text>'
        )
    for n, bar in enumerate(bars):
        y = TOP + ROW * n
        end, other = place(bar.ours), place(bar.theirs)
        times = f"{bar.theirs / bar.ours:.1f}" if bar.theirs < 10 * bar.ours else ""
        times = times or f"{bar.theirs / bar.ours:,.0f}"
        parts.append(
            f'<text x="{LEFT - 12}" y="{y + 17}" text-anchor="end" fill="#222">'
            f"{escape(bar.label)}</text>"
            f'<text x="{LEFT - 12}" y="{y + 31}" text-anchor="end" fill="#666" font-size="11">'
            f"beside {escape(bar.peer)}</text>"
            f'<rect x="{LEFT}" y="{y + 6}" width="{max(end - LEFT, 2):.1f}" height="12" '
            'fill="#245a9e"/>'
            f'<rect x="{LEFT}" y="{y + 20}" width="{other - LEFT:.1f}" height="12" fill="#c9ced6"/>'
            f'<text x="{max(end, other) + 8:.1f}" y="{y + 24}" fill="#222">{times} × '
            "faster</text>"
        )
    return "\n".join([*parts, "</g></svg>\n"])


if __name__ == "__main__":
    CHART.write_text(draw(read_bars(RESULTS.read_text())))
