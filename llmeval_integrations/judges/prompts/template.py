"""Templates in two syntaxes, `{name}` and `{{name}}`: texts with holes and sections, and values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from llmeval_integrations.core.errors import InputError, InvalidOptionError, MissingFieldError
from llmeval_integrations.core.quote import quote, shorten
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.python_values import dump_model
from llmeval_integrations.messages.read import find_messages

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
_PATH: Final = re.compile(rf"\.|{_NAME}(?:\.\w[\w -]*)*")
_MUSTACHE: Final = re.compile(
    r"\{\{(\{)?\s*(?P<kind>[#^/!&]?)\s*(?P<name>.*?)\s*(?(1)\}\}\}|\}\})", re.DOTALL
)
_TAG: Final = re.compile(rf"[!>]|=.*=\Z|[#^/&]?\s*(?:{_PATH.pattern})\Z")
_DOUBLED: Final = re.compile(r"\{\{([^{}]*)\}\}")
_HALF_CLOSED: Final = re.compile(rf"(?<!\{{)\{{\{{ *{_NAME}\}}(?!\}})")
_BRACES: Final = re.compile(rf"\{{\{{|\}}\}}|{_FIELD.pattern}")
_LINE_END: Final = re.compile(r"[^\S\n]*(?:\n|\Z)")


def find_syntax(texts: Iterable[str]) -> Syntax:
    """Tell the syntax of a prompt by all its texts: mustache where doubled braces hold a tag."""
    tags = (found[1].strip() for text in texts for found in _DOUBLED.finditer(text))
    return "mustache" if any(map(_TAG.match, tags)) else "f-string"


def single_names(texts: Iterable[str]) -> list[str]:
    """List the names in single braces, which a mustache template has as plain text."""
    found = (each for text in texts for each in _FIELD.finditer(_DOUBLED.sub("\n", text)))
    return [each[1].strip() for each in found if each[2] == "}"]


def parse_f_string(text: str) -> Body:
    """Split a template at its variables.

    Doubled braces are literal ones if the template opens any, else they are JSON's, and everything
    in single braces that is no name is text. Raises InvalidOptionError for a name with an
    attribute, index, conversion or format; `{label: "good"}` is text.
    """
    if half := _HALF_CLOSED.search(text):
        raise _error(text, half.start(), f"{half[0]} opens with two braces and closes with one")
    has_escapes = "{{" in text
    body: Body = []
    position = 0
    for found in _BRACES.finditer(text):
        start, end = found.span()
        body.append(text[position:start])
        position = end
        if found[2] == "}":
            body.append(Hole((found[1].strip(),)))
        elif not found[2]:
            body.append(found[0][:1] if has_escapes else found[0])
        elif found[2] == ":" and text[end : end + 1].isspace():
            body.append(found[0])
        else:
            hint = "a template only names its variables, and literal braces are doubled"
            raise _error(text, start, f"{text[start : start + 60]} is no name; {hint}")
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
        tag = _MUSTACHE.match(text, start)
        if not tag:
            raise _error(text, start, f"{text[start : start + 20]} opens a tag that is not closed")
        kind, name = tag["kind"].replace("&", ""), tag["name"]
        if kind != "!" and not _PATH.fullmatch(name):
            hint = "there are no partials and no other delimiters, and literal braces stand single"
            raise _error(text, start, f"{shorten(tag[0], 60)} holds no name; {hint}")
        path = tuple(step.strip() for step in name.split(".")) if name != "." else ()
        before, after = _edges(text, position, start, tag.end()) if kind else tag.span()
        body.append(text[position:before])
        position = after
        if kind in ("#", "^"):
            section = Section(path, kind == "^", [])
            sections.append((start, section))
            body.append(section)
            body = section.body
        elif kind == "/":
            if not sections or sections[-1][1].path != path:
                raise _error(text, start, f"{tag[0]} does not close the last section")
            sections.pop()
            body = sections[-1][1].body if sections else root
        elif not kind:
            body.append(Hole(path))
    if sections:
        start, section = sections[-1]
        raise _error(text, start, f"the section {'.'.join(section.path)} is not closed")
    return [*root, text[position:]]


def _edges(text: str, position: int, start: int, end: int) -> tuple[int, int]:
    """Return where the text before a tag ends and where the text behind it begins.

    A section's tag or a comment that has a line for itself takes the whole line with it.
    """
    line = text.rfind("\n", 0, start) + 1
    line_end = _LINE_END.match(text, end)
    if line_end and line >= position and not text[line:start].strip():
        return line, line_end.end()
    return start, end


def _error(text: str, offset: int, message: str) -> InvalidOptionError:
    """Word the error for a place in a template, line and column counted from 1."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return InvalidOptionError(f"line {line}, column {column}: {message}")


