"""What a template is made of, and which of the two syntaxes it is written in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from llmeval_integrations.core.errors import InvalidOptionError

Syntax = Literal["f-string", "mustache"]
SYNTAXES: Final[tuple[Syntax, ...]] = ("f-string", "mustache")


class Hole(NamedTuple):
    """Where a value goes."""

    path: tuple[str, ...]
    """The variable, and the steps that dots make inside it; empty for `{{.}}`."""

    @property
    def label(self) -> str:
        """The path as the template has it."""
        return ".".join(self.path) or "."


class Section(NamedTuple):
    """What is written once for each item, or only if there is a value, or only if there is none."""

    path: tuple[str, ...]
    """Where the items are."""

    inverted: bool
    """Whether it is written where the value is absent, false or empty."""

    body: tuple[str | Hole | Section, ...]
    """What is written."""


Body: TypeAlias = tuple["str | Hole | Section", ...]

# A name begins with a letter and may have the spaces and hyphens that columns of tables have.
NAME: Final = r"[^\W\d][\w -]*"
FIELD: Final = re.compile(rf"\{{ *({NAME})([}}.\[!:])")
"""A name in single braces, with the character that ends it."""

_PATH = re.compile(rf"{NAME}(?:\.\w[\w -]*)*")
_DOUBLED = re.compile(r"\{\{([^{}]*)\}\}")
_BROKEN_TAG = re.compile(rf"\s*{NAME}(?:[\[!|(]|:\S)")
_FORMAT = re.compile(r"(?:.?[<>=^])?[-+ ]?z?#?0?\d*[,_]?(?:\.\d+)?[bcdeEfFgGnosxX%]?\}", re.DOTALL)


def path_of(text: str) -> tuple[str, ...] | None:
    """Split names joined by dots; None where the text is anything else."""
    if not _PATH.fullmatch(text):
        return None
    return tuple(step.strip() for step in text.split("."))


def syntax_of(texts: Iterable[str]) -> Syntax:
    """Tell the syntax of a prompt by all its texts.

    It is mustache where doubled braces hold a tag, and f-string everywhere else: there doubled
    braces are literal ones. Where no name stands in single braces, something like `{{x[0]}}` is
    taken for a tag too, so that the mustache parser can say what is wrong with it.
    """
    texts = list(texts)
    if any(_is_tag(found[1]) for text in texts for found in _DOUBLED.finditer(text)):
        return "mustache"
    broken = any(_BROKEN_TAG.match(found[1]) for text in texts for found in _DOUBLED.finditer(text))
    single = any(True for text in texts for _ in fields(_DOUBLED.sub("\n", text)))
    return "mustache" if broken and not single else "f-string"


def _is_tag(content: str) -> bool:
    content = content.strip()
    if content[:1] in ("!", ">") or (content[:1] == "=" and content[1:].endswith("=")):
        return True
    if content[:1] in ("#", "^", "/", "&"):
        content = content[1:].strip()
    return content == "." or path_of(content) is not None


def fields(text: str) -> Iterator[re.Match[str]]:
    """Find what an f-string takes for a variable, well formed or not."""
    return (found for found in FIELD.finditer(text) if not is_prose(text, found))


def is_prose(text: str, found: re.Match[str]) -> bool:
    """Whether a name in single braces is followed by a colon as in `{label: "good"}`.

    So is a format specification, but that has no space behind the colon, or else nothing but
    what specifications consist of.
    """
    end = found.end()
    return found[2] == ":" and text[end : end + 1].isspace() and not _FORMAT.match(text, end)


def single_names(texts: Iterable[str]) -> tuple[str, ...]:
    """List the names in single braces that a mustache template has as plain text."""
    found = (field for text in texts for field in fields(_DOUBLED.sub("\n", text)))
    return tuple(dict.fromkeys(field[1].strip() for field in found))


def wrong_at(text: str, offset: int, message: str) -> InvalidOptionError:
    """Word the error for a place in a template, line and column counted from 1."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return InvalidOptionError(f"line {line}, column {column}: {message}")
