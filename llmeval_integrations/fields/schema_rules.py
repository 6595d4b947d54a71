"""Derive from a JSON Schema's keywords how values are compared."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, TypeAlias

import msgspec

from llmeval_integrations.fields.formats import BY_FORM
from llmeval_integrations.fields.rule import FORMATS
from llmeval_integrations.json_values.equality import TYPES
from llmeval_integrations.schemas.document import items_of, list_of
from llmeval_integrations.schemas.parse import REMARKS, encode
from llmeval_integrations.schemas.walk import Schema, Schemas

Case: TypeAlias = list[Schema]
"""Schemas that apply together; a place has a case for each of its alternatives."""

_FIXING: Final = frozenset(("enum", "const"))
_OF_VALUES: Final = _FIXING | {"type", "pattern", "format", "multipleOf", "uniqueItems"}
_OF_PARTS: Final = frozenset(
    (
        *("properties", "patternProperties", "additionalProperties"),
        *("items", "prefixItems", "additionalItems"),
    )
)
"""The keywords that define how values are compared, and the keywords about parts of values."""

_WITHOUT_EFFECT: Final = REMARKS | _OF_PARTS
"""The keywords of a single schema that do not define how values are compared."""

# The following settings undo everything that defaults could loosen. Only `fields` overrides them.
_EXACT_TEXTS: Final = {
    "similarity": None,
    "ignore_case": False,
    "ignore_whitespace": False,
    "normalize_unicode": False,
    "text": None,
    "format": None,
    "coerce": False,
    "dates": None,
    "number": None,
    "pattern": None,
    "compare": None,
}
_ON_GRID: Final = {
    "tolerance": 0.0,
    "relative_tolerance": None,
    "pattern": None,
    "compare": None,
}
_EXACT_NUMBERS: Final = {**_ON_GRID, "multiple_of": None, "coerce": False, "number": None}

_ALL_TYPES: Final = frozenset(TYPES.values())

_NUMBERS: Final = frozenset((int, float, Decimal))

_DECIMAL: Final = "^(?!^[-+.]*$)[+-]?0*"
"""The beginning of the Decimal patterns of Pydantic 2.12 and 2.13; other releases have none."""

_ABOUT_NUMBERS: Final = REMARKS | {
    *("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
}


def list_cases(schemas: Schemas) -> list[Case]:
    """Return the cases of a place; an empty list if its schemas have none of these keywords."""
    alternatives = [each.parts for each in schemas.alternatives] or [[]]
    keywords = _OF_VALUES | _OF_PARTS
    cases = [
        [part for part in (*schemas.certain, *parts) if not keywords.isdisjoint(part)]
        for parts in alternatives
    ]
    return [case for case in cases if case]


def read_settings(schemas: Schemas, cases: list[Case]) -> dict[str, Any]:
    """Return the settings that follow from the schemas of a place with these cases."""
    parts = [part for case in cases for part in case]
    if _OF_VALUES.isdisjoint(key for part in parts for key in part):
        return {}
    if len(parts) == 1 and not schemas.alternatives and "uniqueItems" not in parts[0]:
        named = {key: value for key, value in parts[0].items() if key not in _WITHOUT_EFFECT}
        return _read_alone(encode(named))
    return _read_together(schemas, cases)


@lru_cache(maxsize=1_024)
def _read_alone(text: bytes) -> dict[str, Any]:
    """Return the settings that follow from one schema: most places have one, and many the same."""
    schemas = Schemas.of(msgspec.json.decode(text))
    return _read_together(schemas, list_cases(schemas))


def _read_together(schemas: Schemas, cases: list[Case]) -> dict[str, Any]:
    parts = [part for case in cases for part in case]
    settings = {**_read_numbers(cases), **_read_texts(cases), "types": _types_allowed(schemas)}
    if _are_decimals(parts, schemas):
        settings.update(is_number=True, is_decimal=True)
        settings.pop("number", None)
    for case in cases:
        is_unique = any(part.get("uniqueItems") is True for part in case)
        if is_unique and not has_positions(case):
            settings["order"] = "any_order"
    return settings


def _types_allowed(schemas: Schemas) -> frozenset[str] | None:
    """Return the JSON types that these schemas may allow, or None if they allow all."""
    found: set[str] = set()
    for parts in [each.parts for each in schemas.alternatives] or [[]]:
        allowed = _ALL_TYPES
        for part in (*schemas.certain, *parts):
            named = {"number" if kind == "integer" else kind for kind in list_types(part)}
            if not _FIXING.isdisjoint(part):
                named = {TYPES.get(type(value), "number") for value in list_values(part)}
            allowed = allowed & named if named else allowed
        found |= allowed
    return None if found == _ALL_TYPES else frozenset(found)


def has_positions(parts: Iterable[Schema]) -> bool:
    """Return whether items at different positions may have different schemas."""
    return any(items_of(part)[0] for part in parts)


def list_types(part: Schema) -> list[str]:
    """Return the types in a schema's `type`."""
    types = part.get("type")
    return types if isinstance(types, list) else [types] if types else []