def fill(body: Body, scopes: Sequence[Any]) -> str:
    """Write a template with its values, which are not looked into for variables of their own.

    Raises MissingFieldError for a name without a value, InputError for a value that is neither
    text nor JSON.
    """
    pieces: list[str] = []
    for node in body:
        if isinstance(node, str):
            pieces.append(node)
            continue
        value, name = _find(node.path, scopes), ".".join(node.path) or "."
        if isinstance(node, Section):
            items = _items(value)
            if node.inverted:
                items = [] if items else [scopes[-1]]
            pieces += [fill(node.body, (*scopes, item)) for item in items]
        elif value is MISSING:
            raise word_missing([name], scopes)
        else:
            pieces.append(as_text(value, name))
    return "".join(pieces)


def _find(path: tuple[str, ...], scopes: Sequence[Any]) -> Any:
    """Look a path up, its first name in the innermost scope that has it; MISSING if it is nowhere.

    Only what a mapping holds under a key, and a list under a number, is ever looked at.
    """
    if not path:
        return scopes[-1] if len(scopes) > 1 else MISSING  # {{.}} is the item of a section
    value = next((s for s in reversed(scopes) if isinstance(s, Mapping) and path[0] in s), None)
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step, MISSING)
        elif isinstance(value, (list, tuple)):
            value = dict(zip(map(str, range(len(value))), value)).get(step, MISSING)
        else:
            return MISSING
    return value


def word_missing(names: Sequence[str], scopes: Sequence[Any]) -> MissingFieldError:
    """Word the error for names that have no value."""
    keys = dict.fromkeys(key for scope in scopes if isinstance(scope, Mapping) for key in scope)
    given = ", ".join(map(quote, [*keys][:50])) or "none"
    hint = f"to say {{{names[0]}}} as it stands, double its braces"
    if "." in names[0]:
        hint = "a dot walks mappings by key and lists by number, and never reaches an attribute"
    return MissingFieldError(
        f"prompt: no value for {', '.join(map(quote, names))}; given: {given}; {hint}"
    )


def _items(value: Any) -> Sequence[Any]:
    """Return what a section is written for: each item of a list, any other true value once."""
    if hasattr(type(value), "tolist"):  # arrays of numbers, and columns
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return value
    return (value,) if value and value is not MISSING else ()


def as_text(value: Any, name: str) -> str:
    """Write a value: text as it is, everything else as JSON with its characters unescaped.

    Raises InputError, which names the type, for what is neither, NaN and infinity among it.
    """
    if not isinstance(value, (str, Mapping, list, tuple, Iterator)):
        found = find_messages(value)  # one message, or a response
        value = value if found is None else found.reply.text
    if isinstance(value, str):
        return str.__str__(value)  # of an enum's member, its value
    try:
        plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_plain)
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)
    except Exception as error:
        raise InputError(
            f"prompt: the value of {quote(name)}, of type {type(value).__name__}, is neither "
            f"text nor JSON: {str(error)[:200]}"
        ) from error


def _plain(value: Any) -> Any:
    """Return a value that msgspec does not know, one step nearer to JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(type(value), "model_dump"):
        return dump_model(value)
    if hasattr(type(value), "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")
