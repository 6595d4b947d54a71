"""A JSON Schema as a document: references, anchors, and all schemas in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from llmeval_integrations.json_values.pointer import read_pointer

_VALUES: Final = frozenset(("const", "default", "enum", "examples"))
_ALTERNATIVES: Final = ("anyOf", "oneOf")
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords that lead elsewhere. All lead to the same place in a document without parts that
have an `$id` of their own."""

DEFINITIONS: Final[tuple[str, ...]] = ("$defs", "definitions")
"""The keywords whose members wait to be referred to."""

NAMED: Final = frozenset(
    ("properties", "patternProperties", "dependentSchemas", "dependencies", *DEFINITIONS)
)
"""The keywords whose members are schemas with a name."""


class SchemaDocument:
    """A whole schema, within which references lead from one place to another."""

    def __init__(self, root: Any) -> None:
        self.root = root
        """The schema of the whole document."""

    def resolve(self, reference: Any) -> Any:
        """Follow a JSON Pointer within the document; None for any other reference."""
        if not (isinstance(reference, str) and reference.startswith("#")):
            return None
        value = self.root
        try:
            for name in read_pointer(unquote(reference[1:])):
                value = value[int(name)] if isinstance(value, list) else value[name]
        except (LookupError, TypeError, ValueError):
            return None
        return value


def list_of(schema: dict[str, Any], keyword: str) -> list[Any]:
    """Return what a keyword holds, an empty list where it is none."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def object_of(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    """Return what a keyword holds, an empty object where it is none."""
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def items_of(schema: dict[str, Any]) -> tuple[list[Any], Any]:
    """Return the schemas of an array's first items, by position, and that of all others."""
    if isinstance(schema.get("items"), list):  # as the drafts before 2020 have it
        return schema["items"], schema.get("additionalItems")
    return list_of(schema, "prefixItems"), schema.get("items")


def subschemas(root: Any, *, skipped: str = "") -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the schemas of a document that are objects, and whether each is in an alternative.

    Definitions are in none. Schemas under the keyword `skipped` are left out. A schema may be
    changed as soon as it is yielded.
    """
    waiting: list[tuple[Any, bool]] = [(root, False)]
    while waiting:
        schema, alternative = waiting.pop()
        if isinstance(schema, list):
            waiting += [(part, alternative) for part in schema]
        if not isinstance(schema, dict):
            continue
        for key, part in schema.items():
            if key in _VALUES or key == skipped or not isinstance(part, (dict, list)):
                continue
            inside = key in _ALTERNATIVES or (alternative and key not in DEFINITIONS)
            inner = part.values() if isinstance(part, dict) and key in NAMED else [part]
            waiting += [(one, inside) for one in inner]
        yield schema, alternative
