"""What a JSON Schema says of how values are compared, in its plain keywords."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final, TypeAlias

from llmeval_integrations.fields.decimals import are_decimals
from llmeval_integrations.fields.meanings import BY_FORM
from llmeval_integrations.fields.rule import FORMATS
from llmeval_integrations.schemas.document import items_of, list_of, object_of
from llmeval_integrations.schemas.walk import Schema, Schemas

Case: TypeAlias = list[Schema]
"""Schemas that hold together; a place has a case for each of its alternatives."""

_TELLING: Final = frozenset(
    (
        "type",
        "enum",
        "const",
        "pattern",
        "format",
        "multipleOf",
        "uniqueItems",
        "properties",
        "patternProperties",
        "additionalProperties",
        "items",
        "prefixItems",
        "additionalItems",
    )
)
"""The keywords that are looked at, besides those that lead to other schemas of the same place."""

# Each takes away all that defaults could make of it; `fields` alone say otherwise.
_EXACT_TEXTS: Final = {
    "similarity": None,
    "ignore_case": False,
    "ignore_whitespace": False,
    "normalize_unicode": False,
    "format": None,
    "coerce": False,
    "compare": None,
}
_ON_GRID: Final = {
    "tolerance": 0.0,
    "relative_tolerance": None,
    "compare": None,
}
_EXACT_NUMBERS: Final = {
    **_ON_GRID,
    "multiple_of": None,
    "coerce": False,
}

_NUMBERS: Final = frozenset((int, float, Decimal))
_NUMERIC: Final = frozenset(("number", "integer"))

_FIXING: Final = frozenset(("enum", "const"))
_OF_TEXTS: Final = _FIXING | {"pattern", "format"}


def cases_of(schemas: Schemas) -> list[Case]:
    """Return the cases of a place; none where its schemas say nothing."""
    alternatives = [each.parts for each in schemas.alternatives] or [[]]
    cases = [
        [part for part in (*schemas.certain, *parts) if not _TELLING.isdisjoint(part)]
        for parts in alternatives
    ]
    return [case for case in cases if case]


def names_in(schemas: Schemas) -> frozenset[str]:
    """Return the names of the members of which the schemas say something by name."""
    return frozenset().union(*[object_of(part, "properties") for part in schemas.parts])


def has_name_patterns(schemas: Schemas) -> bool:
    """Whether a member's schema may hang on how its name is written."""
    return any(object_of(part, "patternProperties") for part in schemas.parts)


def has_positions(parts: Iterable[Schema]) -> bool:
    """Whether items at different positions may have different schemas."""
    return any(items_of(part)[0] for part in parts)


def settings_of(schemas: Schemas, cases: list[Case]) -> dict[str, Any]:
    """Return what the schemas of a place, in these cases, set."""
    parts = [part for case in cases for part in case]
    keywords: frozenset[str] = frozenset().union(*parts)
    settings = _of_numbers(cases, keywords)
    if not _OF_TEXTS.isdisjoint(keywords):
        settings.update(_of_texts(cases))
    if are_decimals(parts, schemas.document):
        settings.update(is_number=True, is_decimal=True)
    if "uniqueItems" in keywords and any(map(_has_no_order, cases)):
        settings["order"] = "any_order"
    return settings


def _has_no_order(case: Case) -> bool:
    """Whether an array's items are unique, and none has a schema by its position."""
    is_unique = any(part.get("uniqueItems") is True for part in case)
    return is_unique and not has_positions(case)


def _of_texts(cases: list[Case]) -> dict[str, Any]:
    formats: list[str] = []
    is_fixed = False
    for case in cases:
        if any(map(_fixes_texts, case)):
            is_fixed = True
        elif all("string" in types for types in map(types_of, case) if types):
            formats += [part["format"] for part in case if part.get("format") in FORMATS]
    if formats:
        forms = [form for form in BY_FORM if form in formats]
        several = tuple(forms) if len(forms) > 1 else None
        return {**_EXACT_TEXTS, "format": several or (forms or formats)[0]}
    return _EXACT_TEXTS if is_fixed else {}


def _fixes_texts(part: Schema) -> bool:
    """Whether a schema says how texts are written, whatever they mean."""
    return "pattern" in part or str in map(type, _fixed(part))


def _of_numbers(cases: list[Case], keywords: frozenset[str]) -> dict[str, Any]:
    free = cases
    if not _FIXING.isdisjoint(keywords):
        free = [case for case in cases if not any(map(_fixes_numbers, case))]
    kinds = set(map(_kind_of_number, free))
    if "number" not in kinds and ("integer" in kinds or len(free) < len(cases)):
        return {**_EXACT_NUMBERS}
    settings: dict[str, Any] = {"is_number": True} if "number" in kinds else {}
    if "multipleOf" in keywords:
        grids = [_grid(case) for case in free if _may_be_number(case)]
        finest = min([grid for grid in grids if grid], default=None)
        if finest and None not in grids:
            settings.update(_ON_GRID, multiple_of=finest)
    return settings


def _grid(case: Case) -> float | None:
    """Return the finest grid of the schemas that hold together; that of integers is 1 at least."""
    named: list[Any] = [part.get("multipleOf") for part in case]
    grids = [grid for grid in named if type(grid) in (int, float) and grid > 0]
    if not grids and _kind_of_number(case) == "integer":
        return 1
    return min(grids, default=None)


def _kind_of_number(case: Case) -> str | None:
    """Say whether a value for which these schemas hold is an integer or a number; or neither."""
    kind = None
    for part in case:
        types = types_of(part)
        if "number" in types:
            kind = kind or "number"
        elif "integer" in types:
            kind = "integer"
        elif types:
            return None
    return kind


def _may_be_number(case: Case) -> bool:
    """Whether a value for which these schemas hold may be a number."""
    named = [types for types in map(types_of, case) if types]
    return all(not _NUMERIC.isdisjoint(types) for types in named) and all(
        _FIXING.isdisjoint(part) or _fixes_numbers(part) for part in case
    )


def _fixes_numbers(part: Schema) -> bool:
    return not _NUMBERS.isdisjoint(map(type, _fixed(part)))


def types_of(part: Schema) -> list[str]:
    """Return the types that a schema names."""
    types = part.get("type")
    return types if isinstance(types, list) else [types] if types else []


def _fixed(part: Schema) -> list[Any]:
    """Return the values that a schema names."""
    named = list_of(part, "enum") if "enum" in part else []
    return [*named, part["const"]] if "const" in part else named
