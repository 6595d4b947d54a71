"""Writes what RESULTS.md says into the documentation: a chart and three tables."""

from __future__ import annotations

import re
from html import escape
from math import log10
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = Path(__file__).parent
RESULTS: Final = HERE / "RESULTS.md"
CHART: Final = HERE.parent / "docs/images/speed.svg"
PAGE: Final = HERE.parent / "docs/explanation/speed.md"

WRONG: Final = "30 % of what parses wrong"

# The evaluator, its data as the page names them, and how its row in RESULTS.md begins.
TABLE: Final = (
    ("JsonValidity", "outputs that are JSON", "JsonValidity (clean)", "LangChain"),
    ("JsonValidity", "30 % defective", "JsonValidity (mixed)", "LangChain"),
    ("JsonEquality", "outputs that are right", "JsonEquality (rows that parse)", "LangChain"),
    (
        *("JsonEquality", "30 % wrong"),
        *("JsonEquality (rows that parse, 30 % of them wrong)", "LangChain"),
    ),
    ("JsonMatch", "30 % defective", "JsonMatch (mixed)", "OpenJudge"),
    (
        *("JsonMatch", "30 % defective, 30 % of the rest wrong"),
        *(f"JsonMatch (mixed, {WRONG})", "OpenJudge"),
    ),
    ("JsonMatch", "1,000 items in another order", "JsonMatch, 1,000 shuffled items", "OpenJudge"),
    ("JsonEditDistance", "30 % wrong", "JsonEditDistance, exact", "LangChain"),
    ("JsonSchema", "outputs that are JSON", "JsonSchema", "LangChain"),
    ("JsonEquality", "10 kB, lenient", "JsonEquality (lenient, 10 kB)", "LangChain"),
    ("JsonFields", "nested records, 30 % wrong", "JsonFields | nested", "stickler-eval"),
    (
        *("JsonFields", "the same, flattened for openevals", "JsonFields | nested"),
        "openevals, JSON match (each leaf, as a key)",
    ),
    ("JsonFields", "flat records", "JsonFields | flat", "stickler-eval"),
    (
        *("JsonFields", "outputs of six models, 87 % wrong somewhere"),
        *("JsonFields | real outputs", "stickler-eval"),
    ),
    ("LengthPenalty", "prose", "LengthPenalty", "OpenJudge"),
    ("NgramRepetitionPenalty", "prose", "NgramRepetitionPenalty, simple", "OpenJudge"),
    ("NgramRepetitionPenalty", "`tiktoken`", "NgramRepetitionPenalty, tiktoken", "OpenJudge"),
    ("ReasoningFormat", "10 kB", "ReasoningFormat, 10 kB", "OpenJudge"),
    (
        *("ReasoningToolCallFormat", "10 kB, three calls"),
        *("ReasoningToolCallFormat, 10 kB", "OpenJudge"),
    ),
)
CHARTED: Final = (1, 3, 4, 10, 8, 6, 9)
"""The rows of the chart."""

# Columns of RESULTS.md, and their names on the page.
JUDGES: Final = {
    "": "500 calls by",
    "wall / ideal": "time / ideal time",
    "CPU, µs": "CPU per call, µs",
    "stand": "results kept if 10 fail",
}
RUNS: Final = {
    "peer": "compared with",
    "ours, µs a row": "ours, µs per row",
    "peer, µs a row": "theirs, µs per row",
    "ratio": "times faster",
}

BEGIN, END = "<!-- written by benchmarks/summary.py -->\n", "<!-- end -->\n"

WIDTH, LEFT, RIGHT, ROW, TOP = 760, 250, 120, 40, 44
DECADES: Final = ("1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s")


class Row(NamedTuple):
    """What was measured of one evaluator beside one peer."""

    ours: float
    """Microseconds per call."""

    theirs: float
    ratio: str
    """The median of the rounds' ratios, as RESULTS.md has it."""


def read_row(text: str, begin: str, peer: str) -> Row | None:
    """Return a row of RESULTS.md; None where it has none."""
    number = r"([\d.]+)"
    found = re.search(
        rf"^\| {re.escape(begin)} \| {number} \| {re.escape(peer)}[^|\d]*(?: \| )?{number}"
        rf" \| {number} ",
        text,
        re.MULTILINE,
    )
    return Row(float(found[1]), float(found[2]), found[3]) if found else None


