"""What a JSON Schema says of how values are compared, in its plain keywords."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias, TypeVar

from llmeval_integrations.fields.decimals import are_decimals
from llmeval_integrations.fields.meanings import BY_FORM
from llmeval_integrations.fields.rule import FORMATS
from llmeval_integrations.schemas.document import SchemaDocument, items_of, list_of, matches

Part: TypeAlias = dict[str, Any]
"""One of the schemas that hold, or may hold, for a place."""

Case: TypeAlias = tuple[Part, ...]
"""Schemas that hold together; a place has a case for each of the alternatives it is given."""

Group = TypeVar("Group", bound=Sequence[Part])

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

# All lead to the same place in a document without parts that have an `$id` of their own.
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")

_ALTERNATIVES: Final = frozenset(("anyOf", "oneOf", "then", "else"))

_MOST_WAYS: Final = 256
"""The most combinations of schemas that are told apart as what may hold for a member or an item.

Of more, which a schema that contains itself may have without end, each schema is a case by itself.
"""

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


def cases_of(schemas: Iterable[Any], document: SchemaDocument) -> tuple[Case, ...]:
    """Return the cases of a place for which these schemas hold; none where they say nothing.

    References within the document are followed; what points elsewhere says nothing. Where several
    keywords have alternatives, each of these is a case, and not each of their combinations, which
    are too many.
    """
    cases: list[Case] = []
    followed: set[int] = set()  # since alternatives may contain each other
    waiting: list[tuple[Case, Iterable[Any]]] = [((), schemas)]
    for case, more in waiting:
        added = _together(more, document)
        told = case + tuple([part for part in added if not _TELLING.isdisjoint(part)])
        branches = [
            branch
            for part in added
            if not _ALTERNATIVES.isdisjoint(part)
            for branch in _alternatives(part)
            if not isinstance(branch, dict) or id(branch) not in followed
        ]
        followed.update(map(id, branches))
        waiting += [(told, [branch]) for branch in branches]
        if told and not branches:
            cases.append(told)
    return tuple(_different(cases))


def _together(schemas: Iterable[Any], document: SchemaDocument) -> list[Part]:
    """Return these schemas and all that hold wherever they do."""
    found: dict[int, Part] = {}
    waiting = [*schemas]
    for part in waiting:
        if isinstance(part, dict) and id(part) not in found:
            found[id(part)] = part
            waiting += [document.resolve(part[name]) for name in _REFERENCES if name in part]
            if "allOf" in part:
                waiting += list_of(part, "allOf")
    return [*found.values()]


def _alternatives(part: Part) -> Iterator[Any]:
    """Yield what may hold where a schema does."""
    yield from list_of(part, "anyOf")
    yield from list_of(part, "oneOf")
    if "then" in part or "else" in part:
        yield part.get("then")
        yield part.get("else")


def _cases_of_any(ways: Sequence[Iterable[Any]], document: SchemaDocument) -> tuple[Case, ...]:
    """Return the cases of a place for which the schemas of one of several ways hold."""
    if len(ways) == 1:
        return cases_of(ways[0], document)
    told = _different([schema for schema in way if isinstance(schema, dict)] for way in ways)
    if len(told) > _MOST_WAYS:
        told = _different([schema] for way in told for schema in way)
    return tuple(_different(case for way in told for case in cases_of(way, document)))


def _different(groups: Iterable[Group]) -> list[Group]:
    """Leave out groups of the same schemas."""
    found = [*groups]
    if len(found) > 1:
        found = [*{frozenset(map(id, group)): group for group in found}.values()]
    return found


def member(cases: tuple[Case, ...], name: str, document: SchemaDocument) -> tuple[Case, ...]:
    """Return the cases of an object's member."""
    return _cases_of_any([_members(case, name) for case in cases], document)


def _members(case: Case, name: str) -> Iterator[Any]:
    for part in case:
        properties, patterns = part.get("properties"), part.get("patternProperties")
        found = []
        if isinstance(properties, dict) and name in properties:
            found.append(properties[name])
        if isinstance(patterns, dict):
            found += [schema for pattern, schema in patterns.items() if matches(pattern, name)]
        yield from found or [part.get("additionalProperties")]


def names_in(cases: tuple[Case, ...]) -> frozenset[str]:
    """Return the names of the members of which the schemas say something by name."""
    found = [part["properties"] for part in _parts(cases) if "properties" in part]
    return frozenset().union(*[names for names in found if isinstance(names, dict)])


def has_name_patterns(cases: tuple[Case, ...]) -> bool:
    """Whether a member's schema may hang on how its name is written."""
    return any(isinstance(part.get("patternProperties"), dict) for part in _parts(cases))


def item(cases: tuple[Case, ...], position: int, document: SchemaDocument) -> tuple[Case, ...]:
    """Return the cases of an array's item."""
    return _cases_of_any([_items(case, position) for case in cases], document)


def _items(case: Case, position: int) -> Iterator[Any]:
    for part in case:
        first, rest = items_of(part)
        yield first[position] if position < len(first) else rest


def has_positions(cases: tuple[Case, ...]) -> bool:
    """Whether items at different positions may have different schemas."""
    return any(
        isinstance(part.get("prefixItems"), list) or isinstance(part.get("items"), list)
        for part in _parts(cases)
    )


def _parts(cases: tuple[Case, ...]) -> Iterator[Part]:
    return (part for case in cases for part in case)


def settings_of(cases: tuple[Case, ...], document: SchemaDocument) -> dict[str, Any]:
    """Return what the schemas of a place set."""
    keywords: frozenset[str] = frozenset().union(*_parts(cases))
    settings = _of_numbers(cases, keywords)
    if not _OF_TEXTS.isdisjoint(keywords):
        settings.update(_of_texts(cases))
    if are_decimals(_parts(cases), document):
        settings.update(is_number=True, is_decimal=True)
    if "uniqueItems" in keywords and any(map(_has_no_order, cases)):
        settings["order"] = "any_order"
    return settings


def _has_no_order(case: Case) -> bool:
    """Whether an array's items are unique, and none has a schema by its position."""
    is_unique = any(part.get("uniqueItems") is True for part in case)
    return is_unique and not has_positions((case,))


def _of_texts(cases: tuple[Case, ...]) -> dict[str, Any]:
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


def _fixes_texts(part: Part) -> bool:
    """Whether a schema says how texts are written, whatever they mean."""
    return "pattern" in part or str in map(type, _fixed(part))


def _of_numbers(cases: tuple[Case, ...], keywords: frozenset[str]) -> dict[str, Any]:
    free = cases
    if not _FIXING.isdisjoint(keywords):
        free = tuple(case for case in cases if not any(map(_fixes_numbers, case)))
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


def _fixes_numbers(part: Part) -> bool:
    return not _NUMBERS.isdisjoint(map(type, _fixed(part)))


def types_of(part: Part) -> list[str]:
    """Return the types that a schema names."""
    types = part.get("type")
    return types if isinstance(types, list) else [types] if types else []


def _fixed(part: Part) -> list[Any]:
    """Return the values that a schema names."""
    named = list_of(part, "enum") if "enum" in part else []
    return [*named, part["const"]] if "const" in part else named
