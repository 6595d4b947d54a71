"""Compare the arguments of a call, and describe which of them are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import msgspec

from llmeval_integrations.core.quote import shorten
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import SCALARS, canonical
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.pointer import escape, read_pointer
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import AnyOf, Kind, is_optional
from llmeval_integrations.matching.outcome import Figures, Outcome, describe
from llmeval_integrations.matching.pairing import Pairing
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.expected import ANY_OF, Alternatives, mark_alternatives
from llmeval_integrations.tool_calls.rules import ArgumentRules
from llmeval_integrations.tool_calls.tools import Toolbox

Arguments = Literal["exact", "subset", "superset", "ignore"]
"""Which arguments a call must have.

`exact`: the expected arguments and no others. `subset`: no others, but some may be left out.
`superset`: all expected arguments, and perhaps others. `ignore`: only arguments that both calls
have are compared.
"""

_LONGEST: Final = 60


class WrongArgument(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place in a call's arguments that is not as expected."""

    pointer: str
    """The place within the arguments, as a JSON Pointer."""

    kind: str
    """`mismatch`, `wrong_type`, `missing`, `extra`, or `invalid` if it violates only the tool's
    schema."""

    output: Any = MISSING
    reference: Any = MISSING

    message: str | None = None
    """How it violates the schema."""

    field: str | None = None
    """The tool and the argument, as a JSON Pointer with `*` for positions; only for a leaf."""

    alone: str | None = None
    """The only side with this leaf, if the other side has an object or array there."""

    remark: str = ""
    """A remark of the rule, for example that a date is ambiguous."""

    def __str__(self) -> str:
        if self.message is not None:
            return f"{self.pointer} invalid: {self.message}".lstrip()
        accepted = self.reference.get(ANY_OF) if isinstance(self.reference, dict) else None
        if accepted and type(accepted) is list and self.kind in ("mismatch", "wrong_type"):
            output, *several = (
                shorten(canonical(one), _LONGEST) for one in [self.output, *accepted[:3]]
            )
            more = f" or {len(accepted) - 3} more" if len(accepted) > 3 else ""
            return f"{self.pointer} {output}, expected {' or '.join(several)}{more}"
        return describe(self.pointer, self.kind, self.output, self.reference, self.remark)


class CallOptions(NamedTuple):
    """The options of ToolCalls by which two calls are compared."""

    arguments: Arguments
    alternatives: Alternatives
    parsing: Parsing


class Call:
    """A call with its tool, and with its arguments as they are compared."""

    def __init__(
        self, call: ToolCall, options: CallOptions, rules: ArgumentRules, toolbox: Toolbox | None
    ) -> None:
        self.name, self.problem, self.arguments = call.name, call.problem, call.arguments
        self.tool = toolbox.get(call.name) if toolbox else None
        self.node = rules.find_node(call.name) if self.tool is None else self.tool.node
        self.values = self.node.drop(self.arguments)
        """The arguments without those that count as left out."""
        self.options = options

    @property
    def text(self) -> str:
        """The arguments in canonical JSON, with alternatives as a reference marks them."""
        return canonical(mark_alternatives(self.arguments))

    @property
    def is_fuzzy(self) -> bool:
        """Whether two calls that match this one may not match each other."""
        return self.options.arguments != "exact" or self.node.fuzzy

    @cached_property
    def violations(self) -> list[tuple[str, WrongArgument]]:
        """The arguments that count and violate the tool's schema, with their names."""
        tool, given = self.tool, self.arguments
        if tool is None:
            return []
        node, found = self.node.narrow(self.values), []
        for one in tool.find(mark_alternatives(given), self.options.parsing):
            name = one.argument or ""
            its = node.member(name)
            is_filled = one.is_missing and name not in given and its.default is not MISSING
            is_left_out = name in given and name not in self.values and not tool.requires(name)
            if is_filled or is_left_out or (name and its.ignored):
                continue
            wrong = WrongArgument(one.pointer, "missing")
            if not one.is_missing:
                value = mark_alternatives(given.get(name, MISSING))
                wrong = WrongArgument(one.pointer, "invalid", value, message=one.message)
            found.append((name, wrong))
        return found

    def rate_flat(self, expected: Call) -> tuple[float, float, bool] | None:
        """Compare flat calls with the same arguments: similarity, M, and whether this is right.

        Return None for other calls, which need a CallPair. This halves the time for twenty calls
        against twenty.
        """
        wanted = expected.values
        if self.values.keys() != wanted.keys() or self.node.varies or self.violations:
            return None
        matched = total = 0.0
        is_right = True
        for name, value in self.values.items():
            node, other = self.node.member(name), wanted[name]
            if type(value) not in SCALARS or type(other) not in SCALARS:
                return None
            if not node.ignored:
                kind, score, _ = node.leaf(value, other)
                is_right = is_right and (kind == "match" or not node.weight)
                matched += node.weight * score
                total += node.weight
        return (1 + matched) / (1 + total), matched, is_right

    def list_leaves(self, kind: Kind) -> Comparison:
        """Return the leaves of a call that has no partner."""
        comparison, node = Comparison(), self.node.narrow(self.values)
        for name, value in self.values.items():
            if self.options.arguments != "ignore" and not is_optional(value):
                comparison.add_side(node.member(name), kind, value, f"/{escape(name)}")
        return comparison


