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
    SYNTAXES,
    Body,
    Syntax,
    fill,
    find_syntax,
    parse_f_string,
    parse_mustache,
    single_names,
    word_missing,
)
from llmeval_integrations.llm.messages import Message, Role


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["text"]
    text: str


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    role: Role
    content: str | Annotated[list[_Part | str], msgspec.Meta(min_length=1)]


@dataclass(frozen=True)
class Prompt:
    """Messages with variables.

    A template is a text, which is said as the user, or a list of messages: mappings with `role`
    (system, user or assistant) and `content`, a text or a list of parts
    `{"type": "text", "text": ...}`.

    Its syntax is `template_format`, and by default mustache if doubled braces anywhere in it hold
    a tag (`{{name}}`, `{{#name}}`, `{{{name}}}`, ...), f-string if not.

    - f-string: `{name}` is a variable. All else in braces is text, as JSON is. Where the template
      has `{{`, that and `}}` stand for literal braces. Attributes, indices, conversions and formats
      are errors: `{x.a}`, `{x[0]}`, `{x!r}`, `{x:>9}`.
    - mustache: `{{name}}`, `{{{name}}}` and `{{&name}}` are the same, as nothing is escaped for
      HTML. `{{name.key.0}}` walks mappings by key and lists by number. `{{#name}}...{{/name}}` is
      written for each item of a list, once for another true value; `{{^name}}...{{/name}}` if it
      is empty, false or null; `{{.}}` is the item; `{{! ... }}` is left out. Single braces are
      text. Partials and other delimiters are errors.

    A name begins with a letter or `_`; letters, digits, `_`, `-` and spaces follow. Values are
    never looked into for variables; what is not text is written as JSON. Raises
    InvalidOptionError, with line and column, for a template that breaks these rules.
    """

    name: ClassVar[str] = "prompt"
    """What messages call it."""

    template: str | Sequence[Message | Mapping[str, Any]]
    """The text, or the messages; kept as a tuple of `Message`."""

    template_format: Syntax | None = None
    """Either "f-string" or "mustache"; None tells them apart by the rule above."""

    variables: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The names that have to be given, in the order in which they appear.

    Names inside a section are not among them: whether they are needed depends on its value.
    """

    syntax: Syntax = field(init=False, repr=False, compare=False)
    """The syntax that the template is read in."""

    messages: tuple[Message, ...] = field(init=False, repr=False, compare=False)
    """The messages, their variables as they are written."""

    _bodies: list[list[Body]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.template_format is not None and self.template_format not in SYNTAXES:
            raise option_error(self, "template_format", "'f-string', 'mustache' or None")
        messages = _read_messages(self.template)
        syntax = self.template_format or find_syntax(
            text for message in messages for text in message.parts
        )
        parse = parse_mustache if syntax == "mustache" else parse_f_string
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
            template=template, variables=(*names,), syntax=syntax, messages=messages, _bodies=bodies
        )

    @classmethod
    def of(cls, template: Prompt | str | Sequence[Message | Mapping[str, Any]]) -> Prompt:
        """Make a prompt of a template; a prompt is given back as it is."""
        return template if isinstance(template, Prompt) else cls(template)

    def render(self, variables: Mapping[str, Any]) -> list[Message]:
        """Return the messages with these values; variables that the template lacks are ignored.

        Raises MissingFieldError for a name that is not given; InputError for a value that is
        neither text nor JSON; InvalidOptionError where a mustache template that was found by the
        rule has a given variable in single braces, which would be said to the model as it stands.
        """
        if not isinstance(variables, Mapping):
            raise InputError(f"prompt: variables are a mapping of names, not {quote(variables)}")
        given = {name: value for name, value in variables.items() if value is not MISSING}
        self._check(given)
        return [
            Message(message.role, texts[0] if isinstance(message.content, str) else texts)
            for message, bodies in zip(self.messages, self._bodies)
            for texts in [tuple(fill(body, (given,)) for body in bodies)]
        ]

    def _check(self, given: Mapping[str, Any]) -> None:
        if absent := [name for name in self.variables if name not in given]:
            raise word_missing(absent, (given,))
        if self.syntax == "f-string" or self.template_format is not None:
            return
        texts = (text for message in self.messages for text in message.parts)
        for name in given.keys() & single_names(texts):
            raise InvalidOptionError(
                f"prompt: {{{name}}} is text in a mustache template, and {name} is given; "
                f"write {{{{{name}}}}}, or say which is meant: template_format='mustache' "
                "for the text, 'f-string' for the variable"
            )


def make_prompt(system: str, user: str) -> Prompt:
    """Make one of our own prompts."""
    return Prompt([Message("system", system), Message("user", user)], "mustache")


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
