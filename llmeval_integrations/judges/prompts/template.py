"""Templates in two syntaxes, `{name}` and `{{name}}`, as texts with holes and sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from llmeval_integrations.core.errors import InvalidOptionError

Syntax = Literal["f-string", "mustache"]
SYNTAXES: Final[tuple[Syntax, ...]] = ("f-string", "mustache")


class Hole(NamedTuple):
    """Where a value goes: its variable, and the steps that dots make inside it."""

    path: tuple[str, ...]


class Section(NamedTuple):
    """What is written for each item or true value, or (inverted) where there is none."""

    path: tuple[str, ...]
    inverted: bool
    body: tuple[str | Hole | Section, ...]


Body: TypeAlias = tuple["str | Hole | Section", ...]

# A name begins with a letter and may have the spaces and hyphens that columns of tables have.
_NAME: Final = r"[^\W\d][\w -]*"
_FIELD: Final = re.compile(rf"\{{ *({_NAME})([}}.\[!:])")
_PATH: Final = re.compile(rf"{_NAME}(?:\.\w[\w -]*)*")
_TAG: Final = re.compile(rf"[!>]|=.*=\Z|[#^/&]?\s*(?:\.|{_PATH.pattern})\Z")
_DOUBLED: Final = re.compile(r"\{\{([^{}]*)\}\}")
_FORMAT: Final = re.compile(
    r"(?:.?[<>=^])?[-+ ]?z?#?0?\d*[,_]?(?:\.\d+)?[bcdeEfFgGnosxX%]?\}", re.DOTALL
)
_BRACE: Final = re.compile(r"\{\{|\{|\}")
_HALF_CLOSED: Final = re.compile(rf"\{{\{{ *{_NAME}\}}(?!\}})")
_LINE_END: Final = re.compile(r"[^\S\n]*(?:\n|\Z)")
_SHOWN: Final = 60
"""Characters of a template that a message shows."""


def find_syntax(texts: Iterable[str]) -> Syntax:
    """Tell the syntax of a prompt by all its texts: mustache where doubled braces hold a tag."""
    tags = (found[1].strip() for text in texts for found in _DOUBLED.finditer(text))
    return "mustache" if any(map(_TAG.match, tags)) else "f-string"


def single_names(texts: Iterable[str]) -> tuple[str, ...]:
    """List the names in single braces, which a mustache template has as plain text."""
    found = (field for text in texts for field in _fields(_DOUBLED.sub("\n", text)))
    return tuple(dict.fromkeys(field[1].strip() for field in found))


def parse_f_string(text: str) -> Body:
    """Split a template at its variables.

    `{{` is a literal brace, and so is the `}}` that closes it; a `}}` that closes two single
    braces, as nested JSON ends, stays as it is. So does everything in single braces that is no
    name. Raises InvalidOptionError for a name with an attribute, index, conversion or format.
    """
    fields = {found.start(): found for found in _fields(text)}
    escapes = "{{" in text
    pieces: list[str | Hole | Section] = []
    doubled: list[bool] = []  # of each literal brace that is open, whether it was doubled
    position = 0
    while brace := _BRACE.search(text, position):
        start, end = brace.span()
        pieces.append(text[position:start])
        position = end
        if brace[0] == "}":
            closes_doubled = doubled[-1] if doubled else escapes
            if not closes_doubled or text.startswith("}", end):
                del doubled[-1:]
                position += 1 if closes_doubled else 0
            pieces.append("}")
        elif brace[0] == "{" and (field := fields.get(start)):
            if field[2] != "}":
                raise _field_error(text, field)
            pieces.append(Hole((field[1].strip(),)))
            position = field.end()
        else:
            if half := _HALF_CLOSED.match(text, start):
                raise _error_at(text, start, f"{half[0]} opens with two braces and closes with one")
            doubled.append(brace[0] == "{{")
            pieces.append("{")
    return _join([*pieces, text[position:]])


def _fields(text: str) -> Iterator[re.Match[str]]:
    """Yield what an f-string takes for a variable, well formed or not.

    A colon as in `{label: "good"}` makes it prose. A format specification has one, too, but no
    space behind it, or nothing else than what specifications consist of.
    """
    for found in _FIELD.finditer(text):
        end = found.end()
        is_prose = found[2] == ":" and text[end : end + 1].isspace()
        if not is_prose or _FORMAT.match(text, end):
            yield found


def _field_error(text: str, field: re.Match[str]) -> InvalidOptionError:
    what = {".": "an attribute", "[": "an index", "!": "a conversion", ":": "a format"}[field[2]]
    name = field[1].strip()
    return _error_at(
        text,
        field.start(),
        f"{text[field.start() : field.start() + _SHOWN]} has a name with {what}; a template only "
        f"names its variables: {{{name}}}, and literal braces are doubled: {{{{ and }}}}",
    )


def parse_mustache(text: str) -> Body:
    """Split a template at its tags, as the Mustache specification has them, line ends included.

    Raises InvalidOptionError, with line and column, for a tag or section that is not closed, a
    partial, a change of delimiters, and what is not a name.
    """
    opened: list[tuple[int, str, tuple[str, ...], list[str | Hole | Section]]] = []
    body: list[str | Hole | Section] = []
    position = 0
    while (start := text.find("{{", position)) >= 0:
        kind, path, end = _read_tag(text, start)
        before, after = _edges(text, position, start, end) if kind else (start, end)
        body.append(text[position:before])
        position = after
        if kind in ("#", "^"):
            opened.append((start, kind, path, body))
            body = []
        elif kind == "/":
            if not opened or opened[-1][2] != path:
                what = f"{_tag(text, opened[-1][0])} has to be closed first" if opened else ""
                raise _error_at(
                    text, start, f"{_tag(text, start)} closes nothing; {what}".rstrip("; ")
                )
            _, opening, _, around = opened.pop()
            around.append(Section(path, opening == "^", _join(body)))
            body = around
        elif not kind:
            body.append(Hole(path))
    if opened:
        raise _error_at(text, opened[-1][0], f"{_tag(text, opened[-1][0])} is not closed")
    return _join([*body, text[position:]])


def _read_tag(text: str, start: int) -> tuple[str, tuple[str, ...], int]:
    """Return the kind of the tag at a place ("" for a variable), its path and its end."""
    close = text.find("}}", start + 2)
    if close < 0:
        raise _error_at(text, start, f"{text[start : start + 20]} opens a tag that is not closed")
    content, end = text[start + 2 : close].strip(), close + 2
    if content.startswith("{"):
        if not text.startswith("}", end):
            raise _error_at(text, start, f"{_tag(text, start)} is not closed by }}}}}}")
        content, end = content[1:], end + 1
    kind = content[:1] if content[:1] in ("#", "^", "/", "!", "&") else ""
    name = content[len(kind) :].strip()
    if kind == "!" or name == ".":
        return kind, (), end
    if not _PATH.fullmatch(name):
        raise _error_at(
            text,
            start,
            f"{_tag(text, start)} holds no name: write {{{{name}}}}, with dots to walk mappings "
            "and lists, as {{name.0}}; there are no partials and no other delimiters, and braces "
            "that are meant literally stand single",
        )
    return kind.replace("&", ""), tuple(step.strip() for step in name.split(".")), end


def _edges(text: str, position: int, start: int, end: int) -> tuple[int, int]:
    """Return where the text before a tag ends and where the text behind it begins.

    A section's tag or a comment that has a line for itself takes the whole line with it.
    """
    line = text.rfind("\n", 0, start) + 1
    line_end = _LINE_END.match(text, end)
    if line_end and line >= position and not text[line:start].strip():
        return line, line_end.end()
    return start, end


def _tag(text: str, start: int) -> str:
    """Show a tag in a message."""
    tag = text[start : text.find("}}", start) + 2]
    return tag if len(tag) <= _SHOWN else f"{tag[:_SHOWN]}..."


def _join(body: list[str | Hole | Section]) -> Body:
    """Return a body whose texts are as long as they can be."""
    joined: list[str | Hole | Section] = []
    for node in body:
        if isinstance(node, str) and joined and isinstance(joined[-1], str):
            joined[-1] += node
        elif node != "":
            joined.append(node)
    return tuple(joined)


def _error_at(text: str, offset: int, message: str) -> InvalidOptionError:
    """Word the error for a place in a template, line and column counted from 1."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return InvalidOptionError(f"line {line}, column {column}: {message}")
