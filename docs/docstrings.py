"""Docstrings as reStructuredText, from modules and from files that cannot be imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from textwrap import dedent, indent
from typing import Any

from sphinx.application import Sphinx


def written(source: ast.Module) -> Iterator[str]:
    """Yield the public classes and functions of a file that cannot be imported."""
    for thing in source.body:
        if not isinstance(thing, (ast.ClassDef, ast.FunctionDef)) or thing.name.startswith("_"):
            continue
        made = [each for each in ast.walk(thing) if getattr(each, "name", None) == "__init__"]
        kind = "class" if isinstance(thing, ast.ClassDef) else "function"
        texts = [documentation(each) for each in (thing, *made)]
        arguments = "".join(
            ast.unparse(each.args).removeprefix("self, ")
            for each in made or [thing]
            if isinstance(each, ast.FunctionDef)
        )
        body = indent("\n\n".join(texts), "   ")
        yield f".. py:{kind}:: {thing.name}({arguments})\n\n{body}"


def documentation(thing: Any) -> str:
    """Return a docstring as reStructuredText; its arguments are a list without a heading."""
    text = ast.get_docstring(thing) or ""
    listed = re.sub(
        r"^Args:\n((?: {4}.*\n?)+)", lambda found: dedent(found[1]), text, flags=re.MULTILINE
    )
    return restructured(listed)


def as_restructured_text(
    _app: Sphinx, what: str, _name: str, _thing: Any, _options: Any, lines: list[str]
) -> None:
    """Convert a docstring in place for autodoc."""
    text = "\n".join(lines)
    if what == "attribute":  # Napoleon takes what is before a colon for the type
        text = re.sub(r"\A(.*)\n\n:type: (.*)\Z", r"\2: \1", text.strip(), flags=re.DOTALL)
    lines[:] = restructured(text).split("\n")


def restructured(docstring: str) -> str:
    """Convert parameters, code in back-ticks and indented code to reStructuredText."""
    text = re.sub(r"^([a-z_]+(?:, [a-z_]+)*): ", r"`\1`\n    ", docstring, flags=re.MULTILINE)
    parts = re.split(r"(`[^`]+`|(?<=\n\n) {4}.*(?:\n+ {4}.*)*)", text)
    for place, part in enumerate(parts):
        if part.startswith("`"):
            parts[place] = f"`{part}`"
        elif part.startswith("    "):
            parts[place] = f".. code-block:: python\n\n{part}"
        else:
            parts[place] = re.sub(r"([*|\\]|_\b)", r"\\\1", part)
    return "".join(parts)
