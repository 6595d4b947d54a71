"""`llmeval compare` and `prefer`: find out where one run is better or worse than another."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from llmeval_integrations.cli.configuration import choose_cache
from llmeval_integrations.cli.gates import parse_share
from llmeval_integrations.cli.specification import build, parse_specification
from llmeval_integrations.cli.terminal import MISSED, OK, RUN, Commands, put, put_view, say
from llmeval_integrations.core.quote import make_printable
from llmeval_integrations.runs.comparison.compare import Comparison, compare
from llmeval_integrations.runs.comparison.prefer import prefer
from llmeval_integrations.runs.load import read_run
from llmeval_integrations.runs.numbers import percent, write_count
from llmeval_integrations.runs.rows import write_document

_UNSURE: Final = "so a regression cannot be excluded"


def add_commands(commands: Commands) -> None:
    """Add the two commands."""
    parser = commands.add_parser(
        "compare",
        help="compare two runs over the same samples",
        description="Join two runs by the ids of samples, and report where the second run, B, is "
        "better or worse than the first run, A: pass rates, mean scores and single fields, each "
        "with its interval. A difference is called better or worse only if it is significant (at "
        "5 % for all differences together). Samples that have no score in one of the runs are "
        "left out and counted.",
    )
    add = parser.add_argument
    add("a", metavar="A", help=f"the first run: {RUN}")
    add("b", metavar="B", help="the second run")
    add("--evaluator", action="append", metavar="NAME", help="compare this one only; repeatable")
    add("--no-fields", dest="by_field", action="store_false", help="do not compare single fields")
    lower = "an evaluator whose lower scores are better"
    add("--lower-is-better", action="append", default=[], metavar="NAME", help=lower)
    add("--fail-on-regression", action="store_true", help="exit 1 if B is worse in anything")
    left_out = "with --fail-on-regression: the share of A's samples that B may lack (5%%)"
    add("--max-left-out", type=parse_share, default=0.05, metavar="P%", help=left_out)
    changes = "list up to N worse and N better samples (5)"
    add("--changes", type=int, default=5, metavar="N", help=changes)
    add("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_compare)
    _add_prefer(commands)


def _add_prefer(commands: Commands) -> None:
    parser = commands.add_parser(
        "prefer",
        help="ask a judge which run has the better outputs",
        description="Show a judge two outputs of each sample, in both orders. Print how often the "
        "first run is better, with its interval, and how often the judge preferred the first "
        "place in both orders. Three runs or more also get strengths (Bradley-Terry).",
    )
    add = parser.add_argument
    add("a", metavar="A", help=RUN)
    add("b", metavar="B", help="another run")
    add("others", nargs="*", default=[], metavar="RUN", help="further runs")
    add("-e", "--evaluator", required=True, metavar="JUDGE", help="preference:model=PLATFORM:MODEL")
    add("--pairs", type=int, metavar="N", help="judge N pairs, drawn at random (all)")
    add("--seed", type=int, default=0, metavar="N", help="seed of the random pairs (0)")
    add("-o", "--out", metavar="DIR", help="keep the judge's rows in DIR")
    add("--cache", metavar="FILE", help="keep judges' replies in FILE, not in the user's folder")
    add("--no-cache", action="store_const", const=False, dest="cache", help="keep no replies")
    parser.set_defaults(run=_prefer)


def _compare(call: argparse.Namespace) -> int:
    a, b = read_run(call.a), read_run(call.b)
    options = {key: getattr(call, key) for key in ("by_field", "lower_is_better", "changes")}
    comparison = compare(a, b, evaluators=call.evaluator, **options)
    if call.json:
        put(write_document(comparison.as_dict()))
    else:
        from llmeval_integrations.reports.comparison_view import comparison_view

        put_view(comparison_view(comparison, call.changes))
    misses = [*_misses(comparison, call.max_left_out)] if call.fail_on_regression else []
    if call.fail_on_regression and call.evaluator is None:
        lost = (name for name in a.summary["evaluators"] if name not in comparison.evaluators)
        misses += [f"{name}: A has this evaluator, B does not, {_UNSURE}" for name in lost]
    for miss in misses:
        say(f"llmeval compare: {miss}")
    return MISSED if misses else OK


def _misses(comparison: Comparison, most: float) -> Iterator[str]:
    """Word each regression, and each evaluator with too few samples in common or at all."""
    for each in comparison.differences:
        figure = each.measure if each.field is None else f"{each.field} {each.measure}"
        change = f"{each.evaluator}: {figure} went from {each.a:.4g} to {each.b:.4g}"
        if each.verdict == "worse":
            yield change
        elif each.is_undecidable and each.field is None and each.worse > each.better:
            few = write_count(each.groups or each.n, "sample" if each.groups is None else "group")
            yield f"{change}, and {few} can show no difference, {_UNSURE}"
    for name, found in comparison.evaluators.items():
        if found.left_out == found.joined:
            yield f"{name}: no sample has a score in both runs, {_UNSURE}"
            continue
        samples = max(comparison.samples_a, found.joined)  # a run under way may have more by now
        lost = samples - found.joined + found.left_out - found.left_out_a
        if lost / samples > most:
            yield (
                f"{name}: {lost} of A's {samples} samples have no counterpart with a score in B, "
                f"more than {percent(most)}, {_UNSURE}"
            )


def _prefer(call: argparse.Namespace) -> int:
    [judge] = build([parse_specification(call.evaluator)]).values()
    options = {key: getattr(call, key) for key in ("others", "pairs", "seed", "out")}
    found = prefer(call.a, call.b, judge, cache=choose_cache(call.cache), **options)
    put("\n".join(map(make_printable, str(found).splitlines())) + "\n")
    return OK
