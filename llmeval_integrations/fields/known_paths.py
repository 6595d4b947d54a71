"""Whether the paths of settings lead to what the schema has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quoting import MOST, cut, shown
from llmeval_integrations.fields.field import ANY
from llmeval_integrations.fields.schema_settings import types_of
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.schemas.document import (
    SchemaDocument,
    items_of,
    list_of,
    object_of,
    read_pointer,
)
from llmeval_integrations.schemas.walk import Schema, applied, branches, reach

_POSITION: Final = re.compile("0|[1-9][0-9]{0,8}")
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_UNKNOWN: Final = frozenset(
    (
        "patternProperties",
        "unevaluatedProperties",
        "dependentSchemas",
        "dependencies",
        "if",
        "$dynamicRef",
        "$recursiveRef",
    )
)
"""Keywords that may bring members, which are not followed here."""


def check_paths(fields: Mapping[str, Any], judged: Iterable[str], schema: Any) -> None:
    """Raise InvalidOptionError for a path, or a `key`, that the schema has no place for.

    An object with `type` and `properties` has no other members, as Pydantic means it, unless
    `additionalProperties` lets them in. Where a schema says less, any path may be right.
    """
    keyed = [(path, settings.get("key")) for path, settings in fields.items()]
    keys = [f"{path}/{ANY}/{escape(key)}" for path, key in keyed if key]
    document = SchemaDocument(schema)
    for path in (*fields, *judged, *keys):
        here, walked = [schema], ""
        for step in read_pointer(path):
            parts = _schemas(here, document)
            inner = (one for part in parts for one in _inside(part, step, document))
            here = [one for one in inner if one is not False]
            if not here:
                raise _unknown(walked, step, parts)
            walked += f"/{escape(step)}"


def _schemas(schemas: Iterable[Any], document: SchemaDocument) -> list[Any]:
    """Return these schemas and all that hold, or may hold, where they do."""
    found = reach(schemas, lambda part: applied(part, document) + branches(part))
    return [part for part in found if part is not False]


def _inside(part: Any, step: str, document: SchemaDocument) -> list[Any]:
    """Return the schemas of what a step leads to; one that is not an object stands for anything."""
    if not isinstance(part, dict) or not _UNKNOWN.isdisjoint(part):
        return [True]
    if "$id" in part and part is not document.root:  # references in it have another root
        return [True]
    if step in list_of(part, "required"):
        return [object_of(part, "properties").get(step, True)]
    types = types_of(part)
    found = _members(part, step) if not types or "object" in types else []
    return found + _items(part, step) if "array" in types else found


def _items(part: Schema, step: str) -> list[Any]:
    first, rest = items_of(part)
    others = [True if rest is None else rest]
    if step == ANY:
        return [*first, *others]
    if not _POSITION.fullmatch(step):
        return []
    position = int(step)
    if position < len(first):
        return [first[position]]
    most: Any = part.get("maxItems")
    return others if not is_number(most) or position < most else []


def _members(part: Schema, step: str) -> list[Any]:
    named = object_of(part, "properties")
    if step in named and step != ANY:
        return [named[step]]
    says_all = "properties" in part and "type" in part
    is_told = "properties" not in part and not part.keys().isdisjoint(("$ref", *_LISTS))
    more = part.get("additionalProperties", not (says_all or is_told))
    return [*(named.values() if step == ANY else ()), *([] if more is False else [more])]


def _unknown(walked: str, step: str, parts: Iterable[Schema]) -> InvalidOptionError:
    from difflib import get_close_matches

    names = dict.fromkeys(name for part in parts for name in object_of(part, "properties"))
    more = ' ("additionalProperties": true says that an object may have others)' if names else ""
    names.update((ANY, None) for part in parts if "array" in types_of(part))
    close = get_close_matches(step, names, 1) or (names if len(names) == 1 else ())
    paths = [f"{walked}/{escape(name)}" for name in close or names]
    hint = f"did you mean {paths[0]!r}?" if close else f"there are {cut(', '.join(paths), MOST)}"
    said = f"fields: the schema has no {shown(f'{walked}/{escape(step)}')}"
    return InvalidOptionError(f"{said}; {hint}{more}" if paths else said)
