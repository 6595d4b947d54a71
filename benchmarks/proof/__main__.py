"""Our figures beside published ones: `make proof DATA=FOLDER` prints them and writes PROOF.md."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from pathlib import Path

from proof import bfcl, maskbench, sob, suites

PARTS = (sob.run, bfcl.run, maskbench.run, suites.run_parsing, suites.run_schemas)


def main() -> None:
    """Run all parts whose files are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of public files")
    parser.add_argument("--out", type=Path, default=Path("PROOF.md"))
    options = parser.parse_args()
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    head = (
        "# Proof\n\nOur figures beside the published ones (in brackets), record by record. Made by "
        f"`make proof` with llmeval-integrations {version('llmeval-integrations')} on Python "
        f"{platform.python_version()}.\n"
    )
    text = "\n".join([head, *(part(options.folder).markdown() for part in PARTS)])
    print(text)
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
