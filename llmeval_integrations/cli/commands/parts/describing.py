"""What there is to know about an evaluator before one is built."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import textwrap
import typing
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from llmeval_integrations.core.evaluator import Evaluator

_MODULES: Final = re.compile(r"\b(?:typing|collections\.abc|llmeval_integrations(?:\.[a-z_]+)*)\.")

_BRIEF: Final = 60
"""The most characters of a default that stands beside the option's name."""


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of an evaluator."""

    name: str
    """Its name."""

    type: str
    """Its type, as Python writes it."""

    required: bool
    """Whether there is no default."""

    default: Any
    """What it is unless given; None where there is no default."""

    documentation: str
    """What its class says about it."""


@dataclasses.dataclass(frozen=True)
class Description:
    """An evaluator's name, needs and options."""

    name: str
    """Its name in the catalog."""

    aliases: tuple[str, ...]
    """Its other names."""

    summary: str
    """The first line of its documentation."""

    documentation: str
    """The rest of it."""

    needs: tuple[str, ...]
    """The fields that a sample must have beside the output."""

    needs_vary: bool
    """Whether it needs less where options say so."""

    options: tuple[Option, ...]
    """Its options."""


def describe(kind: type[Evaluator]) -> Description:
    """Describe an evaluator class."""
    summary, _, documentation = (inspect.getdoc(kind) or "").partition("\n")
    return Description(
        kind.name,
        kind.aliases,
        summary,
        documentation.strip(),
        _needs(kind),
        not isinstance(kind.needs, tuple),
        tuple(_options(kind)),
    )


def option_types(kind: type[Evaluator]) -> dict[str, Any]:
    """Return the types of options with aliases resolved; nothing where they cannot be."""
    try:
        return typing.get_type_hints(kind)
    except (NameError, TypeError):
        return {}


def _needs(kind: type[Evaluator]) -> tuple[str, ...]:
    """Ask the class, or one built without options where it depends on these."""
    if isinstance(kind.needs, tuple):
        return kind.needs
    try:
        return tuple(kind().needs)
    except (TypeError, ValueError):
        return ()


def _options(kind: type[Evaluator]) -> Iterator[Option]:
    types = option_types(kind)
    documentation = _documentation(kind)
    if not dataclasses.is_dataclass(kind):
        return
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        required = default is dataclasses.MISSING
        yield Option(
            field.name,
            _type_text(types[field.name]) if field.name in types else str(field.type),
            required,
            None if required else default,
            documentation.get(field.name, ""),
        )


def _type_text(hint: Any) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(map(repr, typing.get_args(hint)))
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint.__name__
    parts = [part for part in typing.get_args(hint) if part is not type(None)]
    if len(parts) == 1 and type(None) in typing.get_args(hint):
        return f"{_type_text(parts[0])} | None"
    return _MODULES.sub("", str(hint))


def _documentation(kind: type[Evaluator]) -> dict[str, str]:
    """Find the string under each field, in the class and in those that it inherits from."""
    found: dict[str, str] = {}
    for each in kind.__mro__:
        if dataclasses.is_dataclass(each):
            found = {**_strings_under_fields(each), **found}
    return found


def _strings_under_fields(kind: type) -> dict[str, str]:
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):
        return {}
    [definition] = ast.parse(source).body
    body = getattr(definition, "body", [])
    return {
        field.target.id: " ".join(under.value.value.split())
        for field, under in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(under, ast.Expr)
        and isinstance(under.value, ast.Constant)
        and isinstance(under.value.value, str)
    }


def short_text(description: Description) -> str:
    """Word an evaluator in a few lines: name and needs, the question, options with defaults."""
    options = ", ".join(
        option.name if option.required else f"{option.name}={_brief(option.default) or '...'}"
        for option in description.options
    )
    return "\n".join([_heading(description), f"    {description.summary}", *_indented(options)])


def long_text(description: Description) -> str:
    """Word all there is to know about an evaluator."""
    parts = [_heading(description), description.summary]
    if description.documentation:
        parts.append(description.documentation)
    for option in description.options:
        brief = " (needed)" if option.required else f" = {_brief(option.default) or '...'}"
        lines = [f"{option.name}: {option.type}{brief}", *_indented(option.documentation)]
        if not option.required and not _brief(option.default):
            lines.append("    Unless given:")
            lines += _indented(str(option.default), depth=2)
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _heading(description: Description) -> str:
    also = f" (also {', '.join(description.aliases)})" if description.aliases else ""
    needs = f"  needs {', '.join(description.needs)}" if description.needs else ""
    unless = ", unless options say otherwise" if needs and description.needs_vary else ""
    return f"{description.name}{also}{needs}{unless}"


def _brief(value: Any) -> str:
    """Write a value as on the command line, where it is JSON; empty where that is long."""
    if isinstance(value, type):
        return value.__name__
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _BRIEF else ""


def _indented(text: str, depth: int = 1) -> list[str]:
    """Break text into lines of at most 94 characters behind four spaces for each depth."""
    indent = "    " * depth
    lines = [textwrap.wrap(line, 94 - len(indent)) or [""] for line in text.splitlines()]
    return [f"{indent}{line}".rstrip() for wrapped in lines for line in wrapped]
