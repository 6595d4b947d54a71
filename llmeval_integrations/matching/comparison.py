"""One walk over two JSON values, for every evaluator that compares their parts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import fsum
from operator import attrgetter
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.values import CONTAINERS, SCALARS, count_leaves, equal, escape
from llmeval_integrations.matching.assignment import leftovers
from llmeval_integrations.matching.gains import spend_on_texts
from llmeval_integrations.matching.node import AnyOf, Figures, Kind, Node, Outcome, is_optional
from llmeval_integrations.matching.pairing import Pairing

_weight: Final = attrgetter("weight")


def compare_in_trial(
    pairing: Pairing, node: Node, output: Any, reference: Any, place: str = ""
) -> Comparison:
    """Compare two values apart from the document; pairs of items are found once for both."""
    trial = Comparison(pairing)
    trial.compare(node, output, reference, place)
    return trial


class Comparison(msgspec.Struct):
    """Compares two values by a node and lists the outcomes of their leaves.

    Evaluators differ in their nodes, and in how they read `matched`, `outcomes` and `open`.
    """

    pairing: Pairing = msgspec.field(default_factory=partial(Pairing, compare_in_trial))
    """The pairs of items, which trials share."""

    matched: list[Node] = []
    """The node of each leaf that matches with score 1; incomplete without `lists_matches`."""

    outcomes: list[Outcome] = []
    """All other leaves, in the order of the documents."""

    open: list[tuple[Node, str, Any, Any, float]] = []
    """Leaves that a judge must decide: node, pointer, output, reference, similarity."""

    sides: dict[tuple[str, Kind], Any] = {}
    """Each object or array that only one side has, by its pointer and kind."""

    wholes: list[tuple[int, int]] = []
    """Slices of `outcomes` that belong to one missing, extra or replaced value."""

    limits: list[str] = []
    """The JSON Pointers of arrays with too many items to try every pair."""

    def compare(self, node: Node, output: Any, reference: Any, place: str = "") -> None:
        """Compare two values that are both present, with everything in them."""
        if node.ignored:
            return
        kind, other = type(output), type(reference)
        if other is AnyOf:
            self._choose(node, output, reference, place)
        elif node.whole or not (
            (kind in CONTAINERS and output) or (other in CONTAINERS and reference)
        ):
            if not (node.counts_empty or (node.counts(output) and node.counts(reference))):
                self.add_side(node, "missing", reference, place)
                self.add_side(node, "extra", output, place)
                return
            if node.fuzzy and self.pairing.depth:
                spend_on_texts(self.pairing, output, reference)
            what, score = node.leaf(output, reference)
            if what == "open":
                self.open.append((node, place, output, reference, score))
            elif what == "match" and score == 1.0:
                self.matched.append(node)
            else:
                self.outcomes.append(Outcome(place, node, what, score, output, reference))
        elif (node.uniform or kind is list) and equal(output, reference):
            self.add_matches(node, output)
        # Beside one with parts, an empty object or array is a leaf if empty values count. But an
        # empty object is compared like any other if it may lack a member of the other one.
        elif kind is not other or (
            not (output and reference)
            and (node.splits and node.counts_empty)
            and not (
                kind is dict and node.has_defaults and self._may_lack(node, output or reference)
            )
        ):
            self._compare_unlike(node, output, reference, place)
        elif kind is dict:
            self.compare_objects(node, output, reference, place)
        else:
            self.compare_arrays(node, output, reference, place)

    def compare_objects(
        self, node: Node, output: dict[str, Any], reference: dict[str, Any], place: str
    ) -> None:
        """Compare two objects member by member."""
        shared = len(reference)
        # In a union, the side that lacks a member defines its default: a missing member belongs to
        # the alternative of the output, an extra one to that of the reference.
        of_output = of_reference = node
        if node.varies:
            of_output, of_reference = node.narrow(output), node.narrow(reference)
        known, is_uniform = of_output.members, node.uniform
        lists_matches = node.lists_matches
        skips_equal = is_uniform and not lists_matches
        for name, expected in reference.items():
            value = output.get(name, MISSING)
            its = node if is_uniform else known.get(name) or of_output.member(name)
            kind = type(value)
            # Most members are equal; for them this is faster than a call of `compare`.
            if (
                kind is type(expected)
                and value == expected
                and (kind in SCALARS or (skips_equal and equal(value, expected)))
            ):
                if lists_matches and not its.ignored:
                    self.matched.append(its)
                continue
            may_lack = type(expected) is AnyOf and expected.optional
            if value is not MISSING:
                if may_lack and self.is_default(its, value):
                    self.matched.append(its)
                else:
                    self.compare(its, value, expected, f"{place}/{escape(name)}")
                continue
            shared -= 1
            if not may_lack:
                self._add_member(its, "missing", expected, f"{place}/{escape(name)}")
        if node.counts_extra and len(output) > shared:
            for name, value in output.items():
                if name not in reference:
                    its = of_reference.member(name)
                    self._add_member(its, "extra", value, f"{place}/{escape(name)}")

    def compare_arrays(
        self, node: Node, output: list[Any], reference: list[Any], place: str
    ) -> None:
        """Compare two arrays item by item."""
        node = node.narrow(output) if node.varies else node
        pairs, is_limited = self.pairing.find(node, output, reference)
        if is_limited:
            self.limits.append(place)
        is_uniform = node.uniform
        lists_matches = node.lists_matches
        skips_equal = is_uniform and not lists_matches
        for here, there in pairs:
            value, expected = output[here], reference[there]
            its, kind = node if is_uniform else node.item(here), type(value)
            if (
                kind is type(expected)
                and value == expected
                and (kind in SCALARS or (skips_equal and equal(value, expected)))
            ):
                if lists_matches and not its.ignored:
                    self.matched.append(its)
                continue
            self.compare(its, value, expected, f"{place}/{here}")
        if len(pairs) == len(output) == len(reference):
            return
        extra, missing = leftovers(pairs, range(len(output)), range(len(reference)))
        for n in missing:
            self.add_side(node.item(n), "missing", reference[n], f"{place}/{n}")
        for n in reversed(extra) if node.lists_backwards else extra:
            self.add_side(node.item(n), "extra", output[n], f"{place}/{n}")

    def figures(self) -> Figures:
        """Add up the weights of the leaves that match, and of all leaves of both sides."""
        weights = [*map(_weight, self.matched)]
        if not self.outcomes:
            total = fsum(weights)
            return Figures(total, total, total)
        output, reference = weights.copy(), weights.copy()
        for each in self.outcomes:
            weight = each.node.weight
            if each.score:
                weights.append(weight * each.score)
            if each.kind != "missing" and each.alone != "reference":
                output.append(weight)
            if each.kind != "extra" and each.alone != "output":
                reference.append(weight)
        # `fsum` is exact, so the order of the leaves does not change a score.
        return Figures(fsum(weights), fsum(output), fsum(reference))

    def count(self, fields: dict[str, dict[Kind, int]]) -> None:
        """Add the leaves to those of each field, by kind."""
        for node in self.matched:
            path = node.path
            if path in fields:
                counts = fields[path]
                counts["match"] = counts.get("match", 0) + 1
            else:
                fields[path] = {"match": 1}
        for outcome in self.outcomes:
            counts = fields.setdefault(outcome.node.path, {})
            counts[outcome.kind] = counts.get(outcome.kind, 0) + 1

    def _may_lack(self, node: Node, value: dict[str, Any]) -> bool:
        """Return whether an empty object at this place may lack any member of this one."""
        empty = node.narrow({}) if node.varies else node
        members = ((empty.member(name), part) for name, part in value.items())
        return any(
            is_optional(part) or its.default is not MISSING or self.is_default(its, part)
            for its, part in members
        )

    def _compare_unlike(self, node: Node, output: Any, reference: Any, place: str) -> None:
        """Compare an object or array with a value of another type, or with an empty one.

        A side with parts lists its leaves; a side without is one leaf itself.
        """
        if not node.splits:
            self.outcomes.append(Outcome(place, node, "wrong_type", 0.0, output, reference))
            return
        if node.larger_alone:
            if count_leaves(output) > count_leaves(reference):
                self.add_side(node, "extra", output, place)
            else:
                self.add_side(node, "missing", reference, place)
            return
        begin, first = len(self.outcomes), len(self.wholes)
        sides: tuple[tuple[Kind, Any], ...] = ("missing", reference), ("extra", output)
        for kind, value in sides:
            if not node.is_leaf(value):
                self.add_side(node, kind, value, place)
        for kind, value in sides:
            if not (node.is_leaf(value) and node.counts(value)):
                continue
            if type(output) is not type(reference):
                alone: Literal["output", "reference"] = (
                    "reference" if kind == "missing" else "output"
                )
                self.outcomes.append(
                    Outcome(place, node, "wrong_type", 0.0, output, reference, alone=alone)
                )
            elif len(self.outcomes) > begin:  # else all parts are ignored, so this leaf is, too
                self.add_side(node, kind, value, place)
            if len(self.outcomes) > begin:
                self.wholes[first:] = [(begin, len(self.outcomes))]

    def add_matches(self, node: Node, value: Any) -> None:
        """List the leaves of a value that equals its reference, without comparing them."""
        if node.ignored or not node.lists_matches:
            return
        if node.uniform:
            self.matched += [node] * count_leaves(value)
        elif type(value) in CONTAINERS and value and not node.whole:
            is_object, known = type(value) is dict, node.members
            parts: Iterable[tuple[Any, Any]] = value.items() if is_object else enumerate(value)
            for step, part in parts:
                its = (known.get(step) or node.member(step)) if is_object else node.item(step)
                if type(part) not in SCALARS:
                    self.add_matches(its, part)
                elif not its.ignored:
                    self.matched.append(its)
        elif node.counts(value):
            self.matched.append(node)

    def add_side(self, node: Node, kind: Kind, value: Any, place: str) -> None:
        """List the leaves of a value that the other side lacks."""
        begin, within = len(self.outcomes), None
        if node.splits and not node.is_leaf(value):
            within = place
            self.sides[place, kind] = value
        for its, pointer, leaf in node.leaves(value, place):
            output, reference = (MISSING, leaf) if kind == "missing" else (leaf, MISSING)
            self.outcomes.append(Outcome(pointer, its, kind, 0.0, output, reference, within))
        if len(self.outcomes) > begin + 1:
            self.wholes.append((begin, len(self.outcomes)))

    def is_default(self, node: Node, value: Any) -> bool:
        """Return whether a value is the default of its place.

        Answers are kept by the value's id, so it has to live as long as the pairing.
        """
        default = node.default
        if default is MISSING:
            if not (node.has_defaults and type(value) is dict):
                return False
            default = {}  # an object that contains only defaults is equal to an empty one
        known, key = self.pairing.defaults, (id(node), id(value))
        if key not in known:
            known[key] = False  # a default may contain itself
            known[key] = not compare_in_trial(self.pairing, node, default, value).outcomes
        return known[key]

    def _add_member(self, node: Node, kind: Kind, value: Any, place: str) -> None:
        """Compare a member that one side lacks with its default, if it has one."""
        default = node.default
        if self.is_default(node, value):
            self.add_matches(node, value)
        elif default in (MISSING, None, []) or not self.pairing.uses_defaults:
            self.add_side(node, kind, value, place)
        else:
            pair = (default, value) if kind == "missing" else (value, default)
            self.pairing.uses_defaults = False
            try:
                self.compare(node, *pair, place)
            finally:  # the budget of pairs may be spent here
                self.pairing.uses_defaults = True

    def _choose(self, node: Node, output: Any, reference: AnyOf, place: str) -> None:
        """Compare with the nearest alternative; the place is one leaf on each side."""
        if not reference.values:  # only leaving the place out is right
            self.add_side(node, "extra", output, place)
            return
        if type(output) in SCALARS and any(equal(output, one) for one in reference.values):
            self.matched.append(node)  # as for most arguments; a trial takes ten times as long
            return
        nearest = self.choose_nearest(node, output, reference, place)
        self.limits += nearest.limits
        kinds = {each.kind for each in nearest.outcomes}
        if not kinds:
            self.matched.append(node)
            return
        is_leaf = [each.pointer for each in nearest.outcomes] == [place]
        kind: Kind = kinds.pop() if is_leaf or kinds == {"match"} else "mismatch"
        score = nearest.figures().score
        self.outcomes.append(Outcome(place, node, kind, score, output, reference))

    def choose_nearest(self, node: Node, output: Any, reference: AnyOf, place: str) -> Comparison:
        """Return the comparison with the nearest alternative."""
        trials = []
        for value in reference.values:
            trial = compare_in_trial(self.pairing, node, output, value, place)
            if not trial.outcomes:
                return trial
            trials.append(trial)
        return max(trials, key=lambda each: each.figures().score)
