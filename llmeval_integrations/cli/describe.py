"""Descriptions of evaluators: names, needs and options."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import typing
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.evaluator import Evaluator

_MODULES: Final = re.compile(r"\b(?:typing|collections\.abc|llmeval_integrations(?:\.[a-z_]+)*)\.")
_LONGEST_DEFAULT: Final = 60
_WIDTH: Final = 90


class Option(NamedTuple):
    """One option of an evaluator."""

    name: str
    type: str
    """The type, as written in Python."""
    default: Any
    """The default; MISSING if the option is required."""
    documentation: str


def read_docstring(kind: type[Evaluator]) -> tuple[str, str]:
    """Return the first line of an evaluator's documentation, and the rest of it."""
    summary, _, rest = (inspect.getdoc(kind) or "").partition("\n")
    return summary, rest.strip()


def read_needs(kind: type[Evaluator]) -> tuple[tuple[str, ...], bool]:
    """Return the fields that a sample must have, and whether options can reduce them."""
    needs: Any = kind.needs
    if isinstance(needs, tuple):
        return needs, False
    try:
        return tuple(kind().needs), True
    except (TypeError, ValueError):  # an option is required
        return (), True


def option_types(kind: type[Evaluator]) -> dict[str, Any]:
    """Return the types of options by name; empty if they cannot be resolved."""
    try:
        return typing.get_type_hints(kind)
    except (NameError, TypeError):
        return {}


def read_options(kind: type[Evaluator]) -> Iterator[Option]:
    """Yield the options of an evaluator."""
    types, documentation = option_types(kind), _documentation(kind)
    settings: tuple[Field[Any], ...] = fields(kind) if is_dataclass(kind) else ()
    for field in settings:
        if field.init:
            default = field.default
            if field.default_factory is not MISSING:
                default = field.default_factory()
            type_ = _write_type(types.get(field.name, field.type))
            yield Option(field.name, type_, default, documentation.get(field.name, ""))


def _write_type(hint: Any) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(map(repr, typing.get_args(hint)))
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint.__name__
    parts = [part for part in typing.get_args(hint) if part is not type(None)]
    if len(parts) == 1 and type(None) in typing.get_args(hint):
        return f"{_write_type(parts[0])} | None"
    return _MODULES.sub("", str(hint))


def _documentation(kind: type[Evaluator]) -> dict[str, str]:
    """Return the string below each field of a class and its base classes."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if not is_dataclass(each):
            continue
        [tree] = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        for field, under in pairwise(getattr(tree, "body", ())):
            match field, under:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[name] = " ".join(text.split())
    return found


def describe(kind: type[Evaluator]) -> str:
    """Describe an evaluator in full, with the options first."""
    summary, documentation = read_docstring(kind)
    needs, vary = read_needs(kind)
    head = kind.name + (f" (also {', '.join(kind.aliases)})" if kind.aliases else "")
    head += f"  needs {', '.join(needs)}" if needs else ""
    head += ", unless options say otherwise" if needs and vary else ""
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
