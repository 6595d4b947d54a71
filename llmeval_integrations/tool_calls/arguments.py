"""Which arguments of a call are right. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, get_args

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import SCALARS, equal
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.tool_calls.differences import Differences, WrongArgument, is_optional
from llmeval_integrations.tool_calls.expected import AnyOf
from llmeval_integrations.tool_calls.normal_form import normal_text
from llmeval_integrations.tool_calls.schema_parts import SchemaPart

Arguments = Literal["exact", "subset", "superset", "ignore"]
"""Which arguments a call must have.

`exact`: those expected and no others. `subset`: no others, and some may be left out.
`superset`: those expected, and perhaps others. `ignore`: whatever it likes.
"""

ARGUMENTS: Final[tuple[str, ...]] = get_args(Arguments)


class Given:
    """The arguments of one call, with what is found out once, however often it is compared."""

    def __init__(self, values: dict[str, Any], schema: SchemaPart) -> None:
        self.values = values
        self.schema = schema.of(values)
        self._texts: dict[str, frozenset[str | None]] = {}
        self._defaults: dict[tuple[str, int], bool] = {}

    def texts(self, name: str) -> frozenset[str | None]:
        """Return the texts of an argument, of which there are several where there is a choice.

        Those that are the same have one in common, unless None is among them.
        """
        if name not in self._texts:
            value, part = self.values[name], self.schema.member(name)
            choice = value.values if isinstance(value, AnyOf) else [value]
            self._texts[name] = frozenset(normal_text(one, part) for one in choice)
        return self._texts[name]

    def is_default(self, name: str, other: Given, differences: Differences) -> bool:
        """Whether the other call, which leaves an argument out, has the same."""
        key = name, id(other.schema)
        if key not in self._defaults:
            part = other.schema.member(name)
            self._defaults[key] = differences.is_default(self.values[name], part)
        return self._defaults[key]


class ComparedArguments:
    """The arguments of one call beside those of another of the same tool."""

    def __init__(self, output: Given, expected: Given, differences: Differences) -> None:
        self.output = output
        self.expected = expected
        self.counted: set[str] = set()
        """The names of those of either side that count."""
        self.wrong: set[str] = set()
        """Of those that are wrong; the others are right."""
        self.settled: set[str] = set()
        """Of those that have a value of the reference; a default may be right and yet not valid."""
        self.left_out: set[str] = set()
        """Of those expected that are left out, as they may be."""
        self.invalid: dict[str, list[WrongArgument]] = {}
        """What the tool's schema has against others than these."""
        self._differences = differences

    @property
    def score(self) -> float:
        """The share of what is right: the name, and each argument."""
        counted = self.counted.union(self.invalid) if self.invalid else self.counted
        parts = 1 + len(counted)
        return (parts - len(self.wrong) - len(self.invalid)) / parts

    def wrong_arguments(self) -> Iterator[WrongArgument]:
        """Tell what is wrong with each that is."""
        given, wanted = self.output.values, self.expected.values
        for name in dict.fromkeys([*wanted, *given]) if self.wrong else ():
            if name in self.wrong:
                yield from self._differences.of_member(
                    given.get(name, MISSING),
                    wanted.get(name, MISSING),
                    (self.output if name in wanted else self.expected).schema.member(name),
                    f"/{escape(name)}",
                )
        for found in self.invalid.values():
            yield from found


def compare_arguments(
    output: Given, expected: Given, how: Arguments, differences: Differences
) -> ComparedArguments:
    """Compare the arguments of two calls of the same tool, one by one."""
    compared = ComparedArguments(output, expected, differences)
    if how == "ignore":
        return compared
    given, counted, wrong = output.values, compared.counted, compared.wrong
    for name, wanted in expected.values.items():
        if name in given:
            if _is_same(output, expected, name, differences):
                compared.settled.add(name)
            elif not (is_optional(wanted) and output.is_default(name, expected, differences)):
                wrong.add(name)
        elif how == "subset" or is_optional(wanted):
            compared.left_out.add(name)
            continue
        elif not expected.is_default(name, output, differences):
            wrong.add(name)
        counted.add(name)
    if how != "superset":
        for name in given.keys() - expected.values.keys():
            counted.add(name)
            if not output.is_default(name, expected, differences):
                wrong.add(name)
    return compared


def _is_same(output: Given, expected: Given, name: str, differences: Differences) -> bool:
    """Whether an argument that both have is the same in both."""
    value, wanted = output.values[name], expected.values[name]
    kind = type(value)
    if kind is type(wanted) and kind in SCALARS:  # as most are
        return bool(value == wanted)
    if equal(value, wanted):
        return True
    texts, accepted = output.texts(name), expected.texts(name)
    if None in texts or None in accepted:
        return differences.same(value, wanted, output.schema.member(name))
    return not texts.isdisjoint(accepted)
