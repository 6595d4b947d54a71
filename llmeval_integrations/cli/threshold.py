"""`llmeval threshold`: find the confidence above which values need no review."""

from __future__ import annotations

import argparse

from llmeval_integrations.cli.gates import parse_share
from llmeval_integrations.cli.terminal import MISSED, OK, RUN, Commands, put
from llmeval_integrations.core.escape import make_printable
from llmeval_integrations.runs.acceptance import acceptance
from llmeval_integrations.runs.load import read_run


def add_commands(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "threshold",
        help="find the confidence above which values need no review",
        description="Print the lowest safe confidence, overall and by field: if values with at "
        "least this confidence are accepted, at most --errors of the samples have a wrong value "
        "among them. Exact tests in sequence make this hold with the probability --sure. The run "
        "needs json_fields with confidence. Exit 1 if no overall threshold is found.",
    )
    add = parser.add_argument
    add("run_directory", metavar="RUN", help=RUN)
    add("--evaluator", metavar="NAME", help="the json_fields to use, if several have confidences")
    add(
        "--errors", type=parse_share, default=0.01, metavar="P%", help="wrong samples allowed (1%%)"
    )
    add("--sure", type=parse_share, default=0.95, metavar="P%", help="probability of this (95%%)")
    add("--review", type=int, default=0, metavar="N", help="list the N least sure values below it")
    parser.set_defaults(run=_print_thresholds)


def _print_thresholds(call: argparse.Namespace) -> int:
    options = {"errors": call.errors, "sure": call.sure, "review": max(0, call.review)}
    found = acceptance(read_run(call.run_directory), call.evaluator, **options)
    thresholds = {"all fields": found.overall, **found.fields}
    width = max(map(len, thresholds))
    lines = [f"{path:<{width}}  {each}" for path, each in thresholds.items()]
    if found.review:
        lines += ["", "to review, the least sure first:"]
        lines += [f"{each.confidence:.3f}  {each.id}  {each.pointer}" for each in found.review]
    put("\n".join(map(make_printable, lines)) + "\n")
    return MISSED if found.overall.confidence is None else OK
