"""What `llmeval run` warns about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from llmeval_integrations.cli.commands.terminal import say
from llmeval_integrations.core.errors import (
    InputError,
    MissingDependencyError,
    MissingFieldError,
    UnreadableJudgementError,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.runs import Run
from llmeval_integrations.runs.judging import clients_of
from llmeval_integrations.runs.summary import Finding, Tally

_OF_COLUMNS: Final = frozenset([InputError.__name__, MissingFieldError.__name__])
"""The errors of rows in which a column is looked for that is not there."""


def warn_of(run: Run, evaluators: Mapping[str, Evaluator], *, cached: bool) -> None:
    """Say on stderr what a table is easily read past: no data, rows without a result, no price.

    `cached` is whether judges' replies are kept for the next run.
    """
    if not run.summary["samples"]:
        say("llmeval run: warning: the data has no rows")
    for name, figures in run.summary["evaluators"].items():
        for path in figures.get("unmet_paths", ()):
            say(f"llmeval run: warning: {name}: no sample has a leaf at the path {path!r}")
        if figures["errors"]:
            _warn_of_errors(name, figures, [each for each in run.findings[name] if each.is_error])
    _warn_of_unscored(run, cached=cached)
    if run.summary.get("judging", {}).get("cost", 0) is None:
        _warn_of_missing_prices(evaluators)


def _warn_of_errors(name: str, figures: Mapping[str, Any], found: list[Finding]) -> None:
    share = f"{figures['errors']} of {figures['n']} rows are errors and count in no rate"
    first, hint = found[0].reason if found else "those in results.jsonl", ""
    if has_only_errors(figures):
        share = "EVERY row is an error"
        if found and found[0].kind in _OF_COLUMNS:
            hint = "; where columns have names of their own, say --column FIELD=NAME"
    say(f"llmeval run: warning: {name}: {share}, such as {first}{hint}")


def _warn_of_missing_prices(evaluators: Mapping[str, Evaluator]) -> None:
    """Say why costs are not known, where the package that knows them is all that is missing."""
    from llmeval_integrations.llm.prices import price_of

    try:
        for client in clients_of(evaluators):
            price_of(client.identity())
    except MissingDependencyError as error:
        say(f"llmeval run: warning: the cost is not known: {error}")


def _warn_of_unscored(run: Run, *, cached: bool) -> None:
    for name, found in _most_unscored(run).items():
        figures = run.summary["evaluators"][name]
        unscored, rows = figures["unscored"], figures["n"]
        share = (
            "EVERY row is unscored"
            if unscored == rows
            else f"{unscored} of {rows} rows are unscored and count in no rate"
        )
        label = "" if found.kind == "unscored" else f" ({found.kind})"
        why = f", most often{label}: {found.reason}" if found.reason else label
        # what a reply that is kept says stays the same
        anew = cached and found.kind == UnreadableJudgementError.label
        again = _again(run, anew=anew) if "judge" in figures else ""
        say(f"llmeval run: warning: {name}: {share}{why}{again}")


def _most_unscored(run: Run) -> dict[str, Finding]:
    """Find, for each evaluator with unscored rows, the most frequent kind and reason of them."""
    tallies = {
        name: Tally() for name, figures in run.summary["evaluators"].items() if figures["unscored"]
    }
    for row in run.rows if tallies else ():
        if row.unscored and row.evaluator in tallies:
            tallies[row.evaluator].add([row])
    return {name: found for name, tally in tallies.items() for found in tally.findings()[:1]}


def _again(run: Run, *, anew: bool) -> str:
    """Word how a judge's unscored rows are done again; `anew` past the cache."""
    options = "--resume --retry-errors" + (" --no-cache" if anew else "")
    return f"; {'' if run.out else 'with --out DIR, '}{options} asks again"


def has_only_errors(figures: Mapping[str, Any]) -> bool:
    """Whether there are rows, and none of them has a result."""
    return bool(figures["errors"]) and figures["errors"] == figures["n"]
