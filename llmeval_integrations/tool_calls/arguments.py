"""Compare the arguments of two calls of one tool."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, Literal

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.fields.field import Omission
from llmeval_integrations.json_values.equality import SCALARS
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.pointer import read_pointer
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import AnyOf, is_optional
from llmeval_integrations.matching.pairing import Pairing
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.read import mark_alternatives
from llmeval_integrations.tool_calls.tools import Toolbox

Arguments = Literal["exact", "subset", "superset", "ignore"]

_KEPT: Final = SCALARS - {type(None)}
"""The types of values that never count as left out."""

Place = dict[str, Any]
"""One wrong place in a call's arguments, as an entry of a result's metadata. Its `kind` is that of
an outcome, or `invalid` if it violates only the tool's schema."""


class Call:
    """A call, with its arguments as they are compared."""

    def __init__(self, call: ToolCall, toolbox: Toolbox, parsing: Parsing) -> None:
        self.name, self.problem, self.arguments = call.name, call.problem, call.arguments
        self.tool = toolbox.get(call.name)
        self.node = self.tool.node
        self.values: Any = call.arguments
        """The arguments without those that count as left out."""
        for value in call.arguments.values():  # mostly scalars
            several = value.values if type(value) is AnyOf else (value,)
            if not _KEPT.issuperset(map(type, several)):
                self.values = Omission().omit(self.node, call.arguments)
                break
        self._parsing = parsing

    @cached_property
    def weight(self) -> float:
        """The weight of the leaves of the call alone."""
        node, values = self.node.narrow(self.values), self.values.items()
        return sum(node.member(name).weigh(one) for name, one in values if not is_optional(one))

    @cached_property
    def invalid(self) -> dict[str, list[Place]]:
        """The places that violate the tool's schema, by the names of their arguments."""
        given, found = self.arguments, dict[str, list[Place]]()
        node = self.node.narrow(self.values)
        for one in self.tool.find(given, self._parsing):
            name, its = one.argument, node.member(one.argument)
            is_filled = one.is_missing and name not in given and its.default is not MISSING
            is_left_out = name in given and name not in self.values
            is_free = is_left_out and name not in self.tool.required
            if is_filled or is_free or (name and its.ignored):
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
        is_checked = made.tool.is_declared and (is_listed or how != "exact")
        invalid = made.invalid if is_checked else {}
        comparison = self.comparison = Comparison(pairing)
        for name in invalid:
            its, wanted, value = made.node.member(name), there.get(name), here.get(name)
            if is_optional(wanted) and comparison.is_default(its, value):
                # The default is not valid, so it does not stand for an argument that is left out.
                there = {**there, name: AnyOf(wanted.values)}
        comparison.compare_objects(made.node, here, there, "")
        self.matched, self.output, self.reference = comparison.figures()
        self.invalid: list[Place] = []
        """The places that violate only the tool's schema."""
        for name, places in invalid.items():
            wanted = expected.values.get(name, MISSING)
            # Arguments that BFCL's references allow to leave out may still be required.
            is_open = wanted is MISSING or (
                name not in made.values
                and how != "subset"
                and (is_listed or not is_optional(wanted))
            )
            wrong = comparison.outcomes if is_open else ()
            if is_open and not any(read_pointer(each.pointer)[0] == name for each in wrong):
                self.invalid += places
                self.output += 1.0
        self.is_right = not self.invalid
        for each in comparison.outcomes:
            if each.kind != "match" and each.node.weight > 0:
                self.is_right = False
        self.similarity = (1 + self.matched) / (1 + max(self.output, self.reference))
        """The share of the name and the leaves of arguments that is right, from 0 to 1."""


def find_wrong(comparison: Comparison) -> dict[tuple[str, str], Place]:
    """Return the wrong places by pointer and kind.

    An object or array that is missing or extra is one place. An object or array with alternatives
    is held against the nearest.
    """
    found: dict[tuple[str, str], Place] = {}
    for one in comparison.outcomes:
        if one.kind == "match" or not one.node.weight > 0:
            continue
        if one.within is not None:
            side = "reference" if one.kind == "missing" else "output"
            value = mark_alternatives(comparison.sides[one.within, one.kind])
            found[one.within, one.kind] = {"pointer": one.within, "kind": one.kind, side: value}
            continue
        if one.kind == "wrong_type":  # one mistake together with the value that it replaces
            found.pop((one.pointer, "missing"), None)
            found.pop((one.pointer, "extra"), None)
        if type(one.reference) is AnyOf and one.output is not MISSING:
            kinds = map(type, (one.output, *one.reference.values))
            if not SCALARS.issuperset(kinds):  # otherwise there is only this place
                near = comparison.choose_nearest(one.node, one.output, one.reference, one.pointer)
                if any(each.pointer != one.pointer for each in near.outcomes):
                    found.update(find_wrong(near))
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
        found[one.pointer, one.kind] = place
    return found
