"""Prompts: messages with variables in two syntaxes, `{name}` and `{{name}}`, and their values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

import msgspec

from llmeval_integrations.core.errors import InputError, InvalidOptionError, MissingFieldError
from llmeval_integrations.core.options import option_error
from llmeval_integrations.core.quote import quote, shorten
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.parse import dump_model
from llmeval_integrations.llm.messages import Message, as_messages
from llmeval_integrations.messages.read import find_messages, read_answer
from llmeval_integrations.messages.reply import library_of

Syntax = Literal["f-string", "mustache"]


_BOOKKEEPING: Final = ("id", "response_metadata", "usage_metadata")
"""The members of a library's message that tell a judge nothing."""


class Tag(NamedTuple):
    """The place of a value: a variable (the item of a section has no name), then its keys.

    A section (`#`) is written for each item or true value, an inverted one (`^`) if there is none.
    """

    path: tuple[str, ...]
    kind: str = ""
    body: Body = []  # noqa: RUF012 - a tuple has no mutable defaults


Body: TypeAlias = "list[str | Tag]"

# A name begins with a letter and may have spaces and hyphens, as columns of tables do.
_NAME: Final = r"[^\W\d][\w -]*"
_PATH: Final = re.compile(rf"\.|{_NAME}(?:\.\w[\w -]*)*")
_BRACES: Final = re.compile(rf"\{{\{{|\}}\}}|\{{ *({_NAME})([}}.\[!:])")
_DOUBLED: Final = re.compile(rf"\{{\{{\s*(?:[!>=][^{{}}]*|[#^/&]?\s*(?:{_PATH.pattern})\s*)\}}\}}")
_MUSTACHE: Final = re.compile(
    # A section's tag or a comment that is alone on a line takes the whole line with it.
    r"(?P<line>^[^\S\n]*(?=\{\{\s*[#^/!](?:(?!\}\}).)*\}\}[^\S\n]*(?:\n|\Z)))?"
    r"(?P<tag>\{\{(?P<raw>\{)?\s*(?P<kind>[#^/!&]?)\s*(?P<name>.*?)\s*(?(raw)\}\}\}|\}\}))"
    r"(?(line)[^\S\n]*(?:\n|\Z))",
    re.DOTALL | re.MULTILINE,
)


def parse_f_string(text: str) -> Body:
    """Split a template at its variables.

    Doubled braces are literal if the template opens any; otherwise they belong to JSON. Other
    single braces are text. Raises InvalidOptionError for a name with an attribute, index,
    conversion or format; `{label: "good"}` is text.
    """
    has_escapes = "{{" in text
    body: Body = []
    position = 0
    for found in _BRACES.finditer(text):
        start, end = found.span()
        body.append(text[position:start])
        position = end
        if found[2] == "}":
            body.append(Tag((found[1].strip(),)))
        elif not found[2]:
            body.append(found[0][:1] if has_escapes else found[0])
        elif found[2] == ":" and text[end : end + 1].isspace():
            body.append(found[0])
        else:
            hint = "a template only names its variables, and literal braces are doubled"
            raise _error(text, start, f"{text[start : start + 60]} is not a name; {hint}")
    return [*body, text[position:]]


