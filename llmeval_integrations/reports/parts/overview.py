"""The answer of a report: how good each evaluator found the outputs, and what was wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from llmeval_integrations.markup import Html, joined, tag
from llmeval_integrations.reports.parts.charts import histogram, rate_chart
from llmeval_integrations.reports.parts.comparing import comparisons
from llmeval_integrations.reports.parts.figures import Figures
from llmeval_integrations.reports.parts.names import incomplete
from llmeval_integrations.reports.parts.sections import number, sample_link, section, table
from llmeval_integrations.runs.numbers import counted, figure, percent, percents, times_of
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import Finding

Named = Mapping[str, tuple[Run, Mapping[str, Figures]]]
"""Runs by name, each with the figures of its evaluators."""

_HEADS: Final = ("passed", "mean score", "scored", "unscored", "errors", "scores")
_JUDGING: Final = ("calls", "cached", "failed", "not_asked", "input_tokens", "output_tokens")
_KINDS: Final = ("mismatch", "wrong_type", "missing", "unreadable", "extra")
_EXAMPLES: Final = ("most often wrong", "for example")
_MOST_FIELDS: Final = 200
_MOST_KINDS: Final = 30


def overview(runs: Named, *, compared: bool = True) -> Html:
    """Write figures, comparison, what was found, fields and judges, as sections with headings."""
    return joined(
        [
            tag("p", _in_a_sentence(runs), class_="lead"),
            *(tag("p", f"{each}.", class_="alarm") for each in incomplete(_runs(runs))),
            section("evaluators", "Evaluators", _evaluators(runs)),
            *(comparisons(dict(zip(runs, _runs(runs), strict=True))) if compared else ()),
            *_findings(runs),
            *_fields(runs),
            *_judges(runs),
        ]
    )


def _runs(runs: Named) -> list[Run]:
    return [run for run, _ in runs.values()]


def evaluators_of(runs: Named) -> list[str]:
    """List the evaluators of all runs."""
    return list(dict.fromkeys(name for _, figures in runs.values() for name in figures))


def _in_a_sentence(runs: Named) -> str:
    samples = counted(sum(run.summary["samples"] for run, _ in runs.values()), "sample")
    rated = [
        (each.summary["pass_rate"], name)
        for _, figures in runs.values()
        for name, each in figures.items()
        if each.summary["pass_rate"] is not None
    ]
    said = f"{samples}, {counted(len(evaluators_of(runs)), 'evaluator')}."
    if rated:
        rate, name = min(rated, key=itemgetter(0))
        said += f" Lowest pass rate: {name}, {percent(rate)}."
    unscored, errors = _total(runs, "unscored"), _total(runs, "errors")
    lost = [f"{counted(unscored, 'row')} unscored"] if unscored else []
    lost += [counted(errors, "error")] if errors else []
    return said + (f" {' and '.join(lost)} counted in no rate." if lost else "")


def _total(runs: Named, name: str) -> int:
    return sum(each.summary[name] for _, figures in runs.values() for each in figures.values())


def _evaluators(runs: Named) -> Html:
    several = len(runs) > 1
    rows = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            *([tag("td", run)] if several else []),
            *_cells(figures[name]),
        )
        for name in evaluators_of(runs)
        for run, (_, figures) in runs.items()
        if name in figures
    ]
    heads = ("evaluator", *(["run"] if several else []), *_HEADS)
    return table("Figures by evaluator", heads, rows, "figures")


def _cells(figures: Figures) -> Iterator[Html]:
    summary, scores = figures.summary, figures.scores
    rate, interval = summary["pass_rate"], summary["pass_rate_ci95"]
    if rate is None:
        yield tag("td", "does not say", class_="quiet")
    else:
        exact = tag("span", percents(interval), class_="quiet")
        yield tag("td", tag("b", percent(rate)), exact, rate_chart(rate, interval), class_="rate")
    bounds = scores.interval
    notes = [f"{figure(bounds[0])} to {figure(bounds[1])}"] if bounds else []
    notes += ["lower is better"] if scores.lower_is_better else []
    yield tag(
        "td",
        tag("b", figure(summary["mean"])),
        *(tag("span", note, class_="quiet") for note in notes),
        class_="mean",
    )
    yield number(figure(summary["scored"]))
    for name in ("unscored", "errors"):
        yield number(figure(summary[name]), "alarm" if summary[name] else "quiet")
    yield tag("td", *_distribution(figures), class_="scores")


def _distribution(figures: Figures) -> Iterator[Html]:
    scores = figures.scores
    if scores.counts:
        yield histogram(scores)
        ends = [tag("span", figure(end)) for end in (scores.low, scores.high)]
        yield tag("span", *ends, class_="ends quiet")


def _findings(runs: Named) -> Iterator[Html]:
    several = len(runs) > 1
    parts = [
        _found(name, f"{name}, {run}" if several else name, figures[name])
        for name in evaluators_of(runs)
        for run, (_, figures) in runs.items()
        if name in figures and figures[name].findings
    ]
    if parts:
        yield section("found", "What went wrong", tag("div", *parts, class_="cards"))


def _found(evaluator: str, title: str, figures: Figures) -> Html:
    most = max(finding.count for finding in figures.findings)
    rows = [_finding(evaluator, finding, most) for finding in figures.findings[:_MOST_KINDS]]
    shown, rest = rows[:6], rows[6:]
    left_out = len(figures.findings) - len(rows)
    more = [
        tag(
            "details",
            tag("summary", f"{counted(len(rest) + left_out, 'further kind')}"),
            tag("ul", *rest, class_="kinds"),
            tag("p", f"and {left_out:,} more", class_="quiet") if left_out else "",
        )
    ]
    return tag(
        "article",
        tag("h3", title),
        tag("ul", *shown, class_="kinds"),
        *(more if rest else []),
        class_="card",
    )


def _finding(evaluator: str, finding: Finding, most: int) -> Html:
    kind = f"error: {finding.kind}" if finding.is_error else finding.kind
    times = f" ({finding.of_reason:,} times)" if finding.of_reason > 1 else ""
    bar = tag(
        "svg",
        tag("rect", class_="bar", width=f"{100 * finding.count / most:.1f}", height=4, rx=2),
        class_="share",
        viewBox="0 0 100 4",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return tag(
        "li",
        tag(
            "div",
            tag("a", kind, href="#samples", data_evaluator=evaluator, data_label=finding.kind),
            tag("b", f"{finding.count:,}"),
            class_="kind alarm" if finding.is_error else "kind",
        ),
        bar,
        tag("span", finding.reason + times, class_="quiet reason") if finding.reason else "",
    )


def _fields(runs: Named) -> Iterator[Html]:
    tables = [
        _field_table(name, run if len(runs) > 1 else "", figures[name].summary["fields"])
        for name in evaluators_of(runs)
        for run, (_, figures) in runs.items()
        if name in figures and figures[name].summary.get("fields")
    ]
    if tables:
        yield section("fields", "Fields", *tables)


def _field_table(evaluator: str, run: str, fields: Mapping[str, Any]) -> Html:
    title = f"{evaluator}, {run}" if run else evaluator
    kinds = [kind for kind in _KINDS if any(each[kind] for each in fields.values())]
    counts = ("leaves", *(kind.replace("_", " ") for kind in kinds))
    heads = ("field", "right", "precision", "recall", "F1", *counts, *_EXAMPLES)
    shown = list(fields.items())[:_MOST_FIELDS]
    rows = [
        tag(
            "tr",
            tag("th", path or "(the whole)", scope="row"),
            *_field(each, kinds, evaluator, run),
        )
        for path, each in shown
    ]
    rest = len(fields) - len(shown)
    note = [tag("p", f"and {counted(rest, 'field')} more in summary.json", class_="quiet")]
    return joined(
        [
            tag("h3", title),
            table(f"Fields of {title}", heads, rows, "fields"),
            *(note if rest else []),
        ]
    )


def _field(
    figures: Mapping[str, Any], kinds: Sequence[str], evaluator: str, run: str
) -> Iterator[Html]:
    leaves = figures["leaves"]
    yield number(percent(figures["match"] / leaves) if leaves else "–")
    for share in ("precision", "recall", "f1"):
        yield number(figure(figures[share]))
    yield number(figure(leaves))
    for kind in kinds:
        yield number(figure(figures[kind]), "alarm" if figures[kind] else "quiet")
    wrong = [
        tag(
            "li",
            tag("code", each["output"]),
            " for ",
            tag("code", each["reference"]),
            tag("span", f" ({times_of(each)})", class_="times"),
        )
        for each in figures["wrong_values"][:3]
    ]
    yield tag("td", tag("ul", *wrong) if wrong else "", class_="values")
    links = [sample_link(text_of(each), evaluator, run) for each in figures["examples"]]
    examples = [tag("li", link) for link in links]
    yield tag("td", tag("ul", *examples) if examples else "", class_="values")


def _judges(runs: Named) -> Iterator[Html]:
    rows = [
        tag(
            "tr",
            tag("th", f"{name}, {run}" if len(runs) > 1 else name, scope="row"),
            *(number(figure(each.summary["judge"].get(column))) for column in _JUDGING),
            number(_cost(each.summary["judge"].get("cost"))),
        )
        for run, (_, figures) in runs.items()
        for name, each in figures.items()
        if "judge" in each.summary
    ]
    if rows:
        heads = ("judge", *(column.replace("_", " ") for column in _JUDGING), "cost")
        yield section("judges", "What judges took", table("Judges", heads, rows))


def _cost(value: float | None) -> str:
    return "–" if value is None else f"${value:.4f}"
