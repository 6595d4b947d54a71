"""Which arguments of a call are right, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.core.quoting import shorten
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.pointer import escape, read_pointer
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import AnyOf, Kind, Node
from llmeval_integrations.matching.outcome import Outcome
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.coercion import coerce
from llmeval_integrations.tool_calls.node import ANYTHING, ToolNode
from llmeval_integrations.tool_calls.reference import ANY_OF, is_optional, write
from llmeval_integrations.tool_calls.rules import ArgumentRules
from llmeval_integrations.tool_calls.toolbox import Tool, Toolbox, Violation

Arguments = Literal["exact", "subset", "superset", "ignore"]
"""Which arguments a call must have.

`exact`: those expected and no others. `subset`: no others, and some may be left out.
`superset`: those expected, and perhaps others. `ignore`: only those that both have count.
"""

_LONGEST: Final = 60


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
                shorten(canonical(one), _LONGEST) for one in [self.output, *accepted[:3]]
            )
            more = f" or {len(accepted) - 3} more" if len(accepted) > 3 else ""
            return f"{self.pointer} {output}, expected {' or '.join(several)}{more}"
        kind: Any = self.kind
        outcome = Outcome(self.pointer, ANYTHING, kind, 0.0, self.output, self.reference)
        return str(outcome) + (f" ({self.remark})" if self.remark else "")


class ArgumentComparison:
    """The arguments of a call beside those that are expected of the same tool."""

    def __init__(
        self, comparison: Comparison, path: str, violations: dict[str, list[WrongArgument]]
    ) -> None:
        """`path` is that of the tool; `violations` are what its schema has against an argument."""
        self.comparison = comparison
        self.violations = violations
        self.figures = comparison.figures()
        """The leaves; an argument that its schema refuses is at least one, and none of it right."""
        self._path = path
        for name in violations:
            part = Comparison()
            part.matched = [node for node in comparison.matched if self._name(node) == name]
            part.outcomes = [each for each in comparison.outcomes if self._name(each.node) == name]
            matched, output, _ = part.figures()
            before = self.figures
            self.figures = before._replace(
                matched=before.matched - matched,
                output=before.output - output + max(output, 1.0),
            )

    def _name(self, node: Node) -> str:
        """Return the name of the argument that a place belongs to."""
        return read_pointer(node.path.removeprefix(self._path))[0]

    @property
    def similarity(self) -> float:
        """The share of what is right: the name, and each leaf of the arguments; from 0 to 1."""
        matched, output, reference = self.figures
        return (1 + matched) / (1 + max(output, reference))

    @property
    def is_right(self) -> bool:
        """Whether all arguments are right."""
        return not self.violations and not any(map(_is_wrong, self.comparison.outcomes))

    def mistakes(self, output: Any, reference: Any) -> list[WrongArgument]:
        """List what is wrong with these arguments, place by place."""
        wrong = [*_list_wrong(self.comparison, output, reference)]
        return wrong + [one for found in self.violations.values() for one in found]


def _is_wrong(outcome: Outcome) -> bool:
    return outcome.kind != "match" and outcome.node.weight > 0


def _list_wrong(
    comparison: Comparison, output: Any, reference: Any, place: str = ""
) -> Iterator[WrongArgument]:
    """List what is wrong; within an object or array that has alternatives, by the nearest."""
    wrong = [*filter(_is_wrong, comparison.outcomes)]
    # What stands in the place of another type is one mistake with what it replaces.
    replaced = {one.pointer for one in wrong if one.kind == "wrong_type"}
    known = {(pointer, kind) for pointer in replaced for kind in ("missing", "extra")}
    for one in wrong:
        if one.within is not None:
            if (one.within, one.kind) not in known:
                known.add((one.within, one.kind))
                value = reference if one.kind == "missing" else output
                for step in read_pointer(one.within.removeprefix(place)):
                    value = value[int(step)] if isinstance(value, list) else value[step]
                side = "reference" if one.kind == "missing" else "output"
                yield WrongArgument(one.within, one.kind, **{side: write(value)})
            continue
        if type(one.reference) is AnyOf and one.output is not MISSING:
            nearest, value = comparison.find_nearest(
                one.node, one.output, one.reference, one.pointer
            )
            outcomes = nearest.outcomes
            if outcomes and (len(outcomes) > 1 or outcomes[0].pointer != one.pointer):
                yield from _list_wrong(nearest, one.output, value, one.pointer)
                continue
        its_output, expected = write(one.output), write(one.reference)
        yield WrongArgument(
            one.pointer,
            one.kind,
            its_output,
            expected,
            field=one.node.path,
            alone=one.alone,
            remark=one.node.remark(its_output, expected),
        )


class ArgumentComparer:
    """Compares the arguments of many calls, each with those expected of the same tool."""

    def __init__(self, evaluator: Any, toolbox: Toolbox | None, rules: ArgumentRules) -> None:
        """Take the options of an evaluator that are about arguments."""
        self.limits: set[str] = set()
        """The arrays whose items were not all tried with each other, as pointers."""
        self._toolbox, self._rules, self._parsing = toolbox, rules, evaluator.parsing
        self._how: Arguments = evaluator.arguments
        self._coerce = evaluator.coerce
        # Of what an answer of BFCL's may lack the tool has the last word.
        self._schema_requires = evaluator.alternatives == "listed" and self._how != "subset"
        self._pairing = Comparison().pairing
        self._read: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._found: dict[int, list[Violation]] = {}

    def compare(self, made: ToolCall, expected: ToolCall) -> ArgumentComparison:
        """Compare two calls of the same tool."""
        tool, node = self._find(made.name)
        typed, output = self.read(made, node)
        wanted = self.read(expected, node)[1]
        here, there = output, wanted
        may_lack = self._how in ("subset", "ignore")
        if self._how in ("superset", "ignore"):
            here = {name: value for name, value in output.items() if name in wanted}
        if may_lack:
            there = {name: value for name, value in wanted.items() if name in output}
        comparison = Comparison(self._pairing)
        comparison.compare_objects(node, here, there, "")
        if comparison.limits:
            self.limits.update(comparison.limits)
        violations: dict[str, list[WrongArgument]] = {}
        is_decided = self._how == "exact" and typed == wanted  # by the reference
        for one in () if tool is None or is_decided else self._list_violations(tool, typed, output):
            name = one.argument or ""
            wrong = WrongArgument(one.pointer, "missing")
            if not one.is_missing:
                value = write(typed.get(name, MISSING))
                wrong = WrongArgument(one.pointer, "invalid", value, message=one.message)
            violations.setdefault(name, []).append(wrong)
        if violations:
            for name in self._names_by_reference(comparison, node.narrow(output), here, wanted):
                violations.pop(name, None)
        return ArgumentComparison(comparison, node.path, violations)

    def _names_by_reference(
        self, comparison: Comparison, node: ToolNode, output: dict[str, Any], wanted: dict[str, Any]
    ) -> Iterator[str]:
        """Yield the arguments on which the reference decides, and not the tool's schema."""
        for name, value in wanted.items():
            optional = is_optional(value)
            if name not in output:
                if not self._schema_requires and (self._how == "subset" or optional):
                    yield name
                continue
            trial = Comparison(self._pairing)  # a default in place of its value may be invalid
            if optional:
                trial.compare(node.member(name), output[name], AnyOf(value.values))
            if not trial.outcomes:
                yield name
        yield from (read_pointer(each.pointer)[0] for each in comparison.outcomes)

    def _list_violations(
        self, tool: Tool, typed: dict[str, Any], output: dict[str, Any]
    ) -> list[Violation]:
        """List what a tool's schema has against arguments that count, once for each call."""
        if id(typed) not in self._found:
            node = tool.node.narrow(output)
            found = []
            for one in tool.find(write(typed), self._parsing):
                name = one.argument or ""
                is_left_out = name in typed and name not in output and not tool.requires(name)
                is_ignored = bool(name) and node.member(name).ignored
                if not (one.has_default or is_left_out or is_ignored):
                    found.append(one)
            self._found[id(typed)] = found
        return self._found[id(typed)]

    def list_alone(self, call: ToolCall, kind: Kind) -> Comparison:
        """Return the leaves of a call that has no partner."""
        comparison = Comparison(self._pairing)
        _, node = self._find(call.name)
        node = node.narrow(call.arguments)
        for name, value in self.read(call, node)[1].items():
            if self._how != "ignore" and not is_optional(value):
                comparison.add_side(node.member(name), kind, value, f"/{escape(name)}")
        return comparison

    def is_fuzzy(self, name: str) -> bool:
        """Whether arguments of a tool can both match third ones and not each other."""
        return self._how != "exact" or self._find(name)[1].fuzzy

    def _find(self, name: str) -> tuple[Tool | None, ToolNode]:
        """Return a tool, if its definition is known, and its node."""
        tool = self._toolbox.get(name) if self._toolbox else None
        return (tool, tool.node) if tool is not None else (None, self._rules.node(name))

    def read(
        self, call: ToolCall, node: ToolNode | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return arguments with their types, and those of them that do not count as left out."""
        known = self._read.get(id(call.arguments))
        if known is None:
            node = node or self._find(call.name)[1]
            typed = coerce(node, call.arguments) if self._coerce else call.arguments
            known = self._read[id(call.arguments)] = typed, node.drop(typed)
        return known
