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
_WIDTH: Final = 94


@dataclass(frozen=True)
class Option:
    """One option of an evaluator."""

    name: str
    type: str
    """The type, as written in Python."""
    required: bool
    default: Any
    documentation: str

    @property
    def default_text(self) -> str:
        """The default as on the command line; empty if this is long."""
        if isinstance(self.default, type):
            return self.default.__name__
        text = json.dumps(self.default, ensure_ascii=False, default=repr)
        return text if len(text) <= _LONGEST_DEFAULT else ""


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


def write_short(found: Description) -> str:
    """Write an evaluator in a few lines: name, needs, summary, and options with defaults."""
    options = ", ".join(
        each.name if each.required else f"{each.name}={each.default_text or '...'}"
        for each in found.options
    )
    return "\n".join([_write_heading(found), f"    {found.summary}", *_indent(options)])


def write_long(found: Description) -> str:
    """Write the full description of an evaluator."""
    parts = [_write_heading(found), found.summary, *filter(None, [found.documentation])]
    for option in found.options:
        default = option.default_text
        brief = " (needed)" if option.required else f" = {default or '...'}"
        lines = [f"{option.name}: {option.type}{brief}", *_indent(option.documentation)]
        if not option.required and not default:
            lines += ["    Unless given:", *_indent(str(option.default), "        ")]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _write_heading(found: Description) -> str:
    also = f" (also {', '.join(found.aliases)})" if found.aliases else ""
    needs = f"  needs {', '.join(found.needs)}" if found.needs else ""
    unless = ", unless options say otherwise" if needs and found.needs_vary else ""
    return f"{found.name}{also}{needs}{unless}"


def _indent(text: str, indent: str = "    ") -> list[str]:
    width = _WIDTH - len(indent)
    lines = [each for line in text.splitlines() for each in textwrap.wrap(line, width) or [""]]
    return [f"{indent}{line}".rstrip() for line in lines]
