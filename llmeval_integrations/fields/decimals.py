"""Numbers that may be written as texts, as Pydantic describes its Decimals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from llmeval_integrations.schemas.document import SchemaDocument

_PATTERN: Final = "^(?!^[-+.]*$)[+-]?0*"
"""How the patterns of Pydantic 2.12 and 2.13 for Decimal begin, which other releases leave out."""

_NOTES: Final = frozenset(
    (
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
    )
)
"""The keywords that say nothing of a value."""

_BOUNDS: Final = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
)
_ABOUT_NUMBERS: Final = _NOTES | _BOUNDS | {"type"}
_TOLD: Final = frozenset(("enum", "const", "format"))
_OTHERS: Final = ("null", "boolean", "object", "array")


def are_decimals(parts: Iterable[dict[str, Any]], document: SchemaDocument) -> bool:
    """Whether these schemas of a place are Pydantic's for Decimal, other types than text beside it.

    That is a number and right behind it any text, as alternatives of each other; or a text by
    Pydantic's own pattern, where the number is left out, as in the schema of what it dumps. Texts
    that are named, or have a format, may stand beside it, but no others, which may be any text. A
    number of which more than bounds is said is another type's, such as one of an enumeration.
    """
    parts = [*parts]
    numbers = {id(part) for part in parts if part.get("type") == "number"}
    found = False
    for part in parts:
        kind = part.get("type")
        if kind == "string":
            if _is_of_decimal(part, numbers, document):
                found = True
            elif _TOLD.isdisjoint(part):
                return False
        elif kind in ("number", "integer"):
            if not part.keys() <= _ABOUT_NUMBERS:
                return False
        elif kind not in _OTHERS:
            return False
    return found


def _is_of_decimal(text: dict[str, Any], numbers: set[int], document: SchemaDocument) -> bool:
    if str(text.get("pattern")).startswith(_PATTERN):
        return text.keys().isdisjoint(("enum", "const"))
    if not numbers or text.keys() - _NOTES != {"type"}:
        return False
    return id(document.before.get(id(text))) in numbers