def parse_mustache(text: str) -> Body:
    """Split a template at its tags, as the Mustache specification defines, line ends included.

    Raises InvalidOptionError, with line and column, for a tag or section that is not closed, a
    partial, a change of delimiters, and anything that is not a name.
    """
    bodies: list[Body] = [[]]
    sections: list[tuple[int, Tag]] = []
    position = 0
    for found in _MUSTACHE.finditer(text):
        start, tag, kind, name = found.start("tag"), *found.group("tag", "kind", "name")
        if kind != "!" and not _PATH.fullmatch(name):
            hint = "there are no partials and no other delimiters, and literal braces are single"
            raise _error(text, start, f"{shorten(tag, 60)} holds no name; {hint}")
        path = ("",) if name == "." else tuple(step.strip() for step in name.split("."))
        bodies[-1].append(text[position : found.start()])
        position = found.end()
        if kind == "/":
            if not sections or sections.pop()[1].path != path:
                raise _error(text, start, f"{tag} does not close the last section")
            bodies.pop()
        elif kind in ("#", "^"):
            section = Tag(path, kind, [])
            bodies[-1].append(section)
            bodies.append(section.body)
            sections.append((start, section))
        elif kind != "!":
            bodies[-1].append(Tag(path))
    if (start := text.find("{{", position)) >= 0:
        raise _error(text, start, f"{text[start : start + 20]} opens a tag that is not closed")
    if sections:
        start, section = sections[-1]
        raise _error(text, start, f"the section {'.'.join(section.path)} is not closed")
    return [*bodies[0], text[position:]]


def _error(text: str, offset: int, message: str) -> InvalidOptionError:
    """Return the error for a place in a template; lines and columns are counted from 1."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return InvalidOptionError(f"line {line}, column {column}: {message}")


def fill(body: Body, values: Mapping[Any, Any]) -> str:
    """Write a template with its values; variables in values are not replaced.

    Raises MissingFieldError for a name without a value, InputError for a value that is neither
    text nor JSON.
    """
    pieces: list[str] = []
    for node in body:
        if isinstance(node, str):
            pieces.append(node)
            continue
        value = _find(node.path, values)
        if not node.kind:
            name = ".".join(node.path) or "."
            if value is MISSING:
                raise make_value_error(name, values)
            pieces.append(as_text(value, name))
            continue
        if hasattr(type(value), "tolist"):  # arrays of numbers, and columns
            value = value.tolist()
        items = value if isinstance(value, (list, tuple)) else [value] if value else []
        if node.kind == "^":
            pieces += [] if items else [fill(node.body, values)]
        for item in items if node.kind == "#" else ():
            inner = item if isinstance(item, Mapping) else {}
            pieces.append(fill(node.body, {**values, **inner, "": item}))
    return "".join(pieces)


def _find(path: tuple[str, ...], values: Any) -> Any:
    """Look up a path; it reaches only the keys of mappings and the items of lists, else MISSING."""
    for step in path:
        if isinstance(values, (list, tuple)):
            values = {str(number): item for number, item in enumerate(values)}
        values = values.get(step, MISSING) if isinstance(values, Mapping) else MISSING
    return values


def make_value_error(name: str, values: Mapping[Any, Any]) -> MissingFieldError:
    """Return the error for a name that has no value."""
    given = ", ".join([quote(key) for key in values if key != ""][:50]) or "none"
    hint = "a dot reaches keys and items, never an attribute; literal braces are doubled"
    return MissingFieldError(f"prompt: no value for {quote(name)}; given: {given}; {hint}")


def as_text(value: Any, name: str) -> str:
    """Write a value: a text as it is, everything else as JSON with its characters unescaped.

    Raises InputError, which names the type, for anything else, including NaN and infinity.
    """
    if not isinstance(value, (str, Mapping, list, tuple, Iterator)):
        found = find_messages(value)  # one message, or a response
        value = _text_of_document(value) if found is None else read_answer(found).value
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


def _text_of_document(value: Any) -> Any:
    """Return the text of a document of LangChain or LlamaIndex; any other value as it is."""
    if library_of(value) == "langchain_core":
        return getattr(value, "page_content", value)
    is_node = library_of(value) == "llama_index" and hasattr(value, "get_content")
    return value.get_content() if is_node else value


def _plain(value: Any) -> Any:
    """Return a value that msgspec does not know, one step nearer to JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    if (text := _text_of_document(value)) is not value:
        return text
    if hasattr(type(value), "model_dump"):
        members = dump_model(value)
        if library_of(value) is None:
            return members
        # of a message, since random ids would make each prompt another one
        return {name: each for name, each in members.items() if each and name not in _BOOKKEEPING}
    if hasattr(type(value), "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")


