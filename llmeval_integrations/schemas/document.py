"""Finding one's way in a JSON Schema: references, anchors and patterns of names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Final

from llmeval_integrations.schemas.patterns import MOST_ROOM, ROOM, pattern_options, spell_out

_ANCHORS: Final = ("$anchor", "$dynamicAnchor")
_IDS: Final = ("$id", "id")  # a fragment here is what the drafts before 2019 have for an anchor
_POSITION: Final = re.compile("[0-9]{1,9}")
_VALUES: Final = frozenset(("const", "default", "enum", "examples"))
_ALTERNATIVES: Final = ("anyOf", "oneOf")
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
        """Follow a reference within the document; None where it leads nowhere."""
        if not isinstance(reference, str):
            return None
        address, _, fragment = reference.partition("#")
        if address and address != self._address():
            return None
        if "%" in fragment:
            from urllib.parse import unquote

            fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment)
        value = self.root
        for name in read_pointer(fragment):
            if isinstance(value, list) and _POSITION.fullmatch(name) and int(name) < len(value):
                value = value[int(name)]
            elif isinstance(value, dict):
                value = value.get(name)
            else:
                return None
        return value

    def _address(self) -> str | None:
        """Return the document's own address, which may end in an empty fragment."""
        own = self.root.get("$id") if isinstance(self.root, dict) else None
        return own.removesuffix("#") if isinstance(own, str) else None

    @cached_property
    def _anchors(self) -> dict[str, Any]:
        """The schemas that have a name of their own; the first of those that share one."""
        found: dict[str, Any] = {}
        waiting = [self.root]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                for name in _names(value):
                    found.setdefault(name, value)
                inner = [part for key, part in value.items() if key not in _VALUES]
            else:
                inner = value if isinstance(value, list) else []
            waiting += reversed(inner)
        return found

    @cached_property
    def before(self) -> dict[int, dict[str, Any]]:
        """The schema that stands before another among alternatives, by the other one's `id`."""
        return {
            id(other): one
            for schema, _ in subschemas(self.root)
            for one, other in pairwise(list_of(schema, "anyOf"))
            if isinstance(one, dict)
        }


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
    """Walk the schemas of a document that are objects, and whether each is part of an alternative.

    What is defined for use elsewhere is not, wherever it stands. What stands under the keyword
    `skipped` is left out. A schema may be changed as soon as it is given: what it holds is known
    by then.
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


def _names(schema: dict[str, Any]) -> Iterator[str]:
    for keyword in (*_ANCHORS, *_IDS):
        name = schema.get(keyword)
        if isinstance(name, str) and (keyword in _ANCHORS or name[:1] == "#"):
            yield name.removeprefix("#")


def read_pointer(pointer: str) -> list[str]:
    """Read the steps of a JSON Pointer, whatever stands before its first."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern is found in a name, as the validator of schemas has it."""
    validator = _validator(pattern) or _large_validator(pattern)
    try:
        return validator is not None and bool(validator.is_valid(name))
    except ValueError:  # a lone surrogate, which lenient parsing lets in
        return False


@lru_cache(maxsize=10_000)  # names come one after the other, and each asks every pattern
def _validator(pattern: str) -> Any:
    """Build what looks for a pattern; None where it is none, or takes much room."""
    return _built(pattern, ROOM)


@lru_cache(maxsize=8)
def _large_validator(pattern: str) -> Any:
    return _built(pattern, MOST_ROOM)


def _built(pattern: str, room: int) -> Any:
    import jsonschema_rs

    schema, options = {"pattern": spell_out(pattern)}, pattern_options(room)
    try:
        return jsonschema_rs.Draft202012Validator(schema, pattern_options=options)
    except (jsonschema_rs.ValidationError, ValueError):
        return None
