"""`llmeval prefer`: have a judge say which of two runs has the better outputs."""

from __future__ import annotations

import argparse

from llmeval_integrations.cli.specification import build, parse_specification
from llmeval_integrations.cli.terminal import OK, RUN, Commands, put
from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.runs.prefer import prefer


def add_commands(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "prefer",
        help="have a judge say which run has the better outputs",
        description="Show a judge two outputs of each sample, in both orders, and print how often "
        "the first run is better, with its interval, and how often the first place was preferred "
        "whatever stood there. Three runs or more also get strengths (Bradley-Terry).",
    )
    add = parser.add_argument
    add("a", metavar="A", help=RUN)
    add("b", metavar="B", help="another one")
    add("others", nargs="*", default=[], metavar="RUN", help="and more")
    add("-e", "--evaluator", required=True, metavar="JUDGE", help="preference:model=PLATFORM:MODEL")
    add("--pairs", type=int, metavar="N", help="judge N pairs, drawn by chance (all)")
    add("--seed", type=int, default=0, metavar="N", help="which ones are drawn (0)")
    add("-o", "--out", metavar="DIR", help="keep the judge's rows there")
    add("--cache", metavar="FILE", help="keep replies there, so that none is paid twice")
    parser.set_defaults(run=_prefer)


def _prefer(call: argparse.Namespace) -> int:
    [judge] = build([parse_specification(call.evaluator)]).values()
    options = {key: getattr(call, key) for key in ("others", "pairs", "seed", "out", "cache")}
    found = prefer(call.a, call.b, judge, **options)
    put("\n".join(map(make_printable, str(found).splitlines())) + "\n")
    return OK
