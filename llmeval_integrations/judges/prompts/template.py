"""Templates in two syntaxes, `{name}` and `{{name}}`, as texts with holes and sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import shorten

Syntax = Literal["f-string", "mustache"]
SYNTAXES: Final[tuple[Syntax, ...]] = ("f-string", "mustache")


class Hole(NamedTuple):
    """Where a value goes: its variable, and the steps that dots make inside it."""

    path: tuple[str, ...]


class Section(NamedTuple):
    """What is written for each item or true value, or (inverted) where there is none."""

    path: tuple[str, ...]
    inverted: bool
    body: Body


Body: TypeAlias = "list[str | Hole | Section]"

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
_PARTS: Final = {".": "an attribute", "[": "an index", "!": "a conversion", ":": "a format"}


def find_syntax(texts: Iterable[str]) -> Syntax:
    """Tell the syntax of a prompt by all its texts: mustache where doubled braces hold a tag."""
    tags = (found[1].strip() for text in texts for found in _DOUBLED.finditer(text))
    return "mustache" if any(map(_TAG.match, tags)) else "f-string"


def single_names(texts: Iterable[str]) -> list[str]:
    """List the names in single braces, which a mustache template has as plain text."""
    return [found[1].strip() for text in texts for found in _fields(_DOUBLED.sub("\n", text))]


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


def parse_f_string(text: str) -> Body:
    """Split a template at its variables.

    `{{` is a literal brace, and so is the `}}` that closes it; a `}}` that closes two single
    braces, as nested JSON ends, stays as it is. So does everything in single braces that is no
    name. Raises InvalidOptionError for a name with an attribute, index, conversion or format.
    """
    fields = {found.start(): found for found in _fields(text)}
    has_escapes = "{{" in text
    body: Body = []
    doubled: list[bool] = []  # of each literal brace that is open, whether it was doubled
    position = 0
    while brace := _BRACE.search(text, position):
        start, end = brace.span()
        body.append(text[position:start])
        position = end
        if brace[0] == "}":
            closes_doubled = doubled[-1] if doubled else has_escapes
            if not closes_doubled or text.startswith("}", end):
                del doubled[-1:]
                position += closes_doubled
            body.append("}")
        elif brace[0] == "{" and (field := fields.get(start)):
            name = field[1].strip()
            if field[2] != "}":
                raise _error(
                    text,
                    start,
                    f"{text[start : start + 60]} has a name with {_PARTS[field[2]]}; a template "
                    f"only names its variables: {{{name}}}, and literal braces are doubled: {{{{ "
                    "and }}",
                )
            body.append(Hole((name,)))
            position = field.end()
        else:
            if half := _HALF_CLOSED.match(text, start):
                raise _error(text, start, f"{half[0]} opens with two braces and closes with one")
            doubled.append(brace[0] == "{{")
            body.append("{")
    return [*body, text[position:]]


def parse_mustache(text: str) -> Body:
    """Split a template at its tags, as the Mustache specification has them, line ends included.

    Raises InvalidOptionError, with line and column, for a tag or section that is not closed, a
    partial, a change of delimiters, and what is not a name.
    """
    sections: list[tuple[int, Section]] = []
    root: Body = []
    body = root
    position = 0
    while (start := text.find("{{", position)) >= 0:
        kind, path, end = _read_tag(text, start)
        before, after = _edges(text, position, start, end) if kind else (start, end)
        body.append(text[position:before])
        position = after
        if kind in ("#", "^"):
            section = Section(path, kind == "^", [])
            sections.append((start, section))
            body.append(section)
            body = section.body
        elif kind == "/":
            if not sections or sections[-1][1].path != path:
                first = [f"; {_tag(text, at)} has to be closed first" for at, _ in sections[-1:]]
                raise _error(text, start, f"{_tag(text, start)} closes nothing{''.join(first)}")
            sections.pop()
            body = sections[-1][1].body if sections else root
        elif not kind:
            body.append(Hole(path))
    if sections:
        raise _error(text, sections[-1][0], f"{_tag(text, sections[-1][0])} is not closed")
    return [*root, text[position:]]


def _read_tag(text: str, start: int) -> tuple[str, tuple[str, ...], int]:
    """Return the kind of the tag at a place ("" for a variable), its path and its end."""
    close = text.find("}}", start + 2)
    if close < 0:
        raise _error(text, start, f"{text[start : start + 20]} opens a tag that is not closed")
    content, end = text[start + 2 : close].strip(), close + 2
    if content.startswith("{"):
        if not text.startswith("}", end):
            raise _error(text, start, f"{_tag(text, start)} is not closed by }}}}}}")
        content, end = content[1:], end + 1
    kind = content[:1] if content[:1] in ("#", "^", "/", "!", "&") else ""
    name = content[len(kind) :].strip()
    if kind == "!" or name == ".":
        return kind, (), end
    if not _PATH.fullmatch(name):
        raise _error(
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
    return shorten(text[start : text.find("}}", start) + 2], 60)


def _error(text: str, offset: int, message: str) -> InvalidOptionError:
    """Word the error for a place in a template, line and column counted from 1."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return InvalidOptionError(f"line {line}, column {column}: {message}")
