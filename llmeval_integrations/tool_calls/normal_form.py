"""One text for all the values that a tool's schema makes the same. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS, canonical, write_scalar
from llmeval_integrations.tool_calls.expected import AnyOf, AnySpelling
from llmeval_integrations.tool_calls.schema_parts import SchemaPart

_Begun = tuple[SchemaPart, ...]
"""The parts whose defaults are being written, each within the one before."""


class _UndecidedError(Exception):
    """No text tells what the value is the same as."""


def normal_text(value: Any, schema: SchemaPart) -> str | None:
    """Write a value so that those, and only those, that are the same have the same text.

    Members that have the default are left out, and the items of an array without order sorted.
    None where there is a choice, where such an array has a schema for each place, where the members
    of an object do not say which alternative of the schema it is, and where a default has itself
    within: what these are the same as, a comparison has to find out.
    """
    if type(value) in SCALARS:
        return write_scalar(value)
    try:
        return canonical(_reduced(value, schema, ()))
    except _UndecidedError:
        return None


def _reduced(value: Any, schema: SchemaPart, begun: _Begun) -> Any:
    if isinstance(value, (AnyOf, AnySpelling)):
        raise _UndecidedError
    if isinstance(value, dict):
        meant, reduced = schema.of(value), {}
        if meant.has_kinds_of_objects:
            raise _UndecidedError
        for name, item in value.items():
            part = meant.member(name)
            kept = item if type(item) in SCALARS else _reduced(item, part, begun)
            if part.default is MISSING or not _is_default(kept, part, begun):
                reduced[name] = kept
        # What says which alternative it is may have been left out.
        return {meant.key: reduced} if schema.has_kinds_of_objects else reduced
    if not isinstance(value, list):
        return value
    schema, items = schema.of(value), []
    for position, item in enumerate(value):
        items.append(_reduced(item, schema.item(position), begun))
    if schema.unordered and len(items) > 1:
        if schema.is_positional:
            raise _UndecidedError
        items.sort(key=canonical)
    return items


def _is_default(reduced: Any, schema: SchemaPart, begun: _Begun) -> bool:
    kind, other = type(reduced), type(schema.default)
    if kind is not other and (kind in CONTAINERS or other in CONTAINERS):
        return False
    return canonical(reduced) == _default_text(schema, begun)


def _default_text(schema: SchemaPart, begun: _Begun) -> str:
    """Write the default, once for a part: each level of it may have defaults again."""
    text = schema.default_text
    if text is None:
        if schema in begun:
            raise _UndecidedError
        text = canonical(_reduced(schema.default, schema, (*begun, schema)))
        schema.default_text = text
    return text


Texts = dict[int, str | None]
"""The texts of some items of an array, by their positions."""


def unequal_items(
    output: list[Any], expected: list[Any], schema: SchemaPart
) -> tuple[Texts, Texts]:
    """Pair the items of two arrays without order that have the same text, and give the others."""
    places: defaultdict[str | None, list[int]] = defaultdict(list)
    texts, wanted_texts = _item_texts(output, schema), _item_texts(expected, schema)
    for position in range(len(output) - 1, -1, -1):
        places[texts[position]].append(position)
    wanted: Texts = {}
    for position, text in enumerate(wanted_texts):
        equals = places.get(text)
        if text is not None and equals:
            equals.pop()
        else:
            wanted[position] = text
    spare = sorted(position for left in places.values() for position in left)
    return {position: texts[position] for position in spare}, wanted


def _item_texts(items: list[Any], schema: SchemaPart) -> list[str | None]:
    if schema.is_positional:
        return [None] * len(items)
    return [normal_text(item, schema.item(position)) for position, item in enumerate(items)]


def known_parts(value: Any, schema: SchemaPart) -> frozenset[tuple[str | int, str | None]]:
    """Return the members or items of a value with their texts, without those that have none."""
    parts: list[tuple[str | int, str | None]] = []
    schema = schema.of(value) if isinstance(value, (dict, list)) else schema
    if isinstance(value, dict):
        parts = [(name, normal_text(one, schema.member(name))) for name, one in value.items()]
    elif isinstance(value, list):
        texts = _item_texts(value, schema)
        parts = [(0 if schema.unordered else n, text) for n, text in enumerate(texts)]
    return frozenset(part for part in parts if part[1] is not None)
