"""`llmeval list`: show evaluators, options and needs."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Final

from llmeval_integrations.cli.commands.parts.describing import (
    Description,
    describe,
    long_text,
    short_text,
)
from llmeval_integrations.cli.commands.terminal import OK, put, say
from llmeval_integrations.core.catalog import evaluator_class, list_evaluators
from llmeval_integrations.core.errors import EvalError

HELP: Final = "show evaluators, options and needs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the evaluator's name and the form of the answer."""
    parser.add_argument("name", nargs="?", help="show everything about one evaluator")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(call: argparse.Namespace) -> int:
    """List the evaluators, or describe one."""
    if call.name is None:
        descriptions = [found for found in map(_description, list_evaluators()) if found]
    else:
        descriptions = [describe(evaluator_class(call.name))]
    if call.json:
        known = [dataclasses.asdict(description) for description in descriptions]
        found = known if call.name is None else known[0]
        put(json.dumps(found, indent=2, default=repr) + "\n")
    elif call.name is None:
        put("\n".join(map(short_text, descriptions)) + "\n")
    else:
        put(long_text(descriptions[0]) + "\n")
    return OK


def _description(name: str) -> Description | None:
    """Describe an evaluator; one of another package that cannot be loaded is named on stderr."""
    try:
        return describe(evaluator_class(name))
    except EvalError as error:
        say(f"llmeval list: warning: {error}")
        return None
