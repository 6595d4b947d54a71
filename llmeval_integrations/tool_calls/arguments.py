"""Which arguments of a call are right, and what is wrong with the others."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.quoting import shorten
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import AnyOf, Outcome
from llmeval_integrations.matching.pairing import Pairing
from llmeval_integrations.matching.patch import describe
from llmeval_integrations.schemas.document import read_pointer
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.node import ANYTHING, ToolNode
from llmeval_integrations.tool_calls.reference import ANY_OF, is_optional, write
from llmeval_integrations.tool_calls.toolbox import Tool, Toolbox, Violation

Arguments = Literal["exact", "subset", "superset", "ignore"]
"""Which arguments a call must have.

`exact`: those expected and no others. `subset`: no others, and some may be left out.
`superset`: those expected, and perhaps others. `ignore`: whatever it likes.
"""

ARGUMENTS: Final[tuple[str, ...]] = get_args(Arguments)

_SHOWN: Final = 60


class WrongArgument(msgspec.Struct, frozen=True, omit_defaults=True):
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
            output, *several = (
                shorten(canonical(one), _SHOWN) for one in [self.output, *accepted[:3]]
            )
            more = f" or {len(accepted) - 3} more" if len(accepted) > 3 else ""
            return f"{self.pointer} {output}, expected {' or '.join(several)}{more}"
        kind: Any = self.kind
        return describe(Outcome(self.pointer, ANYTHING, kind, 0.0, self.output, self.reference))


class ArgumentComparison:
    """The arguments of a call beside those that are expected of the same tool."""

    def __init__(
        self,
        node: ToolNode,
        output: dict[str, Any],
        expected: dict[str, Any],
        how: Arguments,
        pairing: Pairing,
    ) -> None:
        self.omissions: list[str] = []
        """The names of those that the reference lets be left out, and that are."""
        self.violations: dict[str, list[WrongArgument]] = {}
        """What the tool's schema has against arguments on which the reference does not decide."""
        self._node, self._output, self._expected = node, output, expected
        self._comparison = Comparison(pairing)
        self._counted: set[str] = set()
        self._wrong: dict[str, list[Outcome]] = {}
        if how == "ignore":
            return
        self._counted.update(expected)
        if how != "superset":
            self._counted.update(output)
        for name, value in expected.items():
            if name not in output and (how == "subset" or is_optional(value)):
                self.omissions.append(name)
                self._counted.discard(name)
        self._comparison.compare(node, output, expected)
        for outcome in self._comparison.outcomes:
            name = read_pointer(outcome.pointer)[0]
            if name in self._counted:
                self._wrong.setdefault(name, []).append(outcome)

    @property
    def limits(self) -> list[str]:
        """The arrays whose items were not all tried with each other, as pointers."""
        return self._comparison.limits

    @property
    def score(self) -> float:
        """The share of what is right: the name, and each argument."""
        counted = self._counted.union(self.violations) if self.violations else self._counted
        parts = 1 + len(counted)
        return (parts - len(self._wrong) - len(self.violations)) / parts

    def names_by_reference(self) -> set[str]:
        """Return the names on which the reference decides: the tool's schema has no say.

        A default that stands in place of its value is not one: it may be invalid.
        """
        names = set(self._wrong)
        for name in self._counted.intersection(self._expected, self._output):
            wanted = self._expected[name]
            if is_optional(wanted):
                node = self._node.narrow(self._output).member(name)
                trial = Comparison(self._comparison.pairing)
                trial.compare(node, self._output[name], AnyOf(wanted.values))
                if trial.outcomes:
                    continue
            names.add(name)
        return names

    def mistakes(self) -> list[WrongArgument]:
        """List what is wrong, place by place."""
        wrong = [
            WrongArgument(one.pointer, one.kind, write(one.output), write(one.reference))
            for outcomes in self._wrong.values()
            for one in outcomes
        ]
        for found in self.violations.values():
            wrong += found
        return wrong


class ArgumentComparer:
    """Compares the arguments of many calls, each with those expected of the same tool."""

    def __init__(
        self,
        how: Arguments,
        toolbox: Toolbox | None,
        parsing: Parsing,
        *,
        coerce: bool,
        schema_requires: bool,
    ) -> None:
        """`schema_requires` says that what the schema requires may not be left out in any case."""
        self.limits: set[str] = set()
        """The arrays whose items were not all tried with each other, as pointers."""
        self._how, self._toolbox, self._parsing = how, toolbox, parsing
        self._coerce, self._schema_requires = coerce, schema_requires
        self._pairing = Comparison().pairing
        self._coerced: dict[int, dict[str, Any]] = {}
        self._known: dict[tuple[int, frozenset[str]], list[Violation]] = {}

    def compare(self, made: ToolCall, expected: ToolCall) -> ArgumentComparison:
        """Compare two calls of the same tool."""
        tool = self._toolbox[made.name] if self._toolbox else None
        node = tool.node if tool else ANYTHING
        output, wanted = made.arguments, expected.arguments
        if self._coerce:
            output, wanted = self._read(output, node), self._read(wanted, node)
        compared = ArgumentComparison(node, output, wanted, self._how, self._pairing)
        self.limits.update(compared.limits)
        if tool is not None:
            self._validate(tool, output, compared)
        return compared

    def _read(self, arguments: dict[str, Any], node: ToolNode) -> dict[str, Any]:
        if id(arguments) not in self._coerced:
            self._coerced[id(arguments)] = node.coerce(arguments)
        return self._coerced[id(arguments)]

    def _validate(self, tool: Tool, output: dict[str, Any], compared: ArgumentComparison) -> None:
        """Add what the schema has against arguments on which the reference does not decide."""
        decided = compared.names_by_reference()
        if not self._schema_requires:
            decided.update(compared.omissions)
        if tool.names(output) <= decided:
            return
        key = id(output), frozenset(decided)
        if key not in self._known:
            self._known[key] = tool.find_others(decided, write(output), self._parsing)
        for one in self._known[key]:
            name = one.argument or ""
            wrong = WrongArgument(one.pointer, "missing")
            if not one.is_missing:
                value = write(output.get(name, MISSING))
                wrong = WrongArgument(one.pointer, "invalid", value, message=one.message)
            compared.violations.setdefault(name, []).append(wrong)
