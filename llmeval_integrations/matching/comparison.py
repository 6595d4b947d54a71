"""One walk over two JSON values, for every evaluator that looks inside."""

from __future__ import annotations

from collections.abc import Container
from math import fsum
from typing import Any, Literal

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS, equal
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.gains import COMMON, SHARED, WHOLE, WHOLE_FIRST
from llmeval_integrations.matching.leaves import Leaves, count_leaves
from llmeval_integrations.matching.node import AnyOf, Kind, Node
from llmeval_integrations.matching.outcome import Outcome
from llmeval_integrations.matching.pairing import Pairing


class Comparison(Leaves):
    """Compares two values by a node and lists what became of their leaves.

    The same leaves come out whatever evaluator asks; evaluators differ in their nodes and in how
    they read `matched`, `outcomes` and `open`. Who does not read `matched` says so, which saves
    counting the leaves of equal values.
    """

    __slots__ = ("_lists_matches", "_pairing")

    def __init__(self, pairing: Pairing | None = None, *, lists_matches: bool = True) -> None:
        super().__init__()
        self._pairing = pairing
        self._lists_matches = lists_matches

    @property
    def pairing(self) -> Pairing:
        """The pairs of items that are known, made when the first is asked for."""
        if self._pairing is None:
            self._pairing = Pairing(gain)
        return self._pairing

    def compare(self, node: Node, output: Any, reference: Any, place: str = "") -> None:
        """Compare two values that are both there, with all in them."""
        if node.ignored:
            return
        kind, other = type(output), type(reference)
        if other is AnyOf:
            self._choose(node, output, reference, place)
            return
        if node.whole or not (
            (kind in CONTAINERS and output) or (other in CONTAINERS and reference)
        ):
            self._compare_leaves(node, output, reference, place)
            return
        if equal(output, reference):  # three times as fast as walking both
            if not node.uniform:
                self.add_matches(node, output)
            elif self._lists_matches:
                self.matched += [node] * count_leaves(output)
            return
        # Else an empty object or array is a leaf, and the other one is no such.
        have_parts = (output and reference) or not (node.splits and node.counts_empty)
        if kind is other is dict and (have_parts or node.fills):
            self.compare_objects(node, output, reference, place)
        elif kind is other is list and have_parts:
            self.compare_arrays(node, output, reference, place)
        else:
            self._compare_unlike(node, output, reference, place)

    def compare_objects(
        self, node: Node, output: dict[str, Any], reference: dict[str, Any], place: str
    ) -> None:
        """Compare two objects member by member."""
        shared = len(reference)
        here, there = (node.narrow(output), node.narrow(reference)) if node.varies else (node, node)
        known, uniform = here.members, here.uniform
        for name, expected in reference.items():
            value = output.get(name, MISSING)
            its = here if uniform else known.get(name) or here.member(name)
            kind = type(value)
            if kind in SCALARS and kind is type(expected) and value == expected:  # as most are
                if not its.ignored:
                    self.matched.append(its)
                continue
            is_optional = type(expected) is AnyOf and expected.optional
            if value is not MISSING:
                if is_optional and self.is_default(its, value):
                    self.matched.append(its)
                else:
                    self.compare(its, value, expected, f"{place}/{escape(name)}")
            else:
                shared -= 1
                if not is_optional:
                    self._add_member(its, "missing", expected, f"{place}/{escape(name)}")
        if node.counts_extra and len(output) > shared:
            for name, value in output.items():
                if name not in reference:
                    self._add_member(there.member(name), "extra", value, f"{place}/{escape(name)}")

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
                self._add_unpaired(node, output, reference, place, (both, both))
            return
        if same_length and not (node.key or node.min_similarity or node.item(0).fuzzy):
            wrong = [n for n, value in enumerate(output) if not equal(value, reference[n])]
            if len(wrong) == 1:  # the others are pairs, whatever the order says
                self._compare_rest(node, output, reference, place, wrong[0])
                return
        found = self.pairing.find(node, output, reference)
        if found.is_limited:
            self.limits.append(place)
        for here, there in found.pairs:
            self.compare(node.item(here), output[here], reference[there], f"{place}/{here}")
        paired = {here for here, _ in found.pairs}, {there for _, there in found.pairs}
        self._add_unpaired(node, output, reference, place, paired)

    def _compare_rest(
        self, node: Node, output: list[Any], reference: list[Any], place: str, wrong: int
    ) -> None:
        """Compare two arrays that differ in one item; a third of the time of pairing all."""
        for position, value in enumerate(output):
            its = node.item(position)
            if position != wrong:
                self.add_matches(its, value)
                continue
            trial = Comparison(self._pairing, lists_matches=self._lists_matches)
            trial.compare(its, value, reference[wrong], f"{place}/{wrong}")
            are_leaves = its.is_leaf(value) and its.is_leaf(reference[wrong])
            if not (are_leaves or its.pairs_all or its.ignored or trial.is_related()):
                trial = Comparison(self._pairing)
                trial.add_side(its, "missing", reference[wrong], f"{place}/{wrong}", at_end=True)
                trial.add_side(its, "extra", value, f"{place}/{wrong}")
            begin = len(self.outcomes)
            self.matched += trial.matched
            self.outcomes += trial.outcomes
            self.open += trial.open
            self.limits += trial.limits
            self.wholes += [(begin + start, begin + end) for start, end in trial.wholes]

    # --- leaves, and what is unlike ------------------------------------------------------------

    def _compare_leaves(self, node: Node, output: Any, reference: Any, place: str) -> None:
        if not (node.counts_empty or node.whole) and output in ([], {}) and reference in ([], {}):
            return
        kind, score, exact = node.leaf(output, reference)
        if kind == "open":
            self.open.append((node, place, output, reference, score))
        elif kind == "match" and score == 1.0:
            self.matched.append(node)
        else:
            self.outcomes.append(Outcome(place, node, kind, score, output, reference, exact=exact))

    def _compare_unlike(self, node: Node, output: Any, reference: Any, place: str) -> None:
        """Compare an object or array with something else."""
        if not node.splits:
            self.outcomes.append(Outcome(place, node, "wrong_type", 0.0, output, reference))
            return
        if node.larger_alone:
            is_larger = count_leaves(output) > count_leaves(reference)
            kind: Kind = "extra" if is_larger else "missing"
            self.add_side(node, kind, output if is_larger else reference, place)
            return
        begin, before = len(self.outcomes), len(self.wholes)
        has_parts = type(output) in CONTAINERS and output
        if type(reference) in CONTAINERS and reference:
            self.add_side(node, "missing", reference, place)
            if has_parts:
                self.add_side(node, "extra", output, place)
                return
        else:
            self.add_side(node, "extra", output, place)
        if type(output) is not type(reference):
            alone: Literal["output", "reference"] = "reference" if has_parts else "output"
            self.outcomes.append(
                Outcome(place, node, "wrong_type", 0.0, output, reference, alone=alone)
            )
        elif len(self.outcomes) > begin:  # one is empty, and not all of the other is ignored
            kind, value = ("missing", reference) if has_parts else ("extra", output)
            self.add_side(node, kind, value, place)
        if len(self.outcomes) > begin:
            self.wholes[before:] = [(begin, len(self.outcomes))]

    def _add_unpaired(
        self,
        node: Node,
        output: list[Any],
        reference: list[Any],
        place: str,
        paired: tuple[Container[int], Container[int]],
    ) -> None:
        """List the items that are in no pair; `paired` has the positions of all others."""
        at_end = node.order != "anchored" or len(reference) - 1 not in paired[1]
        for there, value in enumerate(reference):
            if there not in paired[1]:
                its = node.item(there)
                self.add_side(its, "missing", value, f"{place}/{there}", at_end=at_end)
        for here, value in enumerate(output):
            if here not in paired[0]:
                self.add_side(node.item(here), "extra", value, f"{place}/{here}")

    # --- defaults and choices ------------------------------------------------------------------

    def is_default(self, node: Node, value: Any) -> bool:
        """Return whether leaving a place out means this value, which has to outlive the pairing."""
        default = node.default
        if default is MISSING:
            if not (node.fills and type(value) is dict):
                return False
            default = {}  # an object with nothing but defaults is as good as an empty one
        known, key = self.pairing.defaults, (id(node), id(value))
        if key not in known:
            known[key] = False  # a default may hold itself
            trial = Comparison(self.pairing)
            trial.compare(node, default, value)
            known[key] = not trial.outcomes
        return known[key]

    def _add_member(
        self, node: Node, kind: Literal["missing", "extra"], value: Any, place: str
    ) -> None:
        """Compare a member that one side lacks with its default, if it has one."""
        if not node.fills:
            self.add_side(node, kind, value, place)
            return
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

    def _choose(self, node: Node, output: Any, reference: AnyOf, place: str) -> None:
        """Compare with the nearest alternative; the place is one leaf on each side."""
        if not reference.values:  # the place may be left out, and nothing else is right
            self.add_side(node, "extra", output, place)
            return
        nearest, _ = self.find_nearest(node, output, reference, place)
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
    ) -> tuple[Comparison, Any]:
        """Return the comparison with the alternative that is nearest to the output, and that."""
        nearest, chosen, best = Comparison(), None, -1.0
        for value in reference.values:
            trial = Comparison(self.pairing)
            trial.compare(node, output, value, place)
            score = trial.figures().score
            if score > best or not trial.outcomes:
                nearest, chosen, best = trial, value, score
            if not trial.outcomes:
                break
        return nearest, chosen


def gain(pairing: Pairing, node: Node, output: Any, reference: Any) -> float:
    """Return what a pair of items adds to the score; 0 where they have no leaf in common."""
    trial = Comparison(pairing)
    trial.compare(node, output, reference)
    gains = [leaf.weight + COMMON for leaf in trial.matched]
    gains += [leaf.weight * score + COMMON for leaf, *_, score in trial.open]
    for each in trial.outcomes:
        if each.kind == "match" or each.score > 0:
            gains.append(each.node.weight * each.score + COMMON)
    if node.pairs_all:  # where an object meets a text, the smaller one has a leaf there
        both = count_leaves(output) + count_leaves(reference)
        gains.append(SHARED * (both - len(trial.matched) - len(trial.outcomes)))
    if not (trial.outcomes or trial.open):
        gains.append(WHOLE if node.counts_extra else WHOLE_FIRST)
    return fsum(gains)
