"""`python -m llmeval_integrations.demo` evaluates two prompts and says which is better."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from llmeval_integrations.cli.main import main
from llmeval_integrations.cli.terminal import put
from llmeval_integrations.demo import EVAL, OUTPUTS


def demo(folder: Path, *, opens: bool = False) -> int:
    """Evaluate the outputs of both prompts, compare them, and write a report of both."""
    first, new = folder / "first", folder / "new"
    page = folder / "report.html"
    run = ["run", str(EVAL), "--overwrite", "--quiet", "--out"]
    put("60 invoices, read by two prompts: is the new one better?\n\n")
    for command in (
        [*run, str(first)],
        [*run, str(new), "--column", "output=new_output"],
        ["compare", str(first), str(new), "--no-fields", "--changes", "1"],
        ["report", str(first), str(new), "--out", str(page), *(["--open"] if opens else [])],
    ):
        code = main(command)
        if code:
            return code
    put(
        f"\nOpen {page} in a browser to see which outputs fail, and where.\n"
        f"Then evaluate outputs of your own, in a file like {os.path.relpath(OUTPUTS)}:\n"
        "  llmeval run outputs.jsonl -e json_validity -e json_fields\n"
    )
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m llmeval_integrations.demo", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), help="where the runs go")
    parser.add_argument("--open", action="store_true", help="open the report in a browser")
    arguments = parser.parse_args()
    sys.exit(demo(arguments.out, opens=arguments.open))
