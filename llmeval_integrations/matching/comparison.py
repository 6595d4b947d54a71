"""One walk over two JSON values, for every evaluator that looks inside."""

from __future__ import annotations

from collections.abc import Container
from math import fsum
from typing import Any, Literal

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS, equal
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.gains import COMMON, WHOLE
from llmeval_integrations.matching.node import AnyOf, Kind, Node, Outcome
from llmeval_integrations.matching.pairing import Pairing
from llmeval_integrations.matching.weights import Figures, count_leaves


class Comparison:
    """Compares two values by a node and lists what became of their leaves.

    The same leaves come out whatever evaluator asks; evaluators differ in their nodes and in how
    they read `matched`, `outcomes` and `open`. Who does not read `matched` says so, which saves
    counting the leaves of equal values.
    """

    __slots__ = (
        "_lists_matches",
        "_pairing",
        "empty",
        "limits",
        "matched",
        "omitted",
        "open",
        "outcomes",
        "parts",
        "wholes",
    )

    def __init__(self, pairing: Pairing | None = None, *, lists_matches: bool = True) -> None:
        self.matched: list[Node] = []
        """The node of each leaf that matches with score 1."""
        self.empty: list[Node] = []
        """Those of them where the leaf is an empty object or array."""
        self.outcomes: list[Outcome] = []
        """All other leaves, in the order of the documents."""
        self.open: list[tuple[Node, str, Any, Any, float]] = []
        """Leaves that a judge decides: node, pointer, output, reference, similarity."""
        self.wholes: list[tuple[int, int]] = []
        """Slices of `outcomes` that belong to one missing, extra or replaced value."""
        self.parts: dict[tuple[str, Kind], Any] = {}
        """The objects and arrays that one side lacks, by pointer and kind."""
        self.limits: list[str] = []
        """The arrays, as pointers, whose items were not all tried with each other."""
        self.omitted: set[str] = set()
        """The paths of members that count as left out."""
        self._pairing = pairing
        self._lists_matches = lists_matches

    @property
    def pairing(self) -> Pairing:
        """The pairs of items that are known, made when the first is asked for."""
        if self._pairing is None:
            self._pairing = Pairing(_gain)
        return self._pairing

    def figures(self) -> Figures:
        """Add up the weights of what matches, and of all leaves of both sides."""
        matched = [node.weight for node in self.matched]
        output, reference = matched.copy(), matched.copy()
        for each in self.outcomes:
            weight = each.node.weight
            if each.score:
                matched.append(weight * each.score)
            if each.in_output:
                output.append(weight)
            if each.in_reference:
                reference.append(weight)
        return Figures(fsum(matched), fsum(output), fsum(reference))  # exact in any order

    def costs(self) -> list[float]:
        """Return what each outcome takes from the score, together with the others of its whole.

        A leaf counts on each side that has it.
        """
        costs = [
            each.node.weight * (each.in_output + each.in_reference - 2.0 * each.score)
            for each in self.outcomes
        ]
        for begin, end in self.wholes:
            costs[begin:end] = [fsum(costs[begin:end])] * (end - begin)
        return costs

    def compare(self, node: Node, output: Any, reference: Any, place: str = "") -> None:
        """Compare two values that are both there, with all in them."""
        if node.ignored:
            return
        kind, other = type(output), type(reference)
        if other is AnyOf:
            self._choose(node, output, reference, place)
        elif node.whole or not (
            (kind in CONTAINERS and output) or (other in CONTAINERS and reference)
        ):
            self._compare_leaves(node, output, reference, place)
        elif node.uniform and equal(output, reference):  # three times as fast as walking it
            if self._lists_matches:
                self.matched += [node] * count_leaves(output)
        elif kind is other is dict and (node.fills or (output and reference)):
            self.compare_objects(node, output, reference, place)
        elif node.splits and node.counts_empty and not (output and reference):
            self._compare_unlike(node, output, reference, place)
        elif kind is dict and other is dict:
            self.compare_objects(node, output, reference, place)
        elif kind is list and other is list:
            self.compare_arrays(node, output, reference, place)
        else:
            self._compare_unlike(node, output, reference, place)

    def is_default(self, node: Node, value: Any) -> bool:
        """Return whether leaving a place out means this value, which has to outlive the pairing."""
        default = node.default
        if default is MISSING:
            if not (node.fills and type(value) is dict):
                return False
            default = {}  # an object with nothing but defaults is as good as an empty one
        known, key = self.pairing.defaults, (node.path, node.variant, id(value))
        if key not in known:
            known[key] = False  # a default may hold itself
            trial = Comparison(self.pairing)
            trial.compare(node, default, value)
            known[key] = not trial.outcomes
        return known[key]

    def add_matches(self, node: Node, value: Any) -> None:
        """List the leaves of a value that is equal to its reference, without comparing them."""
        if node.ignored:
            return
        if type(value) is dict and value and not node.whole:
            for name, part in value.items():
                its = node.member(name)
                if type(part) in SCALARS:
                    if not its.ignored:
                        self.matched.append(its)
                else:
                    self.add_matches(its, part)
        elif type(value) is list and value and not node.whole:
            for position, part in enumerate(value):
                self.add_matches(node.item(position), part)
        else:
            self._add_match(node, value)

    def add_side(
        self,
        node: Node,
        kind: Kind,
        value: Any,
        place: str,
        *,
        within: str | None = None,
        at_end: bool = False,
    ) -> None:
        """List the leaves of a value that the other side lacks."""
        if node.ignored:
            return
        has_parts = type(value) in CONTAINERS and value
        if type(value) in CONTAINERS and not value and not (node.counts_empty or node.whole):
            return
        if not has_parts or node.whole or not node.splits:
            output, reference = (MISSING, value) if kind == "missing" else (value, MISSING)
            self.outcomes.append(
                Outcome(place, node, kind, 0.0, output, reference, within, at_end=at_end)
            )
            return
        begin, whole = len(self.outcomes), place if within is None else within
        if within is None:
            self.parts[place, kind] = value
        if type(value) is dict:
            for name, part in value.items():
                its = node.member(name)
                self.add_side(its, kind, part, f"{place}/{escape(name)}", within=whole)
        else:
            for position, part in enumerate(value):
                its = node.item(position)
                self.add_side(its, kind, part, f"{place}/{position}", within=whole)
        if within is None and len(self.outcomes) > begin + 1:
            self.wholes.append((begin, len(self.outcomes)))

    def _add_match(self, node: Node, value: Any) -> None:
        if type(value) in CONTAINERS and not node.whole:
            if not node.counts_empty:
                return
            self.empty.append(node)
        self.matched.append(node)

    def _compare_leaves(self, node: Node, output: Any, reference: Any, place: str) -> None:
        kind, score, exact = node.leaf(output, reference)
        if kind == "open":
            self.open.append((node, place, output, reference, score))
        elif kind == "match" and score == 1.0:
            self._add_match(node, output)
        elif node.counts_empty or output not in ([], {}) or reference not in ([], {}):
            self.outcomes.append(Outcome(place, node, kind, score, output, reference, exact=exact))

    def compare_objects(
        self, node: Node, output: dict[str, Any], reference: dict[str, Any], place: str
    ) -> None:
        """Compare two objects member by member."""
        shared = len(reference)
        here, there = (node.narrow(output), node.narrow(reference)) if node.varies else (node, node)
        known = here.members
        for name, expected in reference.items():
            value = output.get(name, MISSING)
            its = here if here.uniform else known.get(name) or here.member(name)
            kind = type(value)
            if kind in SCALARS and kind is type(expected) and value == expected:  # as most are
                if not its.ignored:
                    self.matched.append(its)
                continue
            is_optional = type(expected) is AnyOf and expected.optional
            if value is not MISSING:
                if is_optional and self.is_default(its, value):
                    self._add_match(its, value)
                else:
                    self.compare(its, value, expected, f"{place}/{escape(name)}")
            else:
                shared -= 1
                if not is_optional:
                    self._add_alone(its, "missing", expected, f"{place}/{escape(name)}")
        if node.counts_extra and len(output) > shared:
            for name, value in output.items():
                if name not in reference:
                    its = there.member(name)
                    self._add_alone(its, "extra", value, f"{place}/{escape(name)}")

    def _add_alone(
        self, node: Node, kind: Literal["missing", "extra"], value: Any, place: str
    ) -> None:
        """Compare a member that one side lacks with its default, if it has one."""
        default = node.default
        if self.is_default(node, value):
            self.add_matches(node, value)
        elif default in (MISSING, None, []) or not self.pairing.fills:
            self.add_side(node, kind, value, place)
        else:
            self.pairing.fills = False
            pair = (default, value) if kind == "missing" else (value, default)
            self.compare(node, *pair, place)
            self.pairing.fills = True

    def compare_arrays(
        self, node: Node, output: list[Any], reference: list[Any], place: str
    ) -> None:
        """Compare two arrays item by item."""
        node = node.narrow(output) if node.varies else node
        same_length = len(output) == len(reference)
        if node.order == "ordered" or (node.order == "anchored" and same_length):
            for position, (value, expected) in enumerate(zip(output, reference)):
                its = node.item(position)
                kind = type(value)
                if kind in SCALARS and kind is type(expected) and value == expected:  # as above
                    if not its.ignored:
                        self.matched.append(its)
                else:
                    self.compare(its, value, expected, f"{place}/{position}")
            if not same_length:
                both = range(min(len(output), len(reference)))
                self._list_unpaired(node, output, reference, place, (both, both))
            return
        found = self.pairing.find(node, output, reference)
        if found.is_limited:
            self.limits.append(place)
        for here, there in found.pairs:
            self.compare(node.item(here), output[here], reference[there], f"{place}/{here}")
        paired = {here for here, _ in found.pairs}, {there for _, there in found.pairs}
        self._list_unpaired(node, output, reference, place, paired)

    def _list_unpaired(
        self,
        node: Node,
        output: list[Any],
        reference: list[Any],
        place: str,
        paired: tuple[Container[int], Container[int]],
    ) -> None:
        """List the items that are in no pair; `paired` has the positions of all others."""
        last = len(reference) - 1
        at_end = node.order != "anchored" or last not in paired[1]
        for there, value in enumerate(reference):
            if there not in paired[1]:
                its = node.item(there)
                self.add_side(its, "missing", value, f"{place}/{there}", at_end=at_end)
        for here, value in enumerate(output):
            if here not in paired[0]:
                self.add_side(node.item(here), "extra", value, f"{place}/{here}")

    def _compare_unlike(self, node: Node, output: Any, reference: Any, place: str) -> None:
        """Compare an object or array with something else."""
        if not node.splits:
            self.outcomes.append(Outcome(place, node, "wrong_type", 0.0, output, reference))
            return
        if node.larger_alone:
            is_output = count_leaves(output) > count_leaves(reference)
            value = output if is_output else reference
            self.add_side(node, "extra" if is_output else "missing", value, place)
            return
        begin = len(self.outcomes)
        sides = ("missing", reference), ("extra", output)
        with_parts = [(kind, value) for kind, value in sides if type(value) in CONTAINERS and value]
        for kind, value in with_parts:
            self.add_side(node, kind, value, place)  # type: ignore[arg-type]
        if len(with_parts) < len(sides):
            is_output = with_parts[0][0] == "missing"
            if type(output) is type(reference):  # of which one is empty
                if len(self.outcomes) > begin:  # else all that the other has is ignored
                    kind, value = sides[is_output]
                    self.add_side(node, kind, value, place)  # type: ignore[arg-type]
            else:
                alone: Any = "output" if is_output else "reference"
                self.outcomes.append(
                    Outcome(place, node, "wrong_type", 0.0, output, reference, alone=alone)
                )
            if self.wholes and self.wholes[-1][0] == begin:
                self.wholes.pop()
            if len(self.outcomes) > begin:
                self.wholes.append((begin, len(self.outcomes)))

    def _choose(self, node: Node, output: Any, reference: AnyOf, place: str) -> None:
        """Compare with the nearest alternative; the place is one leaf on each side."""
        nearest = self.find_nearest(node, output, reference, place)
        if nearest is None:  # the place may be left out, and nothing else is right
            self.add_side(node, "extra", output, place)
            return
        self.limits += nearest.limits
        outcomes = nearest.outcomes
        if not outcomes:
            self.matched.append(node)
            return
        is_leaf = len(outcomes) == 1 and outcomes[0].pointer == place
        kind: Kind = outcomes[0].kind if is_leaf else "mismatch"
        if all(each.kind == "match" for each in outcomes):
            kind = "match"
        score = nearest.figures().score
        self.outcomes.append(Outcome(place, node, kind, score, output, reference))

    def find_nearest(
        self, node: Node, output: Any, reference: AnyOf, place: str
    ) -> Comparison | None:
        """Return the comparison with the alternative that is nearest to the output."""
        nearest: Comparison | None = None
        best = 0.0
        for value in reference.values:
            trial = Comparison(self.pairing)
            trial.compare(node, output, value, place)
            score = trial.figures().score
            if nearest is None or score > best or not trial.outcomes:
                nearest, best = trial, score
            if not trial.outcomes:
                break
        return nearest


def _gain(pairing: Pairing, node: Node, output: Any, reference: Any) -> tuple[float, int]:
    """Return what a pair of items adds to the score, and how many leaves they have in common."""
    trial = Comparison(pairing)
    trial.compare(node, output, reference)
    related = [each for each in trial.outcomes if each.kind == "match" or each.score > 0]
    common = len(trial.matched) + len(trial.open) + len(related)
    gains = [leaf.weight for leaf in trial.matched]
    gains += [each.node.weight * each.score for each in related]
    gains += [leaf.weight * score for leaf, *_, score in trial.open]
    gain = fsum(gains) + COMMON * common
    if node.shared_gain:
        gain += node.shared_gain * _count_shared(trial, output, reference)
    if not (trial.outcomes or trial.open):
        gain += node.whole_gain or WHOLE
        common = max(common, 1)
    return gain, common


def _count_shared(trial: Comparison, output: Any, reference: Any) -> int:
    """Count the leaves that both sides have; where an object meets a text, that of the smaller."""
    both = count_leaves(output) + count_leaves(reference)
    return both - len(trial.matched) - len(trial.outcomes)