def list_values(part: Schema) -> list[Any]:
    """Return the values in a schema's `enum` and `const`."""
    return list_of(part, "enum") + ([part["const"]] if "const" in part else [])


def _names(case: Case, kinds: Iterable[type]) -> bool:
    """Return whether `enum` or `const` of a case lists a value of one of these types."""
    return any(type(value) in kinds for part in case for value in list_values(part))


def _read_texts(cases: list[Case]) -> dict[str, Any]:
    """Return the settings for strings: by meaning if a case has a format, exact if they are fixed.

    A `pattern`, `enum` or `const` fixes strings.
    """
    formats: list[str] = []
    is_fixed = False
    for case in cases:
        if any("pattern" in part for part in case) or _names(case, (str,)):
            is_fixed = True
        elif all("string" in types for types in map(list_types, case) if types):
            formats += [part["format"] for part in case if part.get("format") in FORMATS]
    if formats:
        forms = tuple(form for form in BY_FORM if form in formats)
        settings = {**_EXACT_TEXTS, "format": forms}
        del settings["dates"]  # a default may accept other spellings of a date
        return settings
    return _EXACT_TEXTS if is_fixed else {}


def _read_numbers(cases: list[Case]) -> dict[str, Any]:
    """Return the settings for numbers: exact for integers and listed numbers, else by the grid.

    If one case allows any "number", all numbers have its tolerance.
    """
    free = [case for case in cases if not _names(case, _NUMBERS)]
    kinds = set(map(_name_number, free))
    if "number" not in kinds and ("integer" in kinds or len(free) < len(cases)):
        fixed = dict(_EXACT_NUMBERS)
        if len(free) == len(cases):  # no listed values: a quantity, which may be written as a text
            del fixed["coerce"], fixed["number"]
        return fixed
    settings: dict[str, Any] = {"is_number": True} if "number" in kinds else {}
    grids = [_grid(case) for case in free if _may_be_number(case)]
    if grids and None not in grids:
        settings.update(_ON_GRID, multiple_of=min(filter(None, grids)))
    return settings


def _grid(case: Case) -> float | None:
    """Return the smallest `multipleOf` of a case; 1 for integers without one."""
    named: list[Any] = [part.get("multipleOf") for part in case]
    grids = [grid for grid in named if type(grid) in (int, float) and grid > 0]
    if not grids and _name_number(case) == "integer":
        return 1
    return min(grids, default=None)


def _name_number(case: Case) -> str | None:
    """Return "integer" or "number" if a case allows nothing else, or None."""
    kinds = [types for types in map(list_types, case) if types]
    if not all("number" in types or "integer" in types for types in kinds):
        return None
    only_integers = any("number" not in types for types in kinds)
    return "integer" if only_integers else "number" if kinds else None


def _may_be_number(case: Case) -> bool:
    """Return whether a case allows numbers."""
    if not all({"number", "integer"} & {*types} for types in map(list_types, case) if types):
        return False
    return all(_FIXING.isdisjoint(part) or _names([part], _NUMBERS) for part in case)


def _are_decimals(parts: list[Schema], schemas: Schemas) -> bool:
    """Return whether the schemas of a place are Pydantic's schemas of a Decimal.

    Pydantic writes a number and, right after it in `anyOf`, a string, which may have Pydantic's
    pattern. Other types, listed strings and strings with a format may be further alternatives, but
    no other string. A number with keywords other than bounds is no Decimal.
    """
    numbers = {id(part) for part in parts if part.get("type") == "number"}
    behind = {
        id(other)
        for part in schemas.parts
        for one, other in pairwise(list_of(part, "anyOf"))
        if id(one) in numbers
    }
    found = False
    for part in parts:
        kind = part.get("type")
        if kind == "string":
            if str(part.get("pattern")).startswith(_DECIMAL):
                is_decimal = _FIXING.isdisjoint(part)
            else:
                is_decimal = id(part) in behind and part.keys() - REMARKS == {"type"}
            if not is_decimal and part.keys().isdisjoint(("enum", "const", "format")):
                return False
            found = found or is_decimal
        elif kind in ("number", "integer"):
            if not part.keys() <= _ABOUT_NUMBERS:
                return False
        elif kind not in ("null", "boolean", "object", "array"):
            return False
    return found
