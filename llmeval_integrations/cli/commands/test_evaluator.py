"""`llmeval test-evaluator`: try an evaluator on hard cases for what it claims to check."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.cli.commands.parts.specification import build, parse_specification
from llmeval_integrations.cli.commands.terminal import MISSED, OK, put
from llmeval_integrations.core.errors import InputError

HELP: Final = "try an evaluator on hard cases for what it claims to check"
DESCRIPTION: Final = """\
Try an evaluator on hard cases: what is not JSON, what only looks the same, broken references,
outputs that are long or deep. NAME is one of `llmeval list`, its options as in `llmeval run -e`;
MODULE:OBJECT is anyone's, such as a LangChain or LlamaIndex evaluator or a function, and is made
without arguments where it is a class. Exit code 1 where anything was found.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the evaluator, what it claims, and under which rules."""
    add = parser.add_argument
    add("evaluator", metavar="EVALUATOR", help="NAME[:OPTION=VALUE,...] or MODULE:OBJECT")
    add("--claims", metavar="CLAIM", help="what it claims, such as json_equality (its own name)")
    add(
        "--list-order",
        choices=("strict", "any", "top_level_any"),
        default="strict",
        help="whether the order of array items counts (strict)",
    )
    add("--extra-keys", action="store_true", help="the output may have keys of its own")
    add("--json", action="store_true", help="print JSON")


def run(call: argparse.Namespace) -> int:
    """Try the evaluator, and say by the exit code whether anything was found."""
    from llmeval_integrations.conformance import check_evaluator

    findings = check_evaluator(
        _evaluator(call.evaluator),
        call.claims,
        list_order=call.list_order,
        extra_keys=call.extra_keys,
    )
    put(_written(findings, as_json=call.json) + "\n")
    return MISSED if findings else OK


def _written(findings: Any, *, as_json: bool) -> str:
    if as_json:
        return json.dumps(findings.as_dict(), indent=2)
    if not sys.stdout.isatty():
        return str(findings)
    from rich.console import Console

    return str(findings.table(Console()))


def _evaluator(text: str) -> Any:
    """Build one of ours, or import anyone's."""
    module, colon, path = text.partition(":")
    if not colon or "=" in text:
        return next(iter(build([parse_specification(text, Path())]).values()))
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` does
    try:
        found: Any = import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
        return found() if inspect.isclass(found) else found
    except Exception as error:
        hint = (
            f"; a file is named as a module: {module[:-3]}:{path}" if module[-3:] == ".py" else ""
        )
        raise InputError(f"{text!r}: {type(error).__name__}: {error}{hint}") from error
