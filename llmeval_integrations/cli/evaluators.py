"""`llmeval list` and `test-evaluator`: show the evaluators, and try one on hard cases."""

from __future__ import annotations

import argparse
import inspect
import sys
from importlib import import_module
from typing import Any

from llmeval_integrations.cli.describe import describe, read_docstring
from llmeval_integrations.cli.specification import build, parse_specification
from llmeval_integrations.cli.terminal import MISSED, OK, Commands, put
from llmeval_integrations.core.catalog import evaluator_class, list_evaluators
from llmeval_integrations.core.errors import InputError


def add_commands(commands: Commands) -> None:
    """Add the two commands."""
    parser = commands.add_parser("list", help="list the evaluators, or the options of one")
    parser.add_argument("name", nargs="?", help="show everything about one evaluator")
    parser.set_defaults(run=_list)

    parser = commands.add_parser(
        "test-evaluator",
        help="try an evaluator on hard cases for what it claims to check",
        description="Try an evaluator on hard cases: text that is not JSON, values that only look "
        "equal, broken references, and outputs that are long or deep. NAME is a name from `llmeval "
        "list`, with options as in `llmeval run -e`. MODULE:OBJECT imports any other evaluator, "
        "such as one of LangChain or LlamaIndex, or a function; a class is called without "
        "arguments. Exit 1 if there are findings.",
    )
    add = parser.add_argument
    add("evaluator", metavar="EVALUATOR", help="NAME[:OPTION=VALUE,...] or MODULE:OBJECT")
    add("--claims", metavar="CLAIM", help="claim to check, such as json_equality (its own name)")
    orders = ("strict", "any", "top_level_any")
    add("--list-order", choices=orders, default="strict", help="whether order counts (strict)")
    add("--extra-keys", action="store_true", help="allow keys that the reference lacks")
    parser.set_defaults(run=_test)


def _list(call: argparse.Namespace) -> int:
    if call.name is not None:
        put(describe(evaluator_class(call.name)) + "\n")
        return OK
    questions = {name: read_docstring(evaluator_class(name))[0] for name in list_evaluators()}
    width = max(map(len, questions))
    put("".join(f"{name:{width}}  {question}\n" for name, question in questions.items()))
    return OK


def _test(call: argparse.Namespace) -> int:
    from llmeval_integrations.conformance import check_evaluator

    rules = {"list_order": call.list_order, "extra_keys": call.extra_keys}
    findings = check_evaluator(_load(call.evaluator), call.claims, **rules)
    put(f"{findings}\n")
    return MISSED if findings else OK


def _load(text: str) -> Any:
    """Build one of our evaluators, or import another."""
    module, colon, path = text.partition(":")
    if not colon or "=" in text:
        return next(iter(build([parse_specification(text)]).values()))
    sys.path.insert(0, "")  # as `python -m` does
    try:
        found = getattr(import_module(module), path)
        return found() if inspect.isclass(found) else found
    except Exception as error:
        raise InputError(f"{text!r}: {type(error).__name__}: {error}") from error
