"""The answer of a report: how good each evaluator found the outputs, and what was wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from llmeval_integrations.reports.markup import Html, joined, tag
from llmeval_integrations.reports.parts.charts import histogram, rate_chart
from llmeval_integrations.reports.parts.comparing import comparisons
from llmeval_integrations.reports.parts.figures import Figures
from llmeval_integrations.reports.parts.names import incomplete
from llmeval_integrations.reports.parts.sections import number, sample_link, section, table
from llmeval_integrations.runs.numbers import (
    LABEL_HEADS,
    counted,
    figure,
    labels_of,
    percent,
    percents,
)
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import OTHER, Finding

Named = Mapping[str, tuple[Run, Mapping[str, Figures]]]
"""Runs by name, each with the figures of its evaluators."""

A_LEAF: Final = "A leaf is a single value, or an empty array or object"
"""What is counted in a table of fields."""

SHARES: Final = (
    "Of the values, precision is the share of those in outputs that match, recall of those in "
    "references, and F1 their harmonic mean."
)
"""What the figures in a table of fields are."""

_FIELD_WORDS: Final = (
    f"{A_LEAF}; right is the share of leaves that match, and the unreadable, whose output is not "
    f"JSON, are among the missing. {SHARES}"
)
_NOT_A_VALUE: Final = "only empty arrays or objects"
_NOT_KNOWN: Final = "not known"
_NO_COST: Final = (
    "A cost is not known where the package genai-prices was missing or has no price of the model, "
    "and where a server told no tokens."
)
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
            *_labels(runs),
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
    several = len(runs) > 1
    rated = [
        (each.summary["pass_rate"], f"{name} in {run}" if several else name)
        for run, (_, figures) in runs.items()
        for name, each in figures.items()
        if each.summary["pass_rate"] is not None
    ]
    said = f"{_samples(_runs(runs))}, {counted(len(evaluators_of(runs)), 'evaluator')}."
    if rated:
        rate, name = min(rated, key=itemgetter(0))
        said += f" Lowest pass rate: {name}, {percent(rate)}."
    unscored, errors = _total(runs, "unscored"), _total(runs, "errors")
    lost = [f"{counted(unscored, 'row')} unscored"] if unscored else []
    lost += [counted(errors, "error")] if errors else []
    return said + (f" {' and '.join(lost)} counted in no rate." if lost else "")


def _samples(runs: Sequence[Run]) -> str:
    """Write how many samples each run has, for two runs may have the same ones."""
    *others, last = (run.summary["samples"] for run in runs)
    before = f"{', '.join(f'{count:,}' for count in others)} and " if others else ""
    return before + (f"{last:,} samples" if others else counted(last, "sample"))


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


def _labels(runs: Named) -> Iterator[Html]:
    tables = [
        joined([*([tag("h3", name)] if len(runs) > 1 else []), _label_table(labels)])
        for name, (run, _) in runs.items()
        if (labels := list(labels_of(run.summary)))
    ]
    if tables:
        yield section("labels", "Labels", *tables)


def _label_table(labels: Sequence[tuple[str, str, str, str]]) -> Html:
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", label), *map(number, counts))
        for name, label, *counts in labels
    ]
    return table("Labels of evaluators that give no verdict", LABEL_HEADS, rows)


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
    kind: str | Html = f"error: {finding.kind}" if finding.is_error else finding.kind
    if finding.kind != OTHER:  # whose rows have kinds of their own
        kind = tag("a", kind, href="#samples", data_evaluator=evaluator, data_label=finding.kind)
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
            kind,
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
        yield section("fields", "Fields", tag("p", _FIELD_WORDS, class_="quiet"), *tables)


def _field_table(evaluator: str, run: str, fields: Mapping[str, Any]) -> Html:
    title = f"{evaluator}, {run}" if run else evaluator
    kinds = [kind for kind in _KINDS if any(each[kind] for each in fields.values())]
    counts = ("leaves", "match", *(kind.replace("_", " ") for kind in kinds))
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
    shares = [figures[share] for share in ("precision", "recall", "f1")]
    if leaves and shares == [None, None, None]:
        yield tag("td", _NOT_A_VALUE, colspan=3, class_="quiet")
    else:
        yield from (number(figure(share)) for share in shares)
    yield number(figure(leaves))
    yield number(figure(figures["match"]))
    for kind in kinds:
        yield number(figure(figures[kind]), "alarm" if figures[kind] else "quiet")
    wrong = [
        tag(
            "li",
            tag("code", each["output"]),
            " for ",
            tag("code", each["reference"]),
            tag("span", f" ({each['count']:,})", class_="times"),
        )
        for each in figures["wrong_values"][:3]
    ]
    yield tag("td", tag("ul", *wrong) if wrong else "", class_="values")
    links = [sample_link(text_of(each), evaluator, run) for each in figures["examples"]]
    examples = [tag("li", link) for link in links]
    yield tag("td", tag("ul", *examples) if examples else "", class_="values")


def _judges(runs: Named) -> Iterator[Html]:
    taken = {
        f"{name}, {run}" if len(runs) > 1 else name: each.summary["judge"]
        for run, (_, figures) in runs.items()
        for name, each in figures.items()
        if "judge" in each.summary
    }
    rows = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            *(number(figure(each.get(column))) for column in _JUDGING),
            number(_cost(each.get("cost"))),
        )
        for name, each in taken.items()
    ]
    if rows:
        heads = ("judge", *(column.replace("_", " ") for column in _JUDGING), "cost")
        is_known = all(each.get("cost") is not None for each in taken.values())
        note = [] if is_known else [tag("p", _NO_COST, class_="quiet")]
        yield section("judges", "What judges took", table("Judges", heads, rows), *note)


def _cost(value: float | None) -> str:
    return _NOT_KNOWN if value is None else f"${value:.4f}"
