"""Runs as Markdown, short enough for a comment under a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

from llmeval_integrations.core.printable import one_line
from llmeval_integrations.reports.parts.comparing import (
    CHANGED,
    MORE_CHANGED,
    MOST_FIELDS,
    NOTHING_SURE,
    changes_of,
    compared,
    outcomes_of,
    reason_of,
    would_have_shown,
)
from llmeval_integrations.reports.parts.names import names_of
from llmeval_integrations.reports.parts.overview import A_LEAF, SHARES
from llmeval_integrations.runs.comparing.comparison import Comparison
from llmeval_integrations.runs.comparing.difference import Difference
from llmeval_integrations.runs.numbers import (
    LABEL_HEADS,
    chance,
    counted,
    figure,
    figures_of,
    labels_of,
    samples_of,
    signed,
)
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import Finding
from llmeval_integrations.text.excerpt import cut_around_difference

SUFFIX: Final = ".md"

_ACTIVE: Final = re.compile(r"[^\w ,;()%='\"-]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", re.ASCII)
_LONGEST: Final = 120
_LONGEST_SENTENCE: Final = 500
_LONGEST_VALUE: Final = 40
_MOST_FINDINGS: Final = 50
_MOST_KINDS: Final = 5
_EACH_WAY: Final = 5
_MOST_CHANGES: Final = 30
_WORST_FIELDS: Final = 20
_MOST_VALUES: Final = 3
_NOTE: Final = (
    "Over the samples that both runs have; p is adjusted for all differences together (Holm), "
    "intervals are not."
)


def write(runs: Sequence[Run], out: BinaryIO) -> None:
    """Write the figures of each run, its worst fields, what was found, and comparisons.

    What was found is of rows that did not pass; each further run is compared with the first.
    """
    named = list(zip(names_of(runs), runs, strict=True))
    out.writelines("\n".join([*_lines(name, run), ""]).encode() for name, run in named)
    if len(named) > 1:
        out.write("\n".join([*_comparisons(named), ""]).encode())


def quoted(text: str, longest: int = _LONGEST) -> str:
    """Write a text as code that stays in its cell, on one line, whatever is in it.

    Every character that Markdown or HTML could act on is written by its number; inside of a code
    element no name or number becomes a mention or a link.
    """
    cut = text if len(text) <= longest else f"{text[:longest]}..."
    return f"<code>{_ACTIVE.sub(lambda found: f'&#{ord(found[0])};', one_line(cut))}</code>"


def _lines(name: str, run: Run) -> Iterator[str]:
    yield f"### {quoted(name)}: {samples_of(run)}"
    yield ""
    yield "| evaluator | passed | 95 % interval | mean | scored | unscored | errors |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for evaluator, figures in run.summary["evaluators"].items():
        yield _row([quoted(evaluator), *figures_of(figures)])
    yield ""
    for evaluator, figures in run.summary["evaluators"].items():
        if figures.get("fields"):
            yield from _fields(evaluator, figures["fields"])
    if labels := list(labels_of(run.summary)):
        yield _row(LABEL_HEADS)
        yield "| --- | --- | ---: | ---: |"
        for evaluator, label, *counts in labels:
            yield _row([quoted(evaluator), quoted(label), *counts])
        yield ""
    if any(run.findings.values()):
        yield from _findings(run.findings)


def _fields(evaluator: str, fields: Mapping[str, Any]) -> Iterator[str]:
    """Write the fields in which most is wrong."""
    yield f"<details><summary>Fields of {quoted(evaluator)}</summary>"
    yield ""
    yield "| field | leaves | precision | recall | F1 | most often wrong | for example |"
    yield "| --- | ---: | ---: | ---: | ---: | --- | --- |"
    for path, each in list(fields.items())[:_WORST_FIELDS]:
        figures = [figure(each[name]) for name in ("leaves", "precision", "recall", "f1")]
        wrong = "<br>".join(map(_wrong_value, each["wrong_values"][:_MOST_VALUES]))
        example = "".join(quoted(text_of(id_), _LONGEST_VALUE) for id_ in each["examples"][:1])
        yield _row([quoted(path or "(the whole)"), *figures, wrong, example])
    yield ""
    yield f"{A_LEAF}. {SHARES}"
    yield ""
    if len(fields) > _WORST_FIELDS:
        yield f"and {counted(len(fields) - _WORST_FIELDS, 'field')} more in summary.json"
        yield ""
    yield "</details>"
    yield ""


def _wrong_value(found: Mapping[str, Any]) -> str:
    output, reference = cut_around_difference(found["output"], found["reference"], _LONGEST_VALUE)
    return f"{quoted(output)} for {quoted(reference)} ({found['count']:,})"


def _findings(findings: Mapping[str, Sequence[Finding]]) -> Iterator[str]:
    """Write the most frequent kinds of each evaluator, and how many more there are."""
    found = [(who, each) for who, kinds in findings.items() for each in kinds[:_MOST_KINDS]]
    rest = sum(map(len, findings.values())) - len(found[:_MOST_FINDINGS])
    yield "<details><summary>What went wrong</summary>"
    yield ""
    yield "| evaluator | found | rows | most often, or for example |"
    yield "| --- | --- | ---: | --- |"
    for evaluator, finding in found[:_MOST_FINDINGS]:
        kind = f"error: {finding.kind}" if finding.is_error else finding.kind
        reason = quoted(finding.reason) if finding.reason else ""
        yield _row([quoted(evaluator), quoted(kind), f"{finding.count:,}", reason])
    yield ""
    if rest:
        yield f"and {counted(rest, 'kind')} more"
        yield ""
    yield "</details>"
    yield ""


def _comparisons(named: Sequence[tuple[str, Run]]) -> Iterator[str]:
    (first, a), *others = named
    yield "### Comparison"
    yield ""
    for name, b in others:
        yield f"#### A: {quoted(first)}; B: {quoted(name)}"
        yield ""
        found = compared(a, b)
        if isinstance(found, str):
            yield f"Not compared: {quoted(found, _LONGEST_SENTENCE)}"
            yield ""
        else:
            yield from _compared(found)
    yield _NOTE
    yield ""


def _compared(found: Comparison) -> Iterator[str]:
    """Write what is surely different, the worse first, and why that may be doubtful."""
    sure = [*found.regressions, *found.improvements]
    fields = [each for each in sure if each.field is not None]
    if sure:
        yield "| evaluator | of | A | B | B − A | 95 % interval | adjusted p | verdict |"
        yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"
        for each in [each for each in sure if each.field is None] + fields[:MOST_FIELDS]:
            yield _row([*_difference(each)])
        yield ""
        if len(fields) > MOST_FIELDS:
            yield f"and {counted(len(fields) - MOST_FIELDS, 'field')} more"
            yield ""
    would = would_have_shown(found, lambda each: f"{quoted(each.evaluator)} {each.measure}")
    answer = would if sure else f"{NOTHING_SURE} {would}".rstrip()
    if answer:
        yield answer
        yield ""
    yield from _changes(found)
    for warning in found.warnings:
        yield f"- {quoted(warning, _LONGEST_SENTENCE)}"
    if found.warnings:
        yield ""


def _difference(each: Difference) -> Iterator[str]:
    bounds = each.interval
    yield quoted(each.evaluator)
    yield each.measure if each.field is None else quoted(each.field or "(the whole)")
    yield figure(each.a)
    yield figure(each.b)
    yield signed(each.difference)
    yield "–" if bounds is None else " to ".join(map(signed, bounds))
    yield chance(each.adjusted).replace("<", "&lt;")
    yield each.verdict


def _changes(found: Comparison) -> Iterator[str]:
    """Write a folded table of the samples that changed, of all evaluators together not too many."""
    listed, rest = changes_of(found, _EACH_WAY)
    if not listed:
        return
    rest += len(listed[_MOST_CHANGES:])
    yield f"<details><summary>{CHANGED}</summary>"
    yield ""
    yield "| evaluator | sample | | A | B | what was wrong |"
    yield "| --- | --- | --- | ---: | ---: | --- |"
    for evaluator, change in listed[:_MOST_CHANGES]:
        sample = quoted(text_of(change.id), _LONGEST_VALUE)
        verdict = "better" if change.better else "worse"
        reason = quoted(reason_of(change)) if reason_of(change) else ""
        yield _row([quoted(evaluator), sample, verdict, *outcomes_of(change), reason])
    yield ""
    if rest:
        yield f"and {rest:,} {MORE_CHANGED}"
        yield ""
    yield "</details>"
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
