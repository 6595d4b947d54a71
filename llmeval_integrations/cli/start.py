"""`llmeval demo` and `init`: the first evaluation, with our data or with yours."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Final

from llmeval_integrations.cli.terminal import OK, Commands, put
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.demo import EVAL, OUTPUTS, SCHEMA

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
    """Add the two commands."""
    parser = commands.add_parser(
        "demo",
        help="evaluate two prompts that read 60 invoices",
        description="Evaluate what two prompts read from 60 made-up invoices, compare them, and "
        "write a report of both. The folder also gets the data and its configuration.",
    )
    add = parser.add_argument
    add("--open", action="store_true", help="open the report in a browser")
    folder = "folder of the runs (runs/demo)"
    add("-o", "--out", type=Path, default=Path("runs/demo"), help=folder)
    parser.set_defaults(run=_demo)

    parser = commands.add_parser(
        "init",
        help="write a configuration, and a few rows of data",
        description="Write a configuration to start from. If there is no outputs.jsonl beside it, "
        "write three rows of data, too.",
    )
    help_ = "the file to write (eval.yaml)"
    parser.add_argument("file", nargs="?", default="eval.yaml", metavar="FILE", help=help_)
    parser.set_defaults(run=_init)


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
        if code := main(command):
            return code
    for path in (OUTPUTS, SCHEMA, EVAL):
        copy = call.out / path.name
        if not copy.exists():  # it may be the user's own
            shutil.copyfile(path, copy)
    put(
        f"\nOpen {page} in a browser to see which outputs fail, and where.\n"
        f"The data is in {call.out}, too. Evaluate it yourself, or a file of your own like it:\n"
        f"  llmeval run {call.out / OUTPUTS.name} -e json_validity -e json_fields\n"
    )
    return OK


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
