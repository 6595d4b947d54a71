"""`llmeval init`: write a first configuration, and a few rows of data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from llmeval_integrations.cli.terminal import OK, Commands, put
from llmeval_integrations.core.errors import InputError

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
_ROWS: Final = r"""
{"id": "row-1", "output": "{\"total\": 12.5, \"currency\": \"EUR\"}", "reference": {"total": 12.5, "currency": "EUR"}}
{"id": "row-2", "output": "{\"total\": 8, \"currency\": \"$\"}", "reference": {"total": 8, "currency": "USD"}}
{"id": "row-3", "output": "Here is the JSON: {\"total\": 3}", "reference": {"total": 3, "currency": "GBP"}}
"""  # noqa: E501


def add_commands(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("init", help="write a configuration, and a few rows of data")
    help_ = "the file to write (eval.yaml)"
    parser.add_argument("file", nargs="?", default="eval.yaml", metavar="FILE", help=help_)
    parser.set_defaults(run=_init)


def _init(call: argparse.Namespace) -> int:
    path = Path(call.file)
    if path.exists():
        raise InputError(f"{path} exists already; llmeval init FILE writes another file")
    path.write_text(_CONFIGURATION.format(name=path), encoding="utf-8")
    data = path.parent / "outputs.jsonl"
    if not data.exists():
        data.write_text(_ROWS.lstrip(), encoding="utf-8")
    put(f"written: {path}, which evaluates {data}\nnext: llmeval run {path}\n")
    return OK