class CallPair:
    """The comparison of a call's arguments with those of an expected call of the same tool."""

    def __init__(self, made: Call, expected: Call, pairing: Pairing) -> None:
        self._made, self._expected = made, expected
        how, here, there = made.options.arguments, made.values, expected.values
        if how in ("superset", "ignore"):
            here = {name: value for name, value in here.items() if name in there}
        if how in ("subset", "ignore"):
            there = {name: value for name, value in there.items() if name in made.values}
        self.comparison = Comparison(pairing)
        self.comparison.compare_objects(made.node, here, there, "")
        # A call that equals its reference is right, even if the schema refuses both.
        is_same = how == "exact" and made.arguments == expected.arguments
        self.violations = [] if is_same else self._list_open_violations()
        """Violations of the tool's schema by arguments that the reference does not decide."""
        self.figures = self.comparison.figures()
        """The figures of all leaves. An argument that violates its schema has at least one leaf,
        and no leaf that matches."""
        for name in dict.fromkeys(name for name, _ in self.violations):
            prefix = f"{made.node.path}/{escape(name)}"
            lost = sum(
                node.weight
                for node in self.comparison.matched
                if node.path == prefix or node.path.startswith(f"{prefix}/")
            )
            matched, output, reference = self.figures
            self.figures = Figures(matched - lost, output + max(1.0 - lost, 0.0), reference)
        matched, output, reference = self.figures
        self.similarity = (1 + matched) / (1 + max(output, reference))
        """The share of the name and the leaves of arguments that is right, from 0 to 1."""
        self.is_right = not self.violations and not any(map(_is_wrong, self.comparison.outcomes))

    def _list_open_violations(self) -> list[tuple[str, WrongArgument]]:
        decided = {read_pointer(each.pointer)[0] for each in self.comparison.outcomes}
        return [
            (name, wrong)
            for name, wrong in self._made.violations
            if name not in decided and not self._is_decided(name)
        ]

    def _is_decided(self, name: str) -> bool:
        """Return whether the reference decides about an argument, so that its schema does not."""
        made, wanted = self._made, self._expected.values.get(name, MISSING)
        if wanted is MISSING:
            return False
        if name not in made.values:
            # If a reference of BFCL's allows leaving an argument out, its schema may still not.
            may_lack = made.options.arguments == "subset"
            return may_lack or (is_optional(wanted) and made.options.alternatives != "listed")
        if not is_optional(wanted):
            return True
        # A default matches an optional argument, but may violate the schema. So only a listed value
        # decides.
        trial = Comparison()
        trial.compare(made.node.member(name), made.values[name], AnyOf(wanted.values))
        return not trial.outcomes

    def list_mistakes(self) -> list[WrongArgument]:
        """List the places where these arguments are wrong."""
        return [*_list_wrong(self.comparison), *(one for _, one in self.violations)]


def _is_wrong(outcome: Outcome) -> bool:
    return outcome.kind != "match" and outcome.node.weight > 0


def _list_wrong(comparison: Comparison) -> Iterator[WrongArgument]:
    """List the wrong places; an object or array with alternatives is held against the nearest."""
    wrong = [*filter(_is_wrong, comparison.outcomes)]
    # A value of a wrong type is one mistake together with the object or array that it replaces.
    replaced = [one.pointer for one in wrong if one.kind == "wrong_type"]
    known = {(pointer, kind) for pointer in replaced for kind in ("missing", "extra")}
    for one in wrong:
        if one.within is not None:
            if (one.within, one.kind) not in known:
                known.add((one.within, one.kind))
                side = "reference" if one.kind == "missing" else "output"
                value = mark_alternatives(comparison.sides[one.within, one.kind])
                yield WrongArgument(one.within, one.kind, **{side: value})
            continue
        if type(one.reference) is AnyOf and one.output is not MISSING:
            nearest = comparison.choose_nearest(one.node, one.output, one.reference, one.pointer)
            if any(each.pointer != one.pointer for each in nearest.outcomes):
                yield from _list_wrong(nearest)
                continue
        its_output, expected = mark_alternatives(one.output), mark_alternatives(one.reference)
        yield WrongArgument(
            one.pointer,
            one.kind,
            its_output,
            expected,
            field=one.node.path,
            alone=one.alone,
            remark=one.node.remark(its_output, expected),
        )
