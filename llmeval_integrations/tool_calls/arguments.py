"""Which arguments of a call are right, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.quoting import shorten
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import AnyOf, Kind, Node
from llmeval_integrations.matching.outcome import Figures, Outcome
from llmeval_integrations.matching.pairing import Pairing
from llmeval_integrations.schemas.document import read_pointer
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.node import ANYTHING, ToolNode
from llmeval_integrations.tool_calls.reference import ANY_OF, is_optional, write
from llmeval_integrations.tool_calls.rules import ArgumentRules
from llmeval_integrations.tool_calls.toolbox import Tool, Toolbox, Violation

Arguments = Literal["exact", "subset", "superset", "ignore"]
"""Which arguments a call must have.

`exact`: those expected and no others. `subset`: no others, and some may be left out.
`superset`: those expected, and perhaps others. `ignore`: whatever it likes.
"""

ARGUMENTS: Final[tuple[str, ...]] = get_args(Arguments)

_SHOWN: Final = 60
_SIDES: Final[tuple[Kind, ...]] = ("missing", "extra")


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

    field: str | None = None
    """The tool and the argument, as a JSON Pointer with `*` for positions; of a single leaf."""

    alone: str | None = None
    """The side of a leaf in whose place the other side has an object or array."""

    remark: str = ""
    """What a rule adds, such as that a date is ambiguous."""

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
        outcome = Outcome(self.pointer, ANYTHING, kind, 0.0, self.output, self.reference)
        return str(outcome) + (f" ({self.remark})" if self.remark else "")


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
        self.omissions: set[str] = set()
        """The names of those that the reference lets be left out, and that are."""
        self.violations: dict[str, list[WrongArgument]] = {}
        """What the tool's schema has against arguments on which the reference does not decide."""
        self._node, self._output, self._expected = node, output, expected
        self.comparison = Comparison(pairing)
        if how == "ignore":
            output = expected = {}
        for name, value in expected.items():
            if name not in output and (how == "subset" or is_optional(value)):
                self.omissions.add(name)
        if how == "superset":
            output = {name: value for name, value in output.items() if name in expected}
        elif how == "subset":
            expected = {name: value for name, value in expected.items() if name in output}
        self._counted = output.keys() | expected.keys()
        self.comparison.compare_objects(node, output, expected, "")

    @property
    def limits(self) -> list[str]:
        """The arrays whose items were not all tried with each other, as pointers."""
        return self.comparison.limits

    @property
    def figures(self) -> Figures:
        """The leaves; an argument that its schema refuses is at least one, and none of it right."""
        if not self.violations:
            return self.comparison.figures()
        leaves = [(node, 1.0, 1, 1) for node in self.comparison.matched]
        leaves += [
            (each.node, each.score, each.in_output, each.in_reference)
            for each in self.comparison.outcomes
        ]
        totals = {name: [0.0, 0.0, 0.0] for name in self.violations}
        for node, *shares in leaves:
            total = totals.setdefault(self._name(node), [0.0, 0.0, 0.0])
            for side, share in enumerate(shares):
                total[side] += node.weight * share
        for name in self.violations:
            totals[name] = [0.0, max(totals[name][1], 1.0), totals[name][2]]
        return Figures(*map(fsum, zip(*totals.values())))

    @property
    def similarity(self) -> float:
        """The share of what is right: the name, and each leaf of the arguments; from 0 to 1."""
        matched, output, reference = self.figures
        return (1 + matched) / (1 + max(output, reference))

    @property
    def is_right(self) -> bool:
        """Whether all arguments are right."""
        return not self.violations and not any(map(_is_wrong, self.comparison.outcomes))

    def _name(self, node: Node) -> str:
        """Return the name of the argument that a place belongs to."""
        return read_pointer(node.path.removeprefix(self._node.path))[0]

    def names_by_reference(self) -> set[str]:
        """Return the names on which the reference decides: the tool's schema has no say.

        A default that stands in place of its value is not one: it may be invalid.
        """
        names = self._counted.intersection(self._expected, self._output)
        for name in [name for name in names if is_optional(self._expected[name])]:
            node = self._node.narrow(self._output).member(name)
            trial = Comparison(self.comparison.pairing)
            trial.compare(node, self._output[name], AnyOf(self._expected[name].values))
            if trial.outcomes:
                names.discard(name)
        if len(names) < len(self._counted):
            names.update(read_pointer(each.pointer)[0] for each in self.comparison.outcomes)
        return names

    def mistakes(self) -> list[WrongArgument]:
        """List what is wrong, place by place."""
        wrong = list(self._list_wrong(self.comparison))
        for found in self.violations.values():
            wrong += found
        return wrong

    def _list_wrong(self, comparison: Comparison) -> Iterator[WrongArgument]:
        """List what is wrong; within an object or array that has alternatives, by the nearest."""
        wrong = [*filter(_is_wrong, comparison.outcomes)]
        # What stands in the place of another type is one mistake with what it replaces.
        known = {
            (one.pointer, kind) for one in wrong for kind in _SIDES if one.kind == "wrong_type"
        }
        for one in wrong:
            if one.within is not None:
                whole = one.within, one.kind
                if whole not in known:
                    known.add(whole)
                    side = "reference" if one.kind == "missing" else "output"
                    value = write(
                        find(one.within, self._expected if one.kind == "missing" else self._output)
                    )
                    yield WrongArgument(*whole, **{side: value})
                continue
            if type(one.reference) is AnyOf and one.output is not MISSING:
                nearest = comparison.find_nearest(one.node, one.output, one.reference, one.pointer)
                outcomes = nearest.outcomes if nearest else []
                if nearest and not (len(outcomes) == 1 and outcomes[0].pointer == one.pointer):
                    yield from self._list_wrong(nearest)
                    continue
            output, reference = write(one.output), write(one.reference)
            yield WrongArgument(
                one.pointer,
                one.kind,
                output,
                reference,
                field=one.node.path,
                alone=one.alone,
                remark=one.node.remark(output, reference),
            )


