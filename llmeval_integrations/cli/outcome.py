"""What `llmeval run` prints after a run, and its exit code."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from llmeval_integrations.cli.configuration import Configuration
from llmeval_integrations.cli.gates import find_misses
from llmeval_integrations.cli.terminal import MISSED, OK, WRONG_CALL, open_page, put, put_view, say
from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.runs import Run
from llmeval_integrations.runs.numbers import write_count
from llmeval_integrations.runs.rows import write_document


def put_summary(run: Run, call: argparse.Namespace) -> None:
    """Print the summary of a run."""
    if call.json:
        put(write_document(run.summary))
    elif not call.quiet:
        from llmeval_integrations.reports.run_view import view_of_run

        put_view(view_of_run(run))


def put_next_step(run: Run, call: argparse.Namespace) -> None:
    """Print where the run is and the next commands, and open its report if asked."""
    if not (call.json or call.quiet):
        put(
            f"written: {run.out}/results.jsonl and summary.json\n"
            f"next: llmeval view {run.out} shows its samples; "
            f"llmeval compare {run.out} OTHER compares another run with it\n"
            if run.out
            else "next: --out DIR keeps the run; llmeval view DIR then shows its samples\n"
        )
    if call.open and run.out:
        from llmeval_integrations.reports import html

        page = run.out.resolve() / "report.html"
        with page.open("wb") as file:
            html.write([run], file)
        open_page(page.as_uri())


def conclude(run: Run, asked: Configuration) -> int:
    """Print warnings and missed gates on stderr, and return the exit code."""
    for warning in _warnings(run, cached=asked.cache is not False):
        say(f"llmeval run: warning: {warning}")
    left_out = [*_word_gaps(run.summary.get("judging", {}), frozen=bool(asked.frozen))]
    misses = [*find_misses(run.summary, asked.fail_under or {})]
    for miss in (*misses, *left_out):
        say(f"llmeval run: {miss}")
    figures = run.summary["evaluators"].values()
    if any(0 < each["errors"] == each["n"] for each in figures):
        return WRONG_CALL  # for example, no row has the column
    if all(each["n"] == each["unscored"] + each["errors"] for each in figures):
        say("llmeval run: no row has a result, so nothing was evaluated")
        return WRONG_CALL
    if asked.frozen and left_out:
        return WRONG_CALL
    return MISSED if misses or left_out else OK


def _warnings(run: Run, *, cached: bool) -> Iterator[str]:
    if not run.summary["samples"]:
        yield "the data has no rows"
    for name, figures in run.summary["evaluators"].items():
        for path in figures.get("unmet_paths", ()):
            yield f"{name}: no sample has a leaf at the path {path!r}"
        if figures["errors"]:
            first = next((each.reason for each in run.findings[name] if each.is_error), "")
            count = f"{figures['errors']} of {figures['n']} rows are errors"
            yield f"{name}: {count} and are left out of rates, for example: {first}"
        if figures["unscored"]:
            yield f"{name}: {_word_unscored(run, name, figures, cached=cached)}"


def _word_unscored(run: Run, name: str, figures: Mapping[str, Any], *, cached: bool) -> str:
    """Word the number of unscored rows, the most frequent reason, and how to ask again."""
    said = f"{figures['unscored']} of {figures['n']} rows have no score and are left out of rates"
    found = ((row.label, row.reason) for row in run.rows if row.unscored and row.evaluator == name)
    [((label, reason), _)] = Counter(found).most_common(1)
    said += f", most often ({label})" if label else ", most often" if reason else ""
    said += f": {reason}" if reason else ""
    if "judge" not in figures:
        return said
    is_kept = cached and label == UnreadableJudgementError.label
    options = "--resume --retry-errors" + (" --no-cache" if is_kept else "")
    return f"{said}; {'' if run.out else 'with --out DIR, '}{options} asks again"


def _word_gaps(judging: Mapping[str, Any], *, frozen: bool) -> Iterator[str]:
    """Word how many requests to judges this call or an earlier one left out, and why."""
    if not judging.get("not_asked"):
        return
    why = "an earlier call left them out; --resume --retry-errors makes them"
    if judging["budget_reached"]:
        why = f"the budget {judging['budget_reached']} was spent"
    elif frozen:
        why = f"the cache is frozen and lacks them, or {why}"
    were = "was" if judging["not_asked"] == 1 else "were"
    yield f"{write_count(judging['not_asked'], 'request')} {were} not made: {why}"
