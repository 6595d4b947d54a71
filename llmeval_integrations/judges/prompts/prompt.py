"""What a judge says to a model, with places for what it judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import InputError, InvalidOptionError, MissingFieldError
from llmeval_integrations.core.options import option_error
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.judges.prompts.f_string import parse_f_string
from llmeval_integrations.judges.prompts.filling import fill, missing
from llmeval_integrations.judges.prompts.message_list import messages_of, parts_of
from llmeval_integrations.judges.prompts.mustache import parse_mustache
from llmeval_integrations.judges.prompts.template import (
    SYNTAXES,
    Body,
    Section,
    Syntax,
    single_names,
    syntax_of,
)
from llmeval_integrations.llm.messages import Message

_PARSERS: Final = {"f-string": parse_f_string, "mustache": parse_mustache}


@dataclass(frozen=True)
class Prompt:
    """Messages with variables.

    A template is a text, which is said as the user, or a list of messages: mappings with `role`
    (system, user or assistant) and `content`, a text or a list of parts
    `{"type": "text", "text": ...}`.

    Its syntax is `template_format`, and by default mustache if doubled braces anywhere in it hold
    a tag (`{{name}}`, `{{#name}}`, `{{{name}}}`, ...), f-string if not.

    - f-string: `{name}` is a variable. All else in braces is text, as JSON is. `{{` and `}}` stand
      for literal braces, except where `}}` closes two single ones, as nested JSON ends.
      Attributes, indices, conversions and formats are errors: `{x.a}`, `{x[0]}`, `{x!r}`, `{x:>9}`.
    - mustache: `{{name}}`, `{{{name}}}` and `{{&name}}` are the same, as nothing is escaped for
      HTML. `{{name.key.0}}` walks mappings by key and lists by number. `{{#name}}...{{/name}}` is
      written for each item of a list, once for another true value; `{{^name}}...{{/name}}` if it
      is empty, false or null; `{{.}}` is the item; `{{! ... }}` is left out. Single braces are
      text. Partials and other delimiters are errors, and so are more than 100 nested sections.

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

    _messages: tuple[Message, ...] = field(init=False, repr=False, compare=False)
    _bodies: tuple[tuple[Body, ...], ...] = field(init=False, repr=False, compare=False)
    _single_names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.template_format is not None and self.template_format not in SYNTAXES:
            raise option_error(self, "template_format", "'f-string', 'mustache' or None")
        messages = messages_of(self.template)
        texts = [text for message in messages for text in parts_of(message)]
        syntax = self.template_format or syntax_of(texts)
        told = self.template_format is None and syntax == "mustache"
        bodies = tuple(_parse(message, number, syntax) for number, message in enumerate(messages))
        set_field = object.__setattr__
        if not isinstance(self.template, str):
            set_field(self, "template", messages)
        set_field(self, "variables", _names(bodies))
        set_field(self, "syntax", syntax)
        set_field(self, "_messages", messages)
        set_field(self, "_bodies", bodies)
        set_field(self, "_single_names", single_names(texts) if told else ())

    def __str__(self) -> str:
        return "\n\n".join(f"{each.role}:\n{each.text}".rstrip() for each in self._messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, their variables as they are written."""
        return self._messages

    @property
    def texts(self) -> tuple[str, ...]:
        """What the messages say, their variables as they are written."""
        return tuple(text for message in self._messages for text in parts_of(message))

    @classmethod
    def of(cls, template: Prompt | str | Sequence[Message | Mapping[str, Any]]) -> Prompt:
        """Make a prompt of a template; a prompt is given back as it is."""
        return template if isinstance(template, Prompt) else cls(template)

    def render(self, variables: Mapping[str, Any]) -> list[Message]:
        """Return the messages with these values; variables that the template lacks are ignored.

        Raises MissingFieldError for a name that is not given; InputError for a value that is
        neither text nor JSON; InvalidOptionError where a mustache template that was told by the
        rule has a given variable in single braces, which would be said to the model as it stands.
        """
        self._check(variables)
        return [
            Message(message.role, texts[0] if isinstance(message.content, str) else texts)
            for message, bodies in zip(self._messages, self._bodies)
            for texts in [tuple(fill(body, variables) for body in bodies)]
        ]

    def _check(self, variables: Mapping[str, Any]) -> None:
        if not isinstance(variables, Mapping):
            raise InputError(f"prompt: variables are a mapping of names, not {quote(variables)}")
        absent = [name for name in self.variables if variables.get(name, MISSING) is MISSING]
        if absent:
            given = [name for name, value in variables.items() if value is not MISSING]
            raise MissingFieldError(f"{missing(absent, given)}{self._hint(absent[0])}")
        for name in self._single_names:
            if name in variables:
                raise InvalidOptionError(
                    f"prompt: {{{name}}} is text in a mustache template, and {name} is given; "
                    f"write {{{{{name}}}}}, or say which is meant: template_format='mustache' for "
                    "the text, 'f-string' for the variable"
                )

    def _hint(self, name: str) -> str:
        if self.syntax == "f-string":
            return f". To say {{{name}}} as it stands, double its braces"
        nodes = [node for parts in self._bodies for body in parts for node in body]
        sections = {node.path[0] for node in nodes if isinstance(node, Section) and node.path}
        if sections:
            left_out = (
                ". A section is left out where its name is given as false or as an empty list"
            )
            return left_out if name in sections else ""
        if self.template_format is None:
            return ". To say {" + name + "} as it stands, set template_format='f-string'"
        return ""


def _parse(message: Message, number: int, syntax: Syntax) -> tuple[Body, ...]:
    try:
        return tuple(_PARSERS[syntax](text) for text in parts_of(message))
    except InvalidOptionError as error:
        raise InvalidOptionError(f"prompt: message {number + 1}, {error}") from None


def _names(bodies: tuple[tuple[Body, ...], ...]) -> tuple[str, ...]:
    nodes = (node for parts in bodies for body in parts for node in body)
    return tuple(dict.fromkeys(node.path[0] for node in nodes if not isinstance(node, str)))
