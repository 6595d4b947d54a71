"""Compare the arguments of two calls of one tool."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final, Literal

from llmeval_integrations.core.quote import shorten
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.pointer import read_pointer
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import AnyOf, Outcome, describe, is_optional
from llmeval_integrations.matching.pairing import Pairing
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.expected import ANY_OF, mark_alternatives
from llmeval_integrations.tool_calls.tools import Toolbox

Arguments = Literal["exact", "subset", "superset", "ignore"]

Place = dict[str, Any]
"""One wrong place in a call's arguments, as an entry of a result's metadata. Its `kind` is that of
an outcome, or `invalid` if it violates only the tool's schema."""

_LONGEST: Final = 60
"""Characters of a value in a reason."""


class Call:
    """A call, with its arguments as they are compared."""

    def __init__(self, call: ToolCall, toolbox: Toolbox, parsing: Parsing) -> None:
        self.name, self.problem, self.arguments = call.name, call.problem, call.arguments
        self.node = toolbox.find_node(call.name)
        self.values = self.node.drop(call.arguments)
        """The arguments without those that count as left out."""
        self._tool = toolbox.tools.get(call.name) if toolbox.tools else None
        self._parsing = parsing

    @cached_property
    def weight(self) -> float:
        """The weight of the leaves of the call alone."""
        node, values = self.node.narrow(self.values), self.values.items()
        return sum(node.member(name).weigh(one) for name, one in values if not is_optional(one))

    @cached_property
    def invalid(self) -> dict[str, list[Place]]:
        """The places that violate the tool's schema, by the names of their arguments."""
        tool, given, found = self._tool, self.arguments, dict[str, list[Place]]()
        if tool is None:
            return found
        node = self.node.narrow(self.values)
        for one in tool.find(given, self._parsing):
            name, its = one.argument, node.member(one.argument)
            is_filled = one.is_missing and name not in given and its.default is not MISSING
            is_left_out = name in given and name not in self.values and not tool.requires(name)
            if is_filled or is_left_out or (name and its.ignored):
                continue
            place: Place = {"pointer": one.pointer, "kind": "missing"}
            if not one.is_missing:
                place["kind"] = "invalid"
                if name in given:
                    place["output"] = given[name]
                place["message"] = one.message
            found.setdefault(name, []).append(place)
        return found


class Pair:
    """The arguments of a call, compared with those of an expected call of the same tool."""

    def __init__(
        self, made: Call, expected: Call, how: Arguments, is_listed: bool, pairing: Pairing
    ) -> None:
        """`is_listed` means that the reference lists the accepted values of each argument."""
        here, there = made.values, expected.values
        if how in ("superset", "ignore"):
            here = {name: value for name, value in here.items() if name in there}
        if how in ("subset", "ignore"):
            there = {name: value for name, value in there.items() if name in made.values}
        invalid = made.invalid if is_listed or how != "exact" else {}
        self.comparison = Comparison(pairing)
        for name in invalid:
            its, wanted, value = made.node.member(name), there.get(name), here.get(name)
            if is_optional(wanted) and self.comparison.is_default(its, value):
                # The default is not valid, so it does not stand for an argument that is left out.
                there = {**there, name: AnyOf(wanted.values)}
        self.comparison.compare_objects(made.node, here, there, "")
        self.matched, self.output, self.reference = self.comparison.figures()
        self._invalid: list[Place] = []
        for name, places in invalid.items():
            wanted, outcomes = expected.values.get(name, MISSING), self.comparison.outcomes
            # Arguments that BFCL's references allow to leave out may still be required.
            is_open = wanted is MISSING or (
                name not in made.values
                and how != "subset"
                and (is_listed or not is_optional(wanted))
            )
            if is_open and not any(read_pointer(each.pointer)[0] == name for each in outcomes):
                self._invalid += places
                self.output += 1.0
        self.is_right = not (self._invalid or any(map(_is_wrong, self.comparison.outcomes)))
        self.similarity = (1 + self.matched) / (1 + max(self.output, self.reference))
        """The share of the name and the leaves of arguments that is right, from 0 to 1."""

    def list_wrong(self) -> list[Place]:
        """List the wrong places."""
        return [*_list_wrong(self.comparison), *self._invalid]


def _is_wrong(outcome: Outcome) -> bool:
    return outcome.kind != "match" and outcome.node.weight > 0


def _list_wrong(comparison: Comparison) -> Iterator[Place]:
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
                yield {"pointer": one.within, "kind": one.kind, side: value}
            continue
        if type(one.reference) is AnyOf and one.output is not MISSING:
            nearest = comparison.choose_nearest(one.node, one.output, one.reference, one.pointer)
            if any(each.pointer != one.pointer for each in nearest.outcomes):
                yield from _list_wrong(nearest)
                continue
        place: Place = {"pointer": one.pointer, "kind": one.kind}
        if one.output is not MISSING:
            place["output"] = one.output
        if one.reference is not MISSING:
            place["reference"] = mark_alternatives(one.reference)
        place["field"] = one.node.path
        if one.alone is not None:
            place["alone"] = one.alone
        if remark := one.node.remark(one.output, place.get("reference")):
            place["remark"] = remark
        yield place


def describe_place(wrong: Place) -> str:
    """Describe a wrong place in a line."""
    pointer, kind = wrong["pointer"], wrong["kind"]
    if kind == "invalid":
        return f"{pointer} invalid: {wrong['message']}".lstrip()
    output, reference = wrong.get("output", MISSING), wrong.get("reference", MISSING)
    accepted = reference.get(ANY_OF) if isinstance(reference, dict) else None
    if accepted and type(accepted) is list and kind in ("mismatch", "wrong_type"):
        several = " or ".join(shorten(canonical(one), _LONGEST) for one in accepted[:3])
        more = f" or {len(accepted) - 3} more" if len(accepted) > 3 else ""
        return f"{pointer} {shorten(canonical(output), _LONGEST)}, expected {several}{more}"
    return describe(pointer, kind, output, reference, wrong.get("remark", ""))
