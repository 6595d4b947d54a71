"""A JSON Schema as a document: its references and its subschemas."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from math import inf
from typing import Any, Final
from urllib.parse import unquote

from llmeval_integrations.json_values.values import read_pointer

_VALUES: Final = frozenset(("const", "default", "enum", "examples"))
_ALTERNATIVES: Final = ("anyOf", "oneOf")
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords for references. They all have the same target if no part of the document has its
own `$id`."""

DEFINITIONS: Final[tuple[str, ...]] = ("$defs", "definitions")
"""The keywords whose members apply only where a reference points to them."""

NAMED: Final = frozenset(
    ("properties", "patternProperties", "dependentSchemas", "dependencies", *DEFINITIONS)
)
"""The keywords whose value is an object of named schemas."""


def resolve(document: Any, reference: Any) -> Any:
    """Return the target of a JSON Pointer in a whole schema, or None for any other reference."""
    if not (isinstance(reference, str) and reference.startswith("#")):
        return None
    try:
        for name in read_pointer(unquote(reference[1:])):
            document = document[int(name)] if isinstance(document, list) else document[name]
    except (LookupError, TypeError, ValueError):
        return None
    return document


def list_of(schema: dict[str, Any], keyword: str) -> list[Any]:
    """Return the value of a keyword if it is a list, or else an empty list."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def object_of(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    """Return the value of a keyword if it is an object, or else an empty object."""
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def items_of(schema: dict[str, Any]) -> tuple[list[Any], Any]:
    """Return the schemas of an array's first items by position, and the schema of all others."""
    if isinstance(schema.get("items"), list):  # in drafts before 2020-12
        return schema["items"], schema.get("additionalItems")
    return list_of(schema, "prefixItems"), schema.get("items")


def count_paths(root: Any) -> float:
    """Return how many paths lead along the references of a schema.

    They are infinitely many if a part may refer to itself, also through other parts.
    """
    targets: dict[int, list[int]] = {}
    waiting = [root]
    for part in waiting:
        if id(part) in targets:
            continue
        inner = [one for one, _ in subschemas(part)]
        found = [resolve(root, one[key]) for one in inner for key in REFERENCES if key in one]
        has_bases = any("$id" in one or "id" in one for one in inner if one is not root)
        if has_bases or any(target is None for target in found):
            return inf  # only JSON Pointers into the whole schema are followed here
        targets[id(part)] = [*map(id, found)]
        waiting += found
    paths: dict[int, int] = {}
    try:
        for part in TopologicalSorter(targets).static_order():
            paths[part] = 1 + sum(paths[target] for target in targets[part])
    except CycleError:
        return inf
    return paths[id(root)]


def subschemas(
    root: Any, *, skipped: str = "", spares_optional: bool = False
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield each schema of a document that is an object, and whether it is in an alternative.

    Definitions are not in an alternative, and with `spares_optional` neither is the only one apart
    from null. Schemas under the keyword `skipped` are left out. The caller may change a schema once
    it is yielded.
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
            is_choice = key in _ALTERNATIVES and not (spares_optional and _is_optional(part))
            inside = is_choice or (alternative and key not in DEFINITIONS)
            inner = part.values() if isinstance(part, dict) and key in NAMED else [part]
            waiting += [(one, inside) for one in inner]
        yield schema, alternative


def _is_optional(alternatives: Any) -> bool:
    """Return whether there is only one alternative, apart from null."""
    several = alternatives if isinstance(alternatives, list) else []
    return len([one for one in several if one != {"type": "null"}]) == 1
