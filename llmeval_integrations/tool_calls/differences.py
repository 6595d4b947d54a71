"""What differs between what a call was given and what it should have been given, and where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Final, cast

import msgspec

from llmeval_integrations.core.quoting import cut
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS, canonical, equal
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.assignment import best_pairs
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import Kind, Outcome
from llmeval_integrations.matching.patch import describe
from llmeval_integrations.matching.plain import Plain
from llmeval_integrations.tool_calls.coercing import spelled
from llmeval_integrations.tool_calls.expected import ANY_OF, AnyOf, written
from llmeval_integrations.tool_calls.normal_form import (
    Texts,
    known_parts,
    unequal_items,
)
from llmeval_integrations.tool_calls.schema_parts import SchemaPart

MAX_IN_A_SET: Final = 10_000
"""The most pairs of items of an array without order that are compared, once the items that are
equal have been paired. Beyond it they are paired as they come."""

MAX_IN_SETS: Final = 250_000
"""The same for all such arrays of a sample together."""

_SHOWN = 60

_Parts = dict[int, frozenset[tuple[str | int, str | None]]]
"""What is known of items of an array, by their positions."""


class WrongArgument(msgspec.Struct, frozen=True):
    """One place in a call's arguments that is not as expected."""

    pointer: str
    """The place within the arguments, as a JSON Pointer."""

    kind: str
    """`mismatch`, `wrong_type`, `missing`, `extra`, or `invalid` where only the tool's schema
    has something against it."""

    output: Any = MISSING
    reference: Any = MISSING
    message: str | None = None
    """What the schema has against it."""

    def __str__(self) -> str:
        if self.message is not None:
            return f"{self.pointer} invalid: {self.message}".lstrip()
        accepted = self.reference.get(ANY_OF) if isinstance(self.reference, dict) else None
        if accepted and self.kind in ("mismatch", "wrong_type"):
            several = " or ".join(map(_short, accepted[:3]))
            more = f" or {len(accepted) - 3} more" if len(accepted) > 3 else ""
            return f"{self.pointer} {_short(self.output)}, expected {several}{more}"
        kind = cast("Kind", self.kind)
        found = Outcome(self.pointer, Plain(), kind, 0.0, self.output, self.reference)
        return describe(found)

    def as_dict(self) -> dict[str, Any]:
        """Return what is known, as JSON values."""
        known = {field: getattr(self, field) for field in self.__struct_fields__}
        return {
            name: value
            for name, value in known.items()
            if value is not MISSING and not (name == "message" and value is None)
        }


