"""What a judge says to a model, with places for what it judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.options import option_error
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.judges.prompts.template import (
    Body,
    Syntax,
    fill,
    find_syntax,
    missing_error,
    parse_f_string,
    parse_mustache,
)
from llmeval_integrations.llm.messages import Message, Role

_PARSERS = {"f-string": parse_f_string, "mustache": parse_mustache}


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["text"]
    text: str


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    role: Role
    content: str | Annotated[list[_Part | str], msgspec.Meta(min_length=1)]


@dataclass(frozen=True)
class Prompt:
    """Messages with variables.

    A template is a text, which becomes a message of the user, or a list of messages: mappings with
    `role` (system, user or assistant) and `content`, a text or a list of parts
    `{"type": "text", "text": ...}`.

    By default its syntax is mustache if doubled braces hold a tag (`{{name}}`, `{{#name}}`,
    `{{{name}}}`, ...), and f-string otherwise.

    - f-string: `{name}` is a variable. Everything else in braces is text, as in JSON. If the
      template contains `{{`, that and `}}` are literal braces. Attributes, indices, conversions and
      formats are errors: `{x.a}`, `{x[0]}`, `{x!r}`, `{x:>9}`.
    - mustache: `{{name}}`, `{{{name}}}` and `{{&name}}` are the same, as nothing is escaped for
      HTML. `{{name.key.0}}` reaches keys of mappings and numbered items of lists.
      `{{#name}}...{{/name}}` is written for each item of a list, or once for another true value;
      `{{^name}}...{{/name}}` if it is empty, false or null; `{{.}}` is the item; `{{! ... }}` is
      omitted. Single braces are text. Partials and other delimiters are errors.

    A name begins with a letter or `_`, followed by letters, digits, `_`, `-` and spaces. Variables
    in values are not replaced; a value that is not text is written as JSON. Raises
    InvalidOptionError, with line and column, for a template that breaks these rules.
    """

    name: ClassVar[str] = "prompt"
    """The name in messages."""

    template: str | Sequence[Message | Mapping[str, Any]] | Prompt
    """The text, the messages, or another prompt; messages are kept as a tuple of `Message`."""

    template_format: Syntax | None = None
    """The syntax, "f-string" or "mustache"; None applies the rule above."""

    variables: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The required names, in the order in which they appear.

    Names inside a section are not among them: whether they are needed depends on its value.
    """

    messages: tuple[Message, ...] = field(init=False, repr=False, compare=False)
    """The messages, with their variables unfilled."""

    _bodies: list[list[Body]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.template, Prompt):
            self.__dict__.update(vars(self.template))
            return
        if self.template_format not in (None, *_PARSERS):
            raise option_error(self, "template_format", "'f-string', 'mustache' or None")
        messages = _read_messages(self.template)
        texts = [text for message in messages for text in message.parts]
        parse = _PARSERS[self.template_format or find_syntax(texts)]
        bodies: list[list[Body]] = []
        for number, message in enumerate(messages, 1):
            try:
                bodies.append([*map(parse, message.parts)])
            except InvalidOptionError as error:
                raise InvalidOptionError(f"prompt: message {number}, {error}") from None
        holes = (node for parts in bodies for body in parts for node in body)
        names = {hole.path[0]: None for hole in holes if not isinstance(hole, str) and hole.path}
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
            raise InputError(
                f"prompt: variables must be a mapping of names, not {quote(variables)}"
            )
        given = {name: value for name, value in variables.items() if value is not MISSING}
        for name in self.variables:
            if name not in given:
                raise missing_error(name, (given,))
        return [
            Message(message.role, texts[0] if isinstance(message.content, str) else texts)
            for message, bodies in zip(self.messages, self._bodies)
            for texts in [tuple(fill(body, (given,)) for body in bodies)]
        ]


def _read_messages(template: Any) -> tuple[Message, ...]:
    """Return the messages of a template: a text is one of the user's."""
    if isinstance(template, str):
        return (Message("user", template),)
    try:
        entries = msgspec.convert(msgspec.to_builtins(template), list[_Entry])
    except (msgspec.ValidationError, TypeError) as error:
        raise InvalidOptionError(
            f"prompt: template={quote(template)} is not a text or a list of messages, which are "
            f"written {{'role': ..., 'content': ...}}: {error}"
        ) from None
    if not entries:
        raise InvalidOptionError("prompt: template=[] has no message")
    return tuple(Message(each.role, _read_content(each.content)) for each in entries)


def _read_content(content: str | list[_Part | str]) -> str | tuple[str, ...]:
    if isinstance(content, str):
        return content
    return tuple(each if isinstance(each, str) else each.text for each in content)
