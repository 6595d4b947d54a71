"""Which arguments of a call are right, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.quoting import cut
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import SCALARS, canonical, equal
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import AnyOf, Outcome
from llmeval_integrations.matching.pairing import Pairing
from llmeval_integrations.matching.patch import describe
from llmeval_integrations.tool_calls.expected import ANY_OF, is_optional, write
from llmeval_integrations.tool_calls.node import ANYTHING, ToolNode

Arguments = Literal["exact", "subset", "superset", "ignore"]
"""Which arguments a call must have.

`exact`: those expected and no others. `subset`: no others, and some may be left out.
`superset`: those expected, and perhaps others. `ignore`: whatever it likes.
"""

ARGUMENTS: Final[tuple[str, ...]] = get_args(Arguments)

_SHOWN: Final = 60


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
        kind: Any = self.kind
        return describe(Outcome(self.pointer, ANYTHING, kind, 0.0, self.output, self.reference))

    def as_dict(self) -> dict[str, Any]:
        """Return what is known, as JSON values."""
        known = {field: getattr(self, field) for field in self.__struct_fields__}
        return {
            name: value
            for name, value in known.items()
            if value is not MISSING and not (name == "message" and value is None)
        }


class ComparedArguments:
    """The arguments of a call beside those that are expected of the same tool."""

    def __init__(
        self,
        output: dict[str, Any],
        expected: dict[str, Any],
        node: ToolNode,
        how: Arguments,
        pairing: Pairing,
    ) -> None:
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
        self._comparison = Comparison(pairing)
        # What a side leaves out has the default of the alternative that the rest is meant for.
        self._here, self._there = node.narrow(output), node.narrow(expected)
        if how != "ignore":
            self._compare_expected(how)
        if how in ("exact", "subset"):
            self._compare_others()

    def _compare_expected(self, how: Arguments) -> None:
        for name, wanted in self.expected.items():
            if name in self.output:
                value = self.output[name]
                if self._is_same(name, value, wanted):
                    self.settled.add(name)
                elif not (is_optional(wanted) and self._is_default(self._here, name, value)):
                    self.wrong.add(name)
            elif how == "subset" or is_optional(wanted):
                self.left_out.add(name)
                continue
            elif not self._is_default(self._here, name, wanted):
                self.wrong.add(name)
            self.counted.add(name)

    def _compare_others(self) -> None:
        for name in self.output.keys() - self.expected.keys():
            self.counted.add(name)
            if not self._is_default(self._there, name, self.output[name]):
                self.wrong.add(name)

    def _is_same(self, name: str, value: Any, wanted: Any) -> bool:
        if type(value) in SCALARS and type(wanted) in SCALARS:  # as most are
            return equal(value, wanted)
        if isinstance(wanted, AnyOf):  # a default that may stand there is not of the reference
            wanted = AnyOf(wanted.values)
        return not self._outcomes(name, value, wanted)

    def _outcomes(self, name: str, value: Any, wanted: Any) -> list[Outcome]:
        before = len(self._comparison.outcomes)
        self._comparison.compare(self._here.member(name), value, wanted, f"/{escape(name)}")
        return self._comparison.outcomes[before:]

    def _is_default(self, side: ToolNode, name: str, value: Any) -> bool:
        return self._comparison.is_default(side.member(name), value)

    @property
    def limits(self) -> list[str]:
        """The arrays whose items were not all tried with each other, as pointers."""
        return self._comparison.limits

    @property
    def score(self) -> float:
        """The share of what is right: the name, and each argument."""
        counted = self.counted.union(self.invalid) if self.invalid else self.counted
        parts = 1 + len(counted)
        return (parts - len(self.wrong) - len(self.invalid)) / parts

    def wrong_arguments(self) -> Iterator[WrongArgument]:
        """Yield what is wrong with each that is."""
        for name in dict.fromkeys([*self.expected, *self.output]) if self.wrong else ():
            if name not in self.wrong:
                continue
            if name not in self.output:
                yield missing_argument(name, self.expected[name])
            elif name not in self.expected:
                yield extra_argument(name, self.output[name])
            else:
                for one in self._outcomes(name, self.output[name], self.expected[name]):
                    output, reference = write(one.output), write(one.reference)
                    yield WrongArgument(one.pointer, one.kind, output, reference)
        for found in self.invalid.values():
            yield from found


def missing_argument(name: str, value: Any) -> WrongArgument:
    """Return an argument that is expected and not there."""
    return WrongArgument(f"/{escape(name)}", "missing", reference=write(value))


def extra_argument(name: str, value: Any) -> WrongArgument:
    """Return an argument that is there and not expected."""
    return WrongArgument(f"/{escape(name)}", "extra", write(value))


def _short(value: Any) -> str:
    return cut(canonical(value), _SHOWN)
