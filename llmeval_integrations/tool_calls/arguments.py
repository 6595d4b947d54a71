"""Comparing what a call was given with what it should have been given. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.json_matching import match
from llmeval_integrations.json_pointer import escape
from llmeval_integrations.json_tree import Comparison, Difference
from llmeval_integrations.json_value import canonical, equal
from llmeval_integrations.sample import MISSING
from llmeval_integrations.tool_calls.expected import ANY_OF, AnyOf, written
from llmeval_integrations.tool_calls.schema_parts import SchemaPart

Arguments = Literal["exact", "subset", "superset", "ignore"]
"""Which arguments a call must have.

`exact`: those expected and no others. `subset`: no others, and some may be left out.
`superset`: those expected, and perhaps others. `ignore`: whatever it likes.
"""

ARGUMENTS: Final[tuple[str, ...]] = get_args(Arguments)

_SHOWN = 60
_SCALARS = frozenset((str, int, float, bool, type(None)))


class WrongArgument(msgspec.Struct, frozen=True):
    """One place in a call's arguments that is not as expected."""

    path: str
    """The place as a JSON Pointer within the arguments."""

    kind: str
    """`mismatch`, `wrong_type`, `missing`, `extra`, or `invalid` where only the tool's schema
    has something against it."""

    output: Any = MISSING
    reference: Any = MISSING
    message: str | None = None
    """What the schema has against it."""

    def __str__(self) -> str:
        if self.message is not None:
            return f"{self.path} invalid: {self.message}"
        accepted = self.reference.get(ANY_OF) if isinstance(self.reference, dict) else None
        if accepted and self.kind in ("mismatch", "wrong_type"):
            several = " or ".join(map(_short, accepted[:3]))
            more = f" or {len(accepted) - 3} more" if len(accepted) > 3 else ""
            return f"{self.path} {_short(self.output)}, expected {several}{more}"
        return str(Difference(self.path, self.kind, self.output, self.reference))  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, Any]:
        """Give what is known, as JSON values."""
        known = {field: getattr(self, field) for field in self.__struct_fields__}
        return {
            name: value
            for name, value in known.items()
            if value is not MISSING and not (name == "message" and value is None)
        }


class ComparedArguments(msgspec.Struct, frozen=True):
    """The arguments of one call beside those of another."""

    counted: frozenset[str]
    """The names of those of either side that count."""

    wrong: dict[str, list[WrongArgument]]
    """What is wrong, by the argument's name; the others are right."""

    settled: frozenset[str] = frozenset()
    """Those that have a value of the reference; a default may be right and yet not valid."""

    @property
    def score(self) -> float:
        """The share of what is right: the name, and each argument."""
        parts = 1 + len(self.counted)
        return (parts - len(self.wrong)) / parts


def compare_arguments(
    output: dict[str, Any], expected: dict[str, Any], schema: SchemaPart, how: Arguments
) -> ComparedArguments:
    """Compare the arguments of two calls of the same tool, one by one."""
    if how == "ignore":
        return ComparedArguments(frozenset(), {})
    counted, wrong, settled = set(), {}, set()
    for name in dict.fromkeys([*expected, *output]):
        if name not in output and (how == "subset" or _optional(expected[name])):
            continue
        if name not in expected and how == "superset":
            continue
        counted.add(name)
        given, wanted = output.get(name, MISSING), expected.get(name, MISSING)
        if _same_scalar(given, wanted):
            settled.add(name)
            continue
        part, place = schema.member(name), f"/{escape(name)}"
        found = list(_of_member(given, wanted, part, place))
        if found:
            wrong[name] = found
        elif not (given is MISSING or wanted is MISSING) and not any(
            _differences(given, wanted, part, place)
        ):
            settled.add(name)
    return ComparedArguments(frozenset(counted), wrong, frozenset(settled))


def _same_scalar(output: Any, expected: Any) -> bool:
    """Whether two values are plainly the same, which most are."""
    return type(output) is type(expected) and type(output) in _SCALARS and bool(output == expected)


def _optional(expected: Any) -> bool:
    return isinstance(expected, AnyOf) and expected.optional