def read_rows(text: str) -> list[tuple[Row, Row | None]]:
    """Return each row of the table, by the single call and by many; raise SystemExit without."""
    rows = []
    for _, _, begin, peer in TABLE:
        one = read_row(text, f"{begin}, one call", peer) or read_row(text, begin, peer)
        if one is None:
            raise SystemExit(f"{RESULTS.name} has no row {begin!r} beside {peer}")
        rows.append((one, read_row(text, f"{begin}, many", peer)))
    return rows


def write_table(rows: list[tuple[Row, Row | None]]) -> str:
    """Return the table of the page."""
    lines = [
        "| evaluator | data | µs per call | compared with | times faster | `evaluate_many` |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for (evaluator, data, _, peer), (one, many) in zip(TABLE, rows):
        name = re.split("-|,", peer)[0]
        several = f" {many.ratio} ×" if many else ""
        lines.append(
            f"| `{evaluator}` | {data} | {one.ours:,.1f} | {name} | {one.ratio} × |{several} |"
        )
    return "\n".join(lines) + "\n"


def copy_table(text: str, heading: str, columns: dict[str, str]) -> str:
    """Return columns of the first table below a heading of RESULTS.md."""
    below = text.partition(f"\n## {heading}\n")[2]
    lines = below[below.index("\n|") + 1 :].partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    places = [rows[0].index(name) for name in columns]
    picked = [list(columns.values()), *([row[at] for at in places] for row in rows[1:])]
    return "".join(f"| {' | '.join(row)} |\n" for row in picked)


def place(microseconds: float) -> float:
    """Return where a time stands from the left, on a scale of decades."""
    share = log10(microseconds) / (len(DECADES) - 1)
    return LEFT + max(share, 0.0) * (WIDTH - LEFT - RIGHT)


def draw(rows: list[tuple[Row, Row | None]]) -> str:
    """Return the chart as SVG."""
    height = TOP + ROW * len(CHARTED) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        '<g font-family="system-ui, sans-serif" font-size="13">',
        "<title>Microseconds per call, ours and the peer's, on a logarithmic scale</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#fff"/>',
        '<rect x="16" y="14" width="12" height="12" fill="#245a9e"/>',
        '<text x="34" y="25" fill="#444">llmeval-integrations</text>',
        '<rect x="184" y="14" width="12" height="12" fill="#c9ced6"/>',
        '<text x="202" y="25" fill="#444">the peer; one call, on a logarithmic scale</text>',
    ]
    for decade, name in enumerate(DECADES):
        x = place(10**decade)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - 26}" stroke="#e4e7eb"/>'
            f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle" fill="#666">{name}</text>'
        )
    for n, charted in enumerate(CHARTED):
        (evaluator, data, _, peer), (row, _) = TABLE[charted], rows[charted]
        parts += draw_row(TOP + ROW * n, evaluator, f"{data}; {re.split('-|,', peer)[0]}", row)
    return "\n".join([*parts, "</g></svg>\n"])


def draw_row(y: int, evaluator: str, about: str, row: Row) -> list[str]:
    """Return the two bars of a row, with what stands beside them."""
    ours, theirs = place(row.ours), place(row.theirs)
    name = f'<text x="{LEFT - 12}" y="{y + 17}" text-anchor="end" fill="#222">{evaluator}</text>'
    return [
        name,
        (
            f'<text x="{LEFT - 12}" y="{y + 31}" text-anchor="end" fill="#666" font-size="11">'
            f"{escape(about)}</text>"
        ),
        (
            f'<rect x="{LEFT}" y="{y + 6}" width="{max(ours - LEFT, 2):.1f}" height="12" '
            'fill="#245a9e"/>'
        ),
        f'<rect x="{LEFT}" y="{y + 20}" width="{theirs - LEFT:.1f}" height="12" fill="#c9ced6"/>',
        (
            f'<text x="{max(ours, theirs) + 8:.1f}" y="{y + 24}" fill="#222">'
            f"{float(row.ratio):,g} × faster</text>"
        ),
    ]


def write_page(page: str, results: str) -> str:
    """Return the page with the tables as they were measured."""
    tables = iter(
        (
            write_table(read_rows(results)),
            copy_table(results, "Judging many", JUDGES),
            copy_table(results, "Runs", RUNS),
        )
    )
    pattern = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)
    return pattern.sub(lambda _: f"{BEGIN}{next(tables)}{END}", page)


if __name__ == "__main__":
    measured = RESULTS.read_text()
    CHART.write_text(draw(read_rows(measured)))
    PAGE.write_text(write_page(PAGE.read_text(), measured))
