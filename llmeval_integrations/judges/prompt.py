"""Prompts: messages with variables in two syntaxes, `{name}` and `{{name}}`, and their values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypeAlias

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

Path: TypeAlias = tuple[str, ...]
"""The place of a value: the name of a variable, then keys of mappings or numbers of items."""

Body: TypeAlias = list[str | Path]
"""The pieces of a template: texts, and the places of values."""

# A name begins with a letter and may have spaces and hyphens, as columns of tables do.
_NAME: Final = r"[^\W\d][\w -]*"
_PATH: Final = re.compile(rf"{_NAME}(?:\.\w[\w -]*)*")
_BRACES: Final = re.compile(rf"\{{\{{|\}}\}}|\{{ *({_NAME})([}}.\[!:])")
_TAG: Final = re.compile(r"\{\{(\{)?(?P<name>.*?)(?(1)\}\}\}|\}\})", re.DOTALL)
# A section or a comment is mustache, too, so that it is refused and not shown as text.
_DOUBLED: Final = re.compile(rf"\{{\{{\s*(?:[!>=][^{{}}]*|[#^/&]?\s*(?:{_PATH.pattern})\s*)\}}\}}")


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
            body.append((found[1].strip(),))
        elif not found[2]:
            body.append(found[0][:1] if has_escapes else found[0])
        elif found[2] == ":" and text[end : end + 1].isspace():
            body.append(found[0])
        else:
            hint = "a template only names its variables, and literal braces are doubled"
            raise _error(text, start, f"{text[start : start + 60]} is not a name; {hint}")
    return [*body, text[position:]]


def parse_mustache(text: str) -> Body:
    """Split a template at its tags, which are variables.

    Raises InvalidOptionError, with line and column, for a tag that is not closed, a section, a
    comment, a partial, a change of delimiters, and anything else that is not a name.
    """
    body: Body = []
    position = 0
    for found in _TAG.finditer(text):
        name = found["name"].strip().removeprefix("&").strip()
        if not _PATH.fullmatch(name):
            hint = "a tag only names its variable, and literal braces are single"
            raise _error(text, found.start(), f"{shorten(found[0], 60)} is not a name; {hint}")
        body += [text[position : found.start()], tuple(map(str.strip, name.split(".")))]
        position = found.end()
    if (start := text.find("{{", position)) >= 0:
        raise _error(text, start, f"{text[start : start + 20]} opens a tag that is not closed")
    return [*body, text[position:]]


def _error(text: str, offset: int, message: str) -> InvalidOptionError:
    """Return the error for a place in a template; lines and columns are counted from 1."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return InvalidOptionError(f"line {line}, column {column}: {message}")


def fill(body: Body, values: Mapping[str, Any]) -> str:
    """Write a template with its values; variables in values are not replaced.

    Raises MissingFieldError for a name without a value, InputError for a value that is neither
    text nor JSON.
    """
    return "".join(
        each if isinstance(each, str) else as_text(_find(each, values), ".".join(each))
        for each in body
    )


def _find(path: Path, values: Mapping[str, Any]) -> Any:
    """Look up a path, which reaches keys of mappings and items of lists, never an attribute."""
    found: Any = values
    for step in path:
        if isinstance(found, (list, tuple)):
            found = {str(number): item for number, item in enumerate(found)}
        found = found.get(step, MISSING) if isinstance(found, Mapping) else MISSING
    if found is MISSING:
        given = ", ".join([*map(quote, values)][:50]) or "none"
        hint = "a dot reaches keys and items, never an attribute; literal braces are doubled"
        name = quote(".".join(path))
        raise MissingFieldError(f"prompt: no value for {name}; given: {given}; {hint}")
    return found


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
    """The names, in the order in which they appear."""

    messages: tuple[Message, ...] = field(init=False, repr=False, compare=False)
    """The messages, with their variables unfilled."""

    _bodies: list[list[Body]] = field(init=False, repr=False, compare=False)

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
        has_tags = any(_DOUBLED.search(text) for message in messages for text in message.parts)
        parse = _PARSERS[self.template_format or ("mustache" if has_tags else "f-string")]
        bodies: list[list[Body]] = []
        for number, message in enumerate(messages, 1):
            try:
                bodies.append([*map(parse, message.parts)])
            except InvalidOptionError as error:
                raise InvalidOptionError(f"prompt: message {number}, {error}") from None
        pieces = (piece for parts in bodies for body in parts for piece in body)
        names = dict.fromkeys(path[0] for path in pieces if not isinstance(path, str))
        template = self.template if isinstance(self.template, str) else messages
        self.__dict__.update(
            template=template, variables=(*names,), messages=messages, _bodies=bodies
        )

    def render(self, variables: Mapping[str, Any]) -> list[Message]:
        """Return the messages with these values; variables that the template lacks are ignored.

        Raises MissingFieldError for a name that is not given, and InputError for a value that is
        neither text nor JSON.
        """
        if not isinstance(variables, Mapping):
            raise InputError(f"prompt: variables={quote(variables)} is not a mapping of names")
        given = {name: value for name, value in variables.items() if value is not MISSING}
        messages = []
        for message, bodies in zip(self.messages, self._bodies):
            texts = tuple(fill(body, given) for body in bodies)
            content = texts[0] if isinstance(message.content, str) else texts
            messages.append(Message(message.role, content))
        return messages
