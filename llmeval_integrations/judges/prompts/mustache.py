"""Templates with `{{name}}`, sections and dots."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.judges.prompts.template import Body, Hole, Section, path_of, wrong_at

MAX_DEPTH: Final = 100
"""The most sections that may be open at one place."""

_MOST: Final = 60  # characters of a tag that a message shows
_LINE_END = re.compile(r"[^\S\n]*(?:\n|\Z)")


class _Tag(NamedTuple):
    kind: str  # "#", "^", "/", "!", or "" for a variable
    path: tuple[str, ...]
    start: int
    end: int


class _Open(NamedTuple):
    tag: _Tag
    around: list[str | Hole | Section]


def parse_mustache(text: str) -> Body:
    """Split a template at its tags, as the Mustache specification has them, line ends included.

    Raises InvalidOptionError, with line and column, for a tag or section that is not closed, a
    partial, a change of delimiters, more than MAX_DEPTH nested sections, and what is not a name.
    """
    body: list[str | Hole | Section] = []
    opened: list[_Open] = []
    position = 0
    while (start := text.find("{{", position)) >= 0:
        tag = _tag_at(text, start)
        if tag.kind in ("#", "^", "") and not tag.path and not _within_items(opened):
            raise wrong_at(text, start, "{{.}} is the item of a section, and stands in none")
        before, after = _edges(text, position, tag)
        body.append(text[position:before])
        position = after
        if tag.kind in ("#", "^"):
            if len(opened) == MAX_DEPTH:
                raise wrong_at(text, start, f"more than {MAX_DEPTH} sections are open here")
            opened.append(_Open(tag, body))
            body = []
        elif tag.kind == "/":
            section = _closed(text, opened, tag)
            section.around.append(Section(tag.path, section.tag.kind == "^", _packed(body)))
            body = section.around
        elif tag.kind == "":
            body.append(Hole(tag.path))
    if opened:
        tag = opened[-1].tag
        raise wrong_at(text, tag.start, f"{_written(text, tag.start, tag.end)} is not closed")
    return _packed([*body, text[position:]])


def _packed(body: list[str | Hole | Section]) -> Body:
    return tuple(node for node in body if node != "")


def _within_items(opened: list[_Open]) -> bool:
    return any(section.tag.kind == "#" for section in opened)


def _written(text: str, start: int, end: int) -> str:
    """Show a tag in a message."""
    return text[start:end] if end - start <= _MOST else f"{text[start : start + _MOST]}..."


def _closed(text: str, opened: list[_Open], tag: _Tag) -> _Open:
    """Take off the section that a closing tag closes."""
    written = _written(text, tag.start, tag.end)
    if not opened:
        raise wrong_at(text, tag.start, f"{written} closes nothing")
    section = opened.pop()
    if section.tag.path != tag.path:
        inner = _written(text, section.tag.start, section.tag.end)
        raise wrong_at(text, tag.start, f"{written} stands where {inner} has to be closed first")
    return section


def _edges(text: str, position: int, tag: _Tag) -> tuple[int, int]:
    """Return where the text before a tag ends and where the text after it begins.

    A section's tag or a comment that has a line for itself takes the whole line with it.
    """
    line_start = text.rfind("\n", position, tag.start) + 1
    begins_line = line_start > 0 or position == 0 or text[position - 1] == "\n"
    line_start = max(line_start, position)
    line_end = _LINE_END.match(text, tag.end)
    if tag.kind and begins_line and line_end and not text[line_start : tag.start].strip():
        return line_start, line_end.end()
    return tag.start, tag.end


def _tag_at(text: str, start: int) -> _Tag:
    """Read the tag whose braces open at `start`."""
    close = text.find("}}", start + 2)
    if close < 0:
        raise wrong_at(
            text, start, f"{_written(text, start, start + 20)} opens a tag that is not closed"
        )
    content, end = text[start + 2 : close].strip(), close + 2
    if content.startswith("{"):
        if not text.startswith("}", end):
            raise wrong_at(text, start, f"{_written(text, start, end)} is not closed by }}}}}}")
        content, end = content[1:], end + 1
    kind = content[:1] if content[:1] in ("#", "^", "/", "!", "&") else ""
    if kind == "!":
        return _Tag(kind, (), start, end)
    name = content[len(kind) :].strip()
    path = () if name == "." else path_of(name)
    if path is None:
        raise _no_tag(text, start, end)
    return _Tag(kind.replace("&", ""), path, start, end)


def _no_tag(text: str, start: int, end: int) -> InvalidOptionError:
    content = text[start + 2 : start + 2 + _MOST].strip()
    if content.startswith(">"):
        reason = "is a partial: a prompt reads no file and no other template"
    elif content.startswith("="):
        reason = "changes the delimiters, which stay {{ and }} here"
    else:
        reason = (
            "holds no name: write {{name}}, with dots to walk mappings and lists, as {{name.0}}; "
            "braces that are meant literally stand single in a mustache template"
        )
    return wrong_at(text, start, f"{_written(text, start, end)} {reason}")
