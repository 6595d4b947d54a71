"""`llmeval init`: write a starter file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Final

from llmeval_integrations.cli.commands.terminal import OK, put
from llmeval_integrations.core.errors import InputError

HELP: Final = "write a configuration to begin with, and a few rows of data"

_CONFIGURATION: Final = """\
# llmeval run {name}
data: outputs.jsonl       # JSON Lines, JSON, CSV, TSV or Parquet
# columns: {{output: response, reference: expected}}    # where they have other names

evaluators:               # llmeval list shows them all
  json_validity: {{}}       # is the output JSON?
  json_fields: {{}}         # which fields are right, beside the reference?
  # json_schema: {{schema: "@schema.json"}}

# fail_under: {{json_fields: 90%}}                      # exit code 1 below
out: runs/first           # one folder a run, so that runs can be compared
"""

_ROWS: Final = (
    ('{"total": 12.5, "currency": "EUR"}', {"total": 12.5, "currency": "EUR"}),
    ('{"total": 8, "currency": "$"}', {"total": 8, "currency": "USD"}),
    ('Here is the JSON: {"total": 3}', {"total": 3, "currency": "GBP"}),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file."""
    parser.add_argument("file", nargs="?", default="eval.yaml", metavar="FILE", help="(eval.yaml)")


def run(call: argparse.Namespace) -> int:
    """Write the configuration, and its data where there is none yet."""
    path = Path(call.file)
    if path.exists():
        raise InputError(f"{path} is there already; llmeval init FILE writes another")
    path.write_text(_CONFIGURATION.format(name=path), encoding="utf-8")
    data = path.parent / "outputs.jsonl"
    if not data.exists():
        rows = (
            {"id": f"row-{number}", "output": output, "reference": reference}
            for number, (output, reference) in enumerate(_ROWS, 1)
        )
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    put(f"written: {path}, which evaluates {data}\nnext: llmeval run {path}\n")
    return OK