def find(pointer: str, value: Any) -> Any:
    """Return the value at a place."""
    for step in read_pointer(pointer):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _is_wrong(outcome: Outcome) -> bool:
    return outcome.kind != "match" and outcome.node.weight > 0


class ArgumentComparer:
    """Compares the arguments of many calls, each with those expected of the same tool."""

    def __init__(
        self,
        how: Arguments,
        toolbox: Toolbox | None,
        rules: ArgumentRules,
        parsing: Parsing,
        *,
        coerce: bool,
        schema_requires: bool,
    ) -> None:
        """`schema_requires` says that what the schema requires may not be left out in any case."""
        self.limits: set[str] = set()
        """The arrays whose items were not all tried with each other, as pointers."""
        self._how, self._toolbox, self._rules, self._parsing = how, toolbox, rules, parsing
        self._coerce, self._schema_requires = coerce, schema_requires
        self._pairing = Comparison().pairing
        self._read: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._known: dict[tuple[int, frozenset[str]], list[Violation]] = {}

    def compare(self, made: ToolCall, expected: ToolCall) -> ArgumentComparison:
        """Compare two calls of the same tool."""
        tool, node = self._find(made.name)
        typed, output = self._read_arguments(made.arguments, node)
        compared = ArgumentComparison(
            node,
            output,
            self._read_arguments(expected.arguments, node)[1],
            self._how,
            self._pairing,
        )
        self.limits.update(compared.limits)
        if tool is not None:
            self._validate(tool, typed, output, compared)
        return compared

    def list_alone(self, call: ToolCall, kind: Literal["missing", "extra"]) -> Comparison:
        """Return the leaves of a call that has no partner."""
        comparison = Comparison(self._pairing)
        _, node = self._find(call.name)
        node = node.narrow(call.arguments)
        for name, value in self._read_arguments(call.arguments, node)[1].items():
            if self._how != "ignore" and not is_optional(value):
                comparison.add_side(node.member(name), kind, value, f"/{escape(name)}")
        return comparison

    def _find(self, name: str) -> tuple[Tool | None, ToolNode]:
        """Return a tool, if its definition is known, and its node."""
        tool = self._toolbox.get(name) if self._toolbox else None
        return (tool, tool.node) if tool is not None else (None, self._rules.node(name))

    def _read_arguments(
        self, arguments: dict[str, Any], node: ToolNode
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return arguments with their types, and those of them that do not count as left out."""
        if id(arguments) not in self._read:
            typed = node.coerce(arguments) if self._coerce else arguments
            self._read[id(arguments)] = typed, node.drop(typed)
        return self._read[id(arguments)]

    def _validate(
        self,
        tool: Tool,
        typed: dict[str, Any],
        output: dict[str, Any],
        compared: ArgumentComparison,
    ) -> None:
        """Add what the schema has against arguments on which the reference does not decide."""
        decided = compared.names_by_reference()
        decided.update(name for name in typed if name not in output and not tool.requires(name))
        if not self._schema_requires:
            decided.update(compared.omissions)
        others = tool.names(typed) - decided
        if others:
            node = tool.node.narrow(output)
            decided.update(name for name in others if node.member(name).ignored)
        if others <= decided:
            return
        key = id(typed), frozenset(decided)
        if key not in self._known:
            self._known[key] = tool.find_others(decided, write(typed), self._parsing)
        for one in self._known[key]:
            name = one.argument or ""
            wrong = WrongArgument(one.pointer, "missing")
            if not one.is_missing:
                value = write(typed.get(name, MISSING))
                wrong = WrongArgument(one.pointer, "invalid", value, message=one.message)
            compared.violations.setdefault(name, []).append(wrong)