def _of_member(
    output: Any, expected: Any, schema: SchemaPart, place: str
) -> Iterator[WrongArgument]:
    """Compare an argument, or a member of an object; left out means the default in the schema."""
    if output is MISSING:
        if _optional(expected):
            return
        default = schema.default
        if default is MISSING or any(_differences(default, expected, schema, place)):
            yield WrongArgument(place, "missing", reference=written(expected))
    elif expected is MISSING:
        if not _is_default(output, schema):
            yield WrongArgument(place, "extra", output)
    elif not (_optional(expected) and _is_default(output, schema)):
        yield from _differences(output, expected, schema, place)


def _is_default(output: Any, schema: SchemaPart) -> bool:
    default = schema.default
    return default is not MISSING and not any(_differences(output, default, schema, ""))


def _differences(
    output: Any, expected: Any, schema: SchemaPart, place: str
) -> Iterator[WrongArgument]:
    """Compare two values that are there."""
    if isinstance(expected, AnyOf):
        yield from _of_choice(output, expected, schema, place)
    elif isinstance(output, dict) and isinstance(expected, dict):
        for name in dict.fromkeys([*expected, *output]):
            yield from _of_member(
                output.get(name, MISSING),
                expected.get(name, MISSING),
                schema.member(name),
                f"{place}/{escape(name)}",
            )
    elif isinstance(output, list) and isinstance(expected, list):
        of_items = _of_sets if schema.unordered else _of_arrays
        yield from of_items(output, expected, schema, place)
    elif type(output) is type(expected) and type(output) in _SCALARS:
        if output != expected:
            yield WrongArgument(place, "mismatch", output, expected)
    elif isinstance(expected, (dict, list)) or not equal(output, expected):
        for found in Comparison().differences(output, written(expected), place):
            yield WrongArgument(found.pointer, found.kind, found.output, found.reference)


def _of_choice(
    output: Any, expected: AnyOf, schema: SchemaPart, place: str
) -> Iterator[WrongArgument]:
    """Compare with each accepted value; the nearest says what is wrong where none will do."""
    nearest: list[WrongArgument] | None = None
    for value in expected.values:
        found = list(_differences(output, value, schema, place))
        if not found:
            return
        if nearest is None or len(found) < len(nearest):
            nearest = found
    if nearest is not None and any(wrong.path != place for wrong in nearest):
        yield from nearest
        return
    if nearest is None:
        yield WrongArgument(place, "extra", output)
        return
    kinds = {wrong.kind for wrong in nearest}
    kind = "wrong_type" if kinds == {"wrong_type"} else "mismatch"
    yield WrongArgument(place, kind, output, written(expected))


def _of_arrays(
    output: list[Any], expected: list[Any], schema: SchemaPart, place: str
) -> Iterator[WrongArgument]:
    for position, (item, other) in enumerate(zip(output, expected)):
        yield from _differences(item, other, schema.item(position), f"{place}/{position}")
    for position in range(len(expected), len(output)):
        yield WrongArgument(f"{place}/{position}", "extra", output[position])
    for position in range(len(output), len(expected)):
        missing = written(expected[position])
        yield WrongArgument(f"{place}/{position}", "missing", reference=missing)


_MOST_IN_A_SET = 100


def _of_sets(
    output: list[Any], expected: list[Any], schema: SchemaPart, place: str
) -> Iterator[WrongArgument]:
    """Compare arrays without order; those that are not the same set are told item by item."""
    if len(output) != len(expected):
        yield from _of_arrays(output, expected, schema, place)
    elif len(output) > _MOST_IN_A_SET:  # choices among the items are taken for what they say
        if sorted(map(canonical, output)) != sorted(canonical(written(one)) for one in expected):
            yield from _of_arrays(output, expected, schema, place)
    else:
        # Once for both questions: asked again at each level, nested sets would take 2 ** depth.
        beside = [
            list(_differences(item, other, schema.item(position), f"{place}/{position}"))
            for position, (item, other) in enumerate(zip(output, expected))
        ]
        if any(beside) and not _same_set(output, expected, schema, beside):
            yield from chain.from_iterable(beside)


def _same_set(
    output: list[Any], expected: list[Any], schema: SchemaPart, beside: list[list[WrongArgument]]
) -> bool:
    """Whether two arrays of one length have the same items, given what differs place by place."""
    fitting = []
    for there, other in enumerate(expected):
        part = schema.item(there)
        found = [
            here
            for here, item in enumerate(output)
            if not (beside[here] if here == there else any(_differences(item, other, part, "")))
        ]
        if not found:
            return False
        fitting.append(found)
    return len(match(fitting, len(output))) == len(expected)


def _short(value: Any) -> str:
    text = canonical(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
