"""`llmeval list` and `test-evaluator`: describe the evaluators, and try one on hard cases."""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
import textwrap
import typing
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import pairwise
from pkgutil import resolve_name
from typing import Any, Final, NamedTuple

from llmeval_integrations.cli.specification import build, parse_specification
from llmeval_integrations.cli.terminal import MISSED, OK, Commands, put
from llmeval_integrations.core.catalog import evaluator_class, list_evaluators
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import option_types

_MODULES: Final = re.compile(r"\b(?:typing|collections\.abc|llmeval_integrations(?:\.[a-z_]+)*)\.")
_LONGEST_DEFAULT: Final = 60
_WIDTH: Final = 90


class Option(NamedTuple):
    """One option of an evaluator; the default is MISSING if the option is required."""

    name: str
    type: str
    default: Any
    documentation: str


def add_commands(commands: Commands) -> None:
    """Add the two commands."""
    parser = commands.add_parser(
        "list",
        help="list the evaluators, or the options of one",
        description="List the evaluators with the questions that they answer. With NAME, print the "
        "options, the score and the metadata of this one.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="an evaluator")
    parser.set_defaults(run=_list)

    parser = commands.add_parser(
        "test-evaluator",
        help="try an evaluator on hard cases for what it claims to check",
        description="Try an evaluator on hard cases: text that is not JSON, values that only look "
        "equal, broken references, and outputs that are long or deep. EVALUATOR is a name from "
        "`llmeval list`, with options as in `llmeval run -e`. MODULE:OBJECT imports any other "
        "evaluator, such as one of LangChain or LlamaIndex, or a function; a class is called "
        "without arguments. Exit 1 if there are findings.",
    )
    add = parser.add_argument
    add("evaluator", metavar="EVALUATOR", help="NAME[:OPTION=VALUE,...] or MODULE:OBJECT")
    add("--claims", metavar="CLAIM", help="claim to check, such as json_equality (its own name)")
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

    findings = check_evaluator(_load(call.evaluator), call.claims)
    put(f"{findings}\n")
    return MISSED if findings else OK


def _load(text: str) -> Any:
    """Build one of our evaluators, or import another."""
    if ":" not in text or "=" in text:
        return next(iter(build([parse_specification(text)]).values()))
    sys.path.insert(0, "")  # as `python -m` does
    try:
        found = resolve_name(text)
        return found() if inspect.isclass(found) else found
    except Exception as error:
        raise InputError(f"{text!r}: {type(error).__name__}: {error}") from error


def describe(kind: type[Evaluator]) -> str:
    """Describe an evaluator in full, with the options first."""
    summary, documentation = read_docstring(kind)
    needs = read_needs(kind)
    head = kind.name + (f" (also {', '.join(kind.aliases)})" if kind.aliases else "")
    head += f"  needs {', '.join(needs)}" if needs else ""
    parts = [f"{head}\n{summary}"]
    for name, type_, default, about in read_options(kind):
        value = default.__name__ if isinstance(default, type) else default
        text = json.dumps(value, ensure_ascii=False, default=repr)
        is_long = len(text) > _LONGEST_DEFAULT
        brief = "(needed)" if default is MISSING else "= ..." if is_long else f"= {text}"
        lines = [f"{name}: {type_} {brief}", _indent(about)]
        if is_long:
            lines += ["    Unless given:", textwrap.indent(_indent(str(default)), "    ")]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, *filter(None, [documentation])])


def _indent(text: str) -> str:
    lines = [each for line in text.splitlines() for each in textwrap.wrap(line, _WIDTH) or [""]]
    return textwrap.indent("\n".join(lines), "    ")


def read_docstring(kind: type[Evaluator]) -> tuple[str, str]:
    """Return the first line of an evaluator's documentation, and the rest of it."""
    summary, _, rest = (inspect.getdoc(kind) or "").partition("\n")
    return summary, rest.strip()


def read_needs(kind: type[Evaluator]) -> Sequence[str]:
    """Return the fields that a sample must have, unless an option changes this."""
    try:
        return kind.needs if isinstance(kind.needs, tuple) else kind().needs
    except (TypeError, ValueError):  # an option is required
        return ()


def read_options(kind: type[Evaluator]) -> Iterator[Option]:
    """Yield the options of an evaluator, in the order of its arguments."""
    types, documentation = option_types(kind), _documentation(kind)
    settings: tuple[Field[Any], ...] = fields(kind) if is_dataclass(kind) else ()
    for field in sorted(settings, key=lambda each: bool(each.kw_only)):
        if field.init:
            default = field.default
            if field.default_factory is not MISSING:
                default = field.default_factory()
            type_ = _write_type(types.get(field.name, field.type))
            yield Option(field.name, type_, default, documentation.get(field.name, ""))


def _write_type(hint: Any) -> str:
    """Write a type as in Python, without the names of modules."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _write_type(parts[0])
    if origin is typing.Literal:
        return " | ".join(map(repr, parts))
    if isinstance(hint, type) and not parts:
        return hint.__name__
    if len(parts) == 2 and parts[1] is type(None):
        return f"{_write_type(parts[0])} | None"
    return _MODULES.sub("", str(hint))


def _documentation(kind: type[Evaluator]) -> dict[str, str]:
    """Return the string below each field of a class and its base classes."""
    found: dict[str, str] = {}
    for each in filter(is_dataclass, reversed(kind.__mro__)):
        [tree] = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        for field, under in pairwise(getattr(tree, "body", ())):
            match field, under:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[name] = " ".join(text.split())
    return found