_PARSERS = {"f-string": parse_f_string, "mustache": parse_mustache}


@dataclass(frozen=True)
class Prompt:
    """Messages with variables.

    A template is a text, which becomes a message of the user, or a list of messages: mappings with
    `role` (system, user or assistant) and `content`, a text or a list of parts
    `{"type": "text", "text": ...}`. Variables are written `{name}` or, in mustache, `{{name}}`.
    Variables in values are not replaced; a value that is not text is written as JSON.

    Raises InvalidOptionError, with line and column, for a template with a mistake.
    """

    name: ClassVar[str] = "prompt"
    """The name in messages."""

    template: str | Sequence[Message | Mapping[str, Any]] | Prompt
    """The text, the messages, or another prompt; messages are kept as a tuple of `Message`."""

    template_format: Syntax | None = None
    """Either "f-string" or "mustache"; None means mustache if doubled braces hold a tag."""

    variables: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The required names, in the order in which they appear.

    Names inside a section are not among them: whether they are needed depends on its value.
    """

    messages: tuple[Message, ...] = field(init=False, repr=False, compare=False)
    """The messages, with their variables unfilled."""

    _bodies: list[list[Body]] = field(init=False, repr=False, compare=False)

    _names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """All names, also those inside sections."""

    def __post_init__(self) -> None:
        if isinstance(self.template, Prompt):
            if self.template_format is not None:
                raise option_error(self, "template_format", "None, as the prompt is built already")
            self.__dict__.update(vars(self.template))
            return
        if self.template_format not in (None, *_PARSERS):
            raise option_error(self, "template_format", "'f-string', 'mustache' or None")
        messages = as_messages(self.template, "prompt: template")
        if any(message.images for message in messages):
            raise option_error(self, "template", "without images, which belong to the sample")
        texts = (text for message in messages for text in message.parts)
        syntax: Syntax = "mustache" if any(map(_DOUBLED.search, texts)) else "f-string"
        parse = _PARSERS[self.template_format or syntax]
        bodies: list[list[Body]] = []
        for number, message in enumerate(messages, 1):
            try:
                bodies.append([*map(parse, message.parts)])
            except InvalidOptionError as error:
                raise InvalidOptionError(f"prompt: message {number}, {error}") from None
        tags = (tag for parts in bodies for body in parts for tag in body)
        names = {tag.path[0]: None for tag in tags if not isinstance(tag, str) and tag.path[0]}
        template = self.template if isinstance(self.template, str) else messages
        every = dict.fromkeys(_names(body for parts in bodies for body in parts))
        self.__dict__.update(
            template=template,
            variables=(*names,),
            messages=messages,
            _bodies=bodies,
            _names=(*every,),
        )

    def show(self, variables: Mapping[str, Any]) -> list[str]:
        """Return the texts that the messages may show: the values, and the template's own."""
        values = [as_text(variables[name], name) for name in self._names if name in variables]
        return [*filter(None, values), *(message.text for message in self.messages)]

    def render(self, variables: Mapping[str, Any]) -> list[Message]:
        """Return the messages with these values; variables that the template lacks are ignored.

        Raises MissingFieldError for a name that is not given, and InputError for a value that is
        neither text nor JSON.
        """
        if not isinstance(variables, Mapping):
            raise InputError(f"prompt: variables={quote(variables)} is not a mapping of names")
        given = {name: value for name, value in variables.items() if value is not MISSING}
        for name in self.variables:
            if name not in given:
                raise make_value_error(name, given)
        return [
            Message(message.role, texts[0] if isinstance(message.content, str) else texts)
            for message, bodies in zip(self.messages, self._bodies)
            for texts in [tuple(fill(body, given) for body in bodies)]
        ]


def _names(bodies: Iterable[Body]) -> Iterator[str]:
    """Yield the names in templates, also those inside sections."""
    for body in bodies:
        for tag in body:
            if not isinstance(tag, str):
                yield tag.path[0]
                yield from _names([tag.body])
