"""Descriptions of evaluators: names, needs and options."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import typing
from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from itertools import pairwise
from typing import Any, Final

from llmeval_integrations.core.evaluator import Evaluator

_MODULES: Final = re.compile(r"\b(?:typing|collections\.abc|llmeval_integrations(?:\.[a-z_]+)*)\.")
_LONGEST_DEFAULT: Final = 60
_WIDTH: Final = 90


@dataclass(frozen=True)
class Option:
    """One option of an evaluator."""

    name: str
    type: str
    """The type, as written in Python."""
    required: bool
    default: Any
    documentation: str


@dataclass(frozen=True)
class Description:
    """An evaluator's name, needs and options."""

    name: str
    aliases: tuple[str, ...]
    summary: str
    """The first line of its documentation."""
    documentation: str
    """The rest of its documentation."""
    needs: tuple[str, ...]
    """The fields that a sample must have besides the output."""
    needs_vary: bool
    """Whether options can reduce the needs."""
    options: tuple[Option, ...]


def describe(kind: type[Evaluator]) -> Description:
    """Describe an evaluator class."""
    summary, _, rest = (inspect.getdoc(kind) or "").partition("\n")
    needs: Any = kind.needs
    if not isinstance(needs, tuple):  # it depends on the options
        try:
            needs = tuple(kind().needs)
        except (TypeError, ValueError):
            needs = ()
    varies, options = needs is not kind.needs, tuple(_options(kind))
    return Description(kind.name, kind.aliases, summary, rest.strip(), needs, varies, options)


def option_types(kind: type[Evaluator]) -> dict[str, Any]:
    """Return the types of options by name; empty if they cannot be resolved."""
    try:
        return typing.get_type_hints(kind)
    except (NameError, TypeError):
        return {}


def _options(kind: type[Evaluator]) -> Iterator[Option]:
    types, documentation = option_types(kind), _documentation(kind)
    settings: tuple[Field[Any], ...] = fields(kind) if is_dataclass(kind) else ()
    for field in settings:
        default = field.default if field.default_factory is MISSING else field.default_factory()
        required, text = default is MISSING, documentation.get(field.name, "")
        type_ = _write_type(types.get(field.name, field.type))
        if field.init:
            yield Option(field.name, type_, required, None if required else default, text)


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


def write_long(found: Description) -> str:
    """Write the full description of an evaluator, with the options first."""
    also = f" (also {', '.join(found.aliases)})" if found.aliases else ""
    needs = f"  needs {', '.join(found.needs)}" if found.needs else ""
    unless = ", unless options say otherwise" if needs and found.needs_vary else ""
    parts = [f"{found.name}{also}{needs}{unless}\n{found.summary}"]
    for option in found.options:
        default = option.default
        default = default.__name__ if isinstance(default, type) else default
        text = json.dumps(default, ensure_ascii=False, default=repr)
        is_long = len(text) > _LONGEST_DEFAULT
        brief = "(needed)" if option.required else "= ..." if is_long else f"= {text}"
        lines = [f"{option.name}: {option.type} {brief}", _indent(option.documentation)]
        if is_long:
            lines += ["    Unless given:", textwrap.indent(_indent(str(default)), "    ")]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, *filter(None, [found.documentation])])


def _indent(text: str) -> str:
    lines = [each for line in text.splitlines() for each in textwrap.wrap(line, _WIDTH) or [""]]
    return textwrap.indent("\n".join(lines), "    ")