class Differences:
    """Finds what differs in the arguments of a sample's calls."""

    def __init__(self) -> None:
        self.limit_reached = False
        """Whether items of arrays without order were paired without comparing each with each."""
        self._tried = 0
        self._defaults: dict[tuple[int, int], bool] = {}

    def same(self, output: Any, expected: Any, schema: SchemaPart) -> bool:
        """Whether nothing differs."""
        return not any(self.of_values(output, expected, schema, ""))

    def of_member(
        self, output: Any, expected: Any, schema: SchemaPart, place: str
    ) -> Iterator[WrongArgument]:
        """Compare an argument, or a member of an object; left out means the schema's default."""
        if output is MISSING:
            if not (is_optional(expected) or self.is_default(expected, schema)):
                yield WrongArgument(place, "missing", reference=written(expected))
        elif expected is MISSING:
            if not self.is_default(output, schema):
                yield WrongArgument(place, "extra", written(output))
        elif not (is_optional(expected) and self.is_default(output, schema)):
            yield from self.of_values(output, expected, schema, place)

    def is_default(self, value: Any, schema: SchemaPart) -> bool:
        """Whether the default is this value, or one of those for which there is a choice."""
        if schema.default is MISSING:
            return False
        if type(value) in SCALARS:
            return self.same(schema.default, value, schema)
        key = id(value), id(schema)
        if key not in self._defaults:
            self._defaults[key] = False  # where a default has itself within
            self._defaults[key] = self.same(schema.default, value, schema)
        return self._defaults[key]

    def of_values(
        self, output: Any, expected: Any, schema: SchemaPart, place: str
    ) -> Iterator[WrongArgument]:
        """Compare two values that are there."""
        if isinstance(expected, AnyOf):
            yield from self._of_choice(output, expected, schema, place)
            return
        output, expected = spelled(output, expected), spelled(expected, output)
        if isinstance(output, dict) and isinstance(expected, dict):
            # What is left out has the default of the alternative that the rest is meant for.
            here, there = schema.of(output), schema.of(expected)
            for name in dict.fromkeys([*expected, *output]):
                yield from self.of_member(
                    output.get(name, MISSING),
                    expected.get(name, MISSING),
                    (here if name in expected else there).member(name),
                    f"{place}/{escape(name)}",
                )
        elif isinstance(output, list) and isinstance(expected, list):
            schema = schema.of(output)
            of_items = self._of_sets if schema.unordered else self._of_arrays
            yield from of_items(output, expected, schema, place)
        elif type(output) is type(expected) and type(output) in SCALARS:
            if output != expected:
                yield WrongArgument(place, "mismatch", output, expected)
        elif isinstance(expected, (dict, list)) or not equal(output, expected):
            comparison = Comparison()
            comparison.compare(Plain(), written(output), written(expected), place)
            for found in comparison.outcomes:
                yield WrongArgument(found.pointer, found.kind, found.output, found.reference)

    def _of_choice(
        self, output: Any, expected: AnyOf, schema: SchemaPart, place: str
    ) -> Iterator[WrongArgument]:
        """Compare with each accepted value; the nearest says what is wrong where none will do."""
        nearest: list[WrongArgument] | None = None
        for value in expected.values:
            found = list(self.of_values(output, value, schema, place))
            if not found:
                return
            if nearest is None or len(found) < len(nearest):
                nearest = found
        if nearest is not None and any(wrong.pointer != place for wrong in nearest):
            yield from nearest
            return
        if nearest is None:
            yield WrongArgument(place, "extra", written(output))
            return
        kinds = {wrong.kind for wrong in nearest}
        kind = "wrong_type" if kinds == {"wrong_type"} else "mismatch"
        yield WrongArgument(place, kind, written(output), written(expected))

    def _of_arrays(
        self, output: list[Any], expected: list[Any], schema: SchemaPart, place: str
    ) -> Iterator[WrongArgument]:
        for position, (item, other) in enumerate(zip(output, expected)):
            yield from self.of_values(item, other, schema.item(position), f"{place}/{position}")
        yield from _extra(output, range(len(expected), len(output)), place)
        yield from _missing(expected, range(len(output), len(expected)), place)

    def _of_sets(
        self, output: list[Any], expected: list[Any], schema: SchemaPart, place: str
    ) -> Iterator[WrongArgument]:
        """Compare arrays without order: equal items are paired, then those that differ least."""
        spare, wanted = unequal_items(output, expected, schema)
        pairs = list(zip(spare, wanted))
        # Each pair is compared once, nested sets would take 2 ** depth otherwise; and only to the
        # first difference, unless the others are to be told.
        begun: dict[tuple[int, int], tuple[WrongArgument | None, Iterator[WrongArgument]]] = {}
        if _is_unclear(output, expected, spare, wanted):
            if self._may_try(len(spare) * len(wanted)):
                for here, there in product(spare, wanted):
                    if spare[here] is None or wanted[there] is None:
                        item, other, part = output[here], expected[there], schema.item(there)
                        found = self.of_values(item, other, part, f"{place}/{here}")
                        begun[here, there] = next(found, None), found
                fitting = {pair for pair, (first, _) in begun.items() if first is None}
                parts = {n: known_parts(output[n], schema.item(n)) for n in spare}
                others = {n: known_parts(expected[n], schema.item(n)) for n in wanted}
                pairs = _nearest(parts, others, fitting)
            else:  # the order of the items does not count
                pairs = list(zip(_by_text(output, spare), _by_text(expected, wanted)))
        for here, there in sorted(pairs):
            first, rest = begun.get((here, there), (None, None))
            if first is not None:
                yield first
            yield from rest or self.of_values(
                output[here], expected[there], schema.item(there), f"{place}/{here}"
            )
        yield from _extra(output, _without(spare, {here for here, _ in pairs}), place)
        yield from _missing(expected, _without(wanted, {there for _, there in pairs}), place)

    def _may_try(self, count: int) -> bool:
        """Whether as many pairs of items may be compared."""
        if count > MAX_IN_A_SET or self._tried + count > MAX_IN_SETS:
            self.limit_reached = True
            return False
        self._tried += count
        return True


def is_optional(expected: Any) -> bool:
    """Whether the value may be left out."""
    return isinstance(expected, AnyOf) and expected.optional


def _is_unclear(output: list[Any], expected: list[Any], spare: Texts, wanted: Texts) -> bool:
    """Whether it takes a comparison to pair items: a text or number is as far from any other."""
    if None in spare.values() or None in wanted.values():
        return bool(spare and wanted)
    here = any(type(output[position]) in CONTAINERS for position in spare)
    return here and any(type(expected[position]) in CONTAINERS for position in wanted)


def _nearest(parts: _Parts, others: _Parts, fitting: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pair as many items as can be: first those that fit, then those that have most in common."""
    weights = [[1 + len(one & other) for other in others.values()] for one in parts.values()]
    most = 1 + sum(map(max, weights))
    for row, here in enumerate(parts):
        for column, there in enumerate(others):
            if (here, there) in fitting:
                weights[row][column] = most
    positions, places = list(parts), list(others)
    return [(positions[row], places[column]) for row, column in best_pairs(weights)]


def _by_text(items: list[Any], positions: Iterable[int]) -> list[int]:
    return sorted(positions, key=lambda position: canonical(written(items[position])))


def _without(positions: Iterable[int], paired: set[int]) -> list[int]:
    return [position for position in positions if position not in paired]


def _extra(items: list[Any], positions: Iterable[int], place: str) -> Iterator[WrongArgument]:
    for position in positions:
        yield WrongArgument(f"{place}/{position}", "extra", written(items[position]))


def _missing(items: list[Any], positions: Iterable[int], place: str) -> Iterator[WrongArgument]:
    for position in positions:
        yield WrongArgument(f"{place}/{position}", "missing", reference=written(items[position]))


def _short(value: Any) -> str:
    return cut(canonical(value), _SHOWN)
