"""Derive from a JSON Schema's keywords how values are compared."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgspec

from llmeval_integrations.fields.leaves import BY_FORM
from llmeval_integrations.fields.rule import FORMATS, Rule
from llmeval_integrations.json_values.values import TYPES, encode
from llmeval_integrations.schemas.document import items_of, list_of
from llmeval_integrations.schemas.parse import REMARKS
from llmeval_integrations.schemas.walk import Schema, Schemas


class Case(NamedTuple):
    """Schemas that apply together; a place has a case for each of its alternatives."""

    parts: list[Schema]
    """The schemas that define how values, or parts of values, are compared."""

    types: set[str]
    """The types that all of them allow. "integer" is among them if "number" is."""


_FIXING: Final = frozenset(("enum", "const"))
_OF_VALUES: Final = _FIXING | {"type", "pattern", "format", "multipleOf", "uniqueItems"}
_KEYWORDS: Final = _OF_VALUES | {
    *("properties", "patternProperties", "additionalProperties"),
    *("items", "prefixItems", "additionalItems"),
}
"""The keywords that define how values, and the parts of values, are compared."""

# The following settings undo everything that defaults could loosen. Only `fields` overrides them.
_EXACT: Final = msgspec.structs.asdict(Rule())
_EXACT_TEXTS: Final = {
    name: _EXACT[name]
    for name in (
        *("similarity", "ignore_case", "ignore_whitespace", "normalize_unicode", "text"),
        *("format", "coerce", "dates", "number", "pattern", "compare"),
    )
}
_ON_GRID: Final = {
    name: _EXACT[name] for name in ("tolerance", "relative_tolerance", "pattern", "compare")
}
_EXACT_NUMBERS: Final = {**_ON_GRID, "multiple_of": None, "coerce": False, "number": None}

_ALL_TYPES: Final = frozenset(TYPES.values())

_NUMBERS: Final = frozenset((int, float, Decimal))

_DECIMAL: Final = "^(?!^[-+.]*$)[+-]?0*"
"""The beginning of the Decimal patterns of Pydantic 2.12 and 2.13; other releases have none."""

_ABOUT_NUMBERS: Final = REMARKS | {
    *("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
}


def list_cases(schemas: Schemas) -> list[list[Schema]]:
    """Return the schemas of each case that say how to compare; an empty list if none does."""
    cases = [
        [part for part in (*schemas.certain, *parts) if not _KEYWORDS.isdisjoint(part)]
        for parts in [each.parts for each in schemas.alternatives] or [[]]
    ]
    return cases if any(cases) else []


def read_settings(schemas: Schemas, cases: list[list[Schema]]) -> dict[str, Any]:
    """Return the settings that follow from the schemas of a place with these cases."""
    if all(_OF_VALUES.isdisjoint(part) for parts in cases for part in parts):
        return {}
    is_one = len(schemas.parts) == 1 and not schemas.alternatives
    if is_one and "uniqueItems" not in cases[0][0]:
        named = {key: value for key, value in cases[0][0].items() if key in _OF_VALUES}
        return _read_one(encode(named))
    return _read_cases(schemas, [Case(parts, _types_of(parts)) for parts in cases])


@lru_cache(maxsize=1_024)
def _read_one(text: bytes) -> dict[str, Any]:
    """Return the settings that follow from one schema: most places have one, and many the same."""
    schemas = Schemas.of(msgspec.json.decode(text))
    return _read_cases(schemas, [Case(schemas.parts, _types_of(schemas.parts))])


def _read_cases(schemas: Schemas, cases: list[Case]) -> dict[str, Any]:
    types = {"number" if name == "integer" else name for case in cases for name in case.types}
    settings: dict[str, Any] = {
        **_read_numbers([case for case in cases if case.parts]),
        **_read_texts(cases),
        "types": None if types == _ALL_TYPES else frozenset(types),
    }
    if _is_decimal(schemas):
        settings.update(is_number=True, is_decimal=True)
        settings.pop("number", None)
    for parts, _ in cases:
        is_unique = any(part.get("uniqueItems") is True for part in parts)
        if is_unique and not has_positions(parts):
            settings["order"] = "any_order"
    return settings


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


def _types_of(parts: Iterable[Schema]) -> set[str]:
    types = {*_ALL_TYPES, "integer"}
    for part in parts:
        named = {*list_types(part)}
        if not _FIXING.isdisjoint(part):
            named = {TYPES.get(type(value), "number") for value in list_values(part)}
        if "number" in named:
            named.add("integer")
        types &= named or types
    return types


def _lists(case: Case, kinds: Iterable[type]) -> bool:
    """Return whether `enum` or `const` of a case lists a value of one of these types."""
    return any(type(value) in kinds for part in case.parts for value in list_values(part))


def _read_texts(cases: list[Case]) -> dict[str, Any]:
    """Return the settings for strings: by meaning if a case has a format, exact if they are fixed.

    A `pattern`, `enum` or `const` fixes strings.
    """
    formats: list[str] = []
    is_fixed = False
    for case in cases:
        if any("pattern" in part for part in case.parts) or _lists(case, (str,)):
            is_fixed = True
        elif "string" in case.types:
            formats += [part["format"] for part in case.parts if part.get("format") in FORMATS]
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
    free = [case for case in cases if not _lists(case, _NUMBERS)]
    typed = [case.types for case in free if any(map(list_types, case.parts))]
    is_number = any("number" in types for types in typed)
    is_integer = any("integer" in types for types in typed)
    if not is_number and (is_integer or len(free) < len(cases)):
        fixed = dict(_EXACT_NUMBERS)
        if len(free) == len(cases):  # no listed values: a quantity, which may be written as a text
            del fixed["coerce"], fixed["number"]
        return fixed
    settings: dict[str, Any] = {"is_number": True} if is_number else {}
    grids = [_grid(case) for case in free if "integer" in case.types]
    if grids and None not in grids:
        settings.update(_ON_GRID, multiple_of=min(filter(None, grids)))
    return settings


def _grid(case: Case) -> float | None:
    """Return the smallest `multipleOf` of a case; 1 for integers without one."""
    named: list[Any] = [part.get("multipleOf") for part in case.parts]
    grids = [grid for grid in named if type(grid) in (int, float) and grid > 0]
    return min(grids, default=None if "number" in case.types else 1)


def _is_decimal(schemas: Schemas) -> bool:
    """Return whether the schemas of a place are Pydantic's schemas of a Decimal.

    Pydantic writes a number and, right after it in `anyOf`, a string, which may have Pydantic's
    pattern. A number with keywords other than bounds is no Decimal. Listed strings and strings with
    a format may be further alternatives, but no other string.
    """
    texts = [
        part
        for part in schemas.parts
        if part.get("type") == "string" and part.keys().isdisjoint(("enum", "const", "format"))
    ]
    after_numbers = {
        id(other)
        for part in (schemas.parts if texts else ())
        for one, other in pairwise(list_of(part, "anyOf"))
        if isinstance(one, dict) and one.get("type") == "number" and one.keys() <= _ABOUT_NUMBERS
    }
    return bool(texts) and all(
        str(part.get("pattern")).startswith(_DECIMAL)
        or (id(part) in after_numbers and part.keys() - REMARKS == {"type"})
        for part in texts
    )
