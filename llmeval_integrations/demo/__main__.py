"""`python -m llmeval_integrations.demo` evaluates the made-up outputs and writes a report."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from llmeval_integrations.cli.main import main
from llmeval_integrations.cli.terminal import put
from llmeval_integrations.demo import EVAL, OUTPUTS


def demo(folder: Path) -> int:
    """Run the evaluation, write its report and say what to do next."""
    code = main(["run", str(EVAL), "--out", str(folder), "--overwrite"])
    code = code or main(["report", str(folder)])
    if code == 0:
        put(
            f"\nOpen {folder / 'report.html'} in a browser to see which outputs fail, and where.\n"
            f"Then evaluate outputs of your own, in a file like {os.path.relpath(OUTPUTS)}:\n"
            "  llmeval run outputs.jsonl -e json_validity -e json_fields\n"
        )
    return code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m llmeval_integrations.demo", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), help="where the run is kept")
    sys.exit(demo(parser.parse_args().out))
