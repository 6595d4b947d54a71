"""Comparing two JSON values path by path. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Literal

import msgspec

from llmeval_integrations.core.printable import printable
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import (
    CONTAINERS,
    SCALARS,
    canonical,
    equal,
    write_scalar,
    written_alike,
)
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.json_bags import Bags, same_scalar
from llmeval_integrations.text.excerpt import side_by_side

Kind = Literal["mismatch", "wrong_type", "missing", "extra"]
_Pair = tuple[Any, Any, str]
"""Two values that are to be compared, and the JSON Pointer of their place."""


class Difference(msgspec.Struct, frozen=True):
    """One place where the output is not the reference."""

    pointer: str
    """The place as a JSON Pointer (RFC 6901). Where an array is compared in any order, the
    position of a missing item is that in the reference, all others are the output's."""

    kind: Kind
    """`mismatch`: another value of the same type; `missing`: only in the reference; `extra`:
    only in the output."""

    output: Any = MISSING
    reference: Any = MISSING

    at_end: bool = False
    """Whether what is missing goes to the end of its array, wherever it stands in the reference."""

    def __str__(self) -> str:
        where = self.pointer or "the whole"
        if self.kind in ("missing", "extra"):
            return printable(f"{where} {self.kind}")
        output, reference = side_by_side(_text(self.output), _text(self.reference), _SHOWN)
        return printable(f"{where} {output}, expected {reference}")


class Comparison(msgspec.Struct, kw_only=True):
    """One comparison of two values: how it is done, and where it had to stop short."""

    ordered: bool = True
    """Whether the order of array items counts."""

    ignore_extra: bool = False
    """Whether the output's objects may have keys that the reference has not."""

    unmatched: list[str] = []
    """The array at which MAX_PAIRS ran out, if any did. There, and in those that come after it,
    the items were not all tried against each other, and too many may be called different."""

    bags: Bags = msgspec.field(default_factory=Bags)
    """What is known of the arrays that were compared in any order."""

    def differences(self, output: Any, reference: Any, place: str = "") -> Iterator[Difference]:
        """Find what has to change for the output to be the reference.

        Within one array what is to be removed comes last and backwards, so that the
        differences can be applied one after another.
        """
        # Python's own recursion would end at some hundred levels.
        levels: list[Iterator[Difference | _Pair]] = [self._look(output, reference, place)]
        while levels:
            for found in levels[-1]:
                if isinstance(found, Difference):
                    yield found
                else:
                    levels.append(self._look(*found))
                    break
            else:
                levels.pop()

    def _look(self, output: Any, reference: Any, place: str) -> Iterator[Difference | _Pair]:
        """Compare one value, and give the pairs of parts that are to be compared next."""
        if type(output) is dict and type(reference) is dict:
            return self._of_objects(output, reference, place)
        if type(output) is list and type(reference) is list:
            of_arrays = self._of_arrays if self.ordered else self._of_bags
            return of_arrays(output, reference, place)
        if same_scalar(output, reference):
            return iter(())
        kind: Kind = "mismatch" if _type(output) == _type(reference) else "wrong_type"
        return iter((Difference(place, kind, output, reference),))

    def _of_objects(self, output: Any, reference: Any, place: str) -> Iterator[Difference | _Pair]:
        for key, expected in reference.items():
            value = output.get(key, MISSING)
            if value is MISSING:
                yield Difference(f"{place}/{escape(key)}", "missing", reference=expected)
            elif type(value) is type(expected) and type(value) in SCALARS:
                if value is not expected and value != expected:
                    yield Difference(f"{place}/{escape(key)}", "mismatch", value, expected)
            elif _may_differ(value, expected, place):
                yield value, expected, f"{place}/{escape(key)}"
        if not self.ignore_extra:
            for key, value in output.items():
                if key not in reference:
                    yield Difference(f"{place}/{escape(key)}", "extra", value)

    def _of_arrays(self, output: Any, reference: Any, place: str) -> Iterator[Difference | _Pair]:
        # Where items are missing or extra, those around them are still the same ones.
        start, end = _common_ends(output, reference) if len(output) != len(reference) else (0, 0)
        here, there = len(output) - end, len(reference) - end
        for position in range(start, min(here, there)):
            value, expected = output[position], reference[position]
            if _may_differ(value, expected, place):
                yield value, expected, f"{place}/{position}"
        yield from _leftover(
            [(n, output[n]) for n in range(there, here)],
            [(n, reference[n]) for n in range(here, there)],
            place,
            at_end=not end,
        )

    def _of_bags(self, output: Any, reference: Any, place: str) -> Iterator[Difference | _Pair]:
        """Pair equal items first, then whatever fits, then the rest in order."""
        spare, wanted = self.bags.unpaired(output, reference, ignore_extra=self.ignore_extra)
        if self.bags.exhausted and not self.unmatched:
            self.unmatched.append(place)
        paired = min(len(spare), len(wanted))
        for here, there in zip(spare, wanted):
            yield output[here], reference[there], f"{place}/{here}"
        yield from _leftover(
            [(n, output[n]) for n in spare[paired:]],
            [(n, reference[n]) for n in wanted[paired:]],
            place,
        )


def patch(differences: list[Difference]) -> list[dict[str, Any]]:
    """Write differences as an RFC 6902 patch that turns the output into the reference."""
    operations: list[dict[str, Any]] = []
    for difference in differences:
        path = difference.pointer
        if difference.kind == "extra":
            operations.append({"op": "remove", "path": path})
        elif difference.kind == "missing":
            if difference.at_end:
                path = path[: path.rindex("/")] + "/-"
            operations.append({"op": "add", "path": path, "value": difference.reference})
        else:
            operations.append({"op": "replace", "path": path, "value": difference.reference})
    return operations


def summarize(differences: list[Difference], most: int = 3) -> str:
    """Name the first differences in one line, and how many more there are."""
    named = "; ".join(map(str, differences[:most]))
    more = len(differences) - most
    return f"{named}; and {more} more" if more > 0 else named


_SHOWN = 60

# Parts that are written alike are skipped, which is quicker than walking them. Not too far
# down: each level writes all below it anew.
_SKIPPING = 8


def _type(value: Any) -> str:
    """Return the JSON type's name."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float, Decimal)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array"


def _may_differ(output: Any, reference: Any, place: str) -> bool:
    """Whether two parts have to be looked at; a quick no, and never a wrong one."""
    if type(output) is not type(reference):
        return True
    if output is reference or output != reference:
        return output is not reference
    # Equal to Python, which takes true for 1.
    return type(output) in CONTAINERS and (
        place.count("/") > _SKIPPING or not written_alike(output, reference)
    )


def _common_ends(output: list[Any], reference: list[Any]) -> tuple[int, int]:
    """Count the items that are equal from the beginning, and of the rest from the end."""
    most = min(len(output), len(reference))
    start = 0
    while start < most and equal(output[start], reference[start]):
        start += 1
    end = 0
    while end < most - start and equal(output[-1 - end], reference[-1 - end]):
        end += 1
    return start, end


def _leftover(
    spare: list[tuple[int, Any]], wanted: list[tuple[int, Any]], place: str, *, at_end: bool = True
) -> Iterator[Difference]:
    """Yield the items that only one side has; those to remove last and backwards."""
    for position, item in wanted:
        yield Difference(f"{place}/{position}", "missing", reference=item, at_end=at_end)
    for position, item in reversed(spare):
        yield Difference(f"{place}/{position}", "extra", item)


def _text(value: Any) -> str:
    return canonical(value) if type(value) in CONTAINERS else write_scalar(value)
