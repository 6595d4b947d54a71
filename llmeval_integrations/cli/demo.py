"""`llmeval demo`: evaluate two prompts and find out which is better."""

from __future__ import annotations

import argparse
from pathlib import Path

from llmeval_integrations.cli.terminal import OK, Commands, put
from llmeval_integrations.demo import EVAL, OUTPUTS


def add_commands(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "demo",
        help="evaluate two prompts that read 60 invoices",
        description="Evaluate what two prompts read from 60 made-up invoices, compare them, and "
        "write a report of both.",
    )
    parser.add_argument("--open", action="store_true", help="open the report in a browser")
    parser.add_argument(
        "-o", "--out", type=Path, default=Path("runs/demo"), help="folder of the runs (runs/demo)"
    )
    parser.set_defaults(run=_demo)


def _demo(call: argparse.Namespace) -> int:
    from llmeval_integrations.cli.main import main

    first, new, page = (str(call.out / name) for name in ("first", "new", "report.html"))
    run = ["run", str(EVAL), "--overwrite", "--quiet", "--out"]
    put("60 invoices, read by two prompts: is the new one better?\n\n")
    for command in (
        [*run, first],
        [*run, new, "--column", "output=new_output"],
        ["compare", first, new, "--no-fields", "--changes", "1"],
        ["report", first, new, "--out", page, *(["--open"] if call.open else [])],
    ):
        code = main(command)
        if code:
            return code
    here = Path.cwd()
    example = OUTPUTS.relative_to(here) if OUTPUTS.is_relative_to(here) else OUTPUTS
    put(
        f"\nOpen {page} in a browser to see which outputs fail, and where.\n"
        f"Then evaluate outputs of your own, in a file like {example}:\n"
        "  llmeval run outputs.jsonl -e json_validity -e json_fields\n"
    )
    return OK
