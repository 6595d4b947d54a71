"""What a text says where another type was meant."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from llmeval_integrations.json_values.equality import equal
from llmeval_integrations.json_values.numbers import read_number
from llmeval_integrations.json_values.parse import parse

_LITERALS: Final = {"true": True, "false": False, "null": None}


class AnySpelling(msgspec.Struct, frozen=True, eq=False):
    """A number or boolean in place of a text, for which any text will do that says the same."""

    value: Any

    text: str
    """One that will do, and that the schema allows where it names any that will."""

    def spell(self, other: Any) -> str:
        """Return the other value where it is a text that says the same, or the own text."""
        return other if isinstance(other, str) and is_spelling(other, self.value) else self.text


def read_text(text: str) -> Any:
    """Return the literal, number or JSON value that a text says, or a Defect.

    A number may have a plus sign, zeros in front, and no digits on one side of the point.
    """
    folded = text.strip().lower()
    if folded in _LITERALS:
        return _LITERALS[folded]
    number = read_number(text.strip())
    return parse(text.strip(), "strict") if number is None else number


def is_spelling(text: str, value: Any) -> bool:
    """Whether a text says a number or a boolean."""
    said = read_text(text)
    return isinstance(said, bool) is isinstance(value, bool) and equal(said, value)
