"""Comparing two documents field by field."""

from __future__ import annotations

from collections.abc import Collection, Container
from itertools import repeat
from math import fsum
from typing import Any, Final

import msgspec

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.outcome import Kind, Outcome
from llmeval_integrations.fields.pairing import Pairings
from llmeval_integrations.fields.values import all_match, compare, has_its_type, is_measured
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS, canonical, equal
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.text.edit_distance import edits_up_to

# With more members it is quicker to look at all of them at once.
_WIDE: Final = 100


class Comparison(msgspec.Struct):
    """One comparison of two documents: how many leaves of each field ended how, and which."""

    pairings: Pairings | None = None
    """The pairs of items that are known."""

    matching: list[Field] = []
    """The field of each leaf that matches with the full score."""

    outcomes: list[Outcome] = []
    """All other leaves, in the order of the documents."""

    apart: list[tuple[str, Kind, Kind | None]] = []
    """The leaves that have an object or array in place of a value: the field, the kind, and the
    kind of the one value that there is, None where there is none."""

    wholes: list[tuple[int, int]] = []
    """The objects and arrays that one side lacks: from where to where their outcomes stand, with
    that of a value in their place."""

    bounded: list[str] = []
    """The arrays of which not all pairs of items were tried that a better pairing may have."""

    to_judge: list[tuple[Field, str, Any, Any]] = []
    """The values that a judge has to compare: field, pointer, output and reference."""

    def score(self) -> float:
        """Return the mean of the scores of all leaves, by weight; 1 where nothing has a weight."""
        if not self.outcomes:
            return 1.0
        weights = self.weights()  # exact sums, in which the order of items has no say
        gained = fsum([*weights, *[each.weight * each.score for each in self.outcomes]])
        weight = fsum([*weights, *[each.weight for each in self.outcomes]])
        return gained / weight if weight else 1.0

    def costs(self) -> list[float]:
        """Return what each outcome takes from the score, with all others of the same whole."""
        costs = [each.weight * (1.0 - each.score) for each in self.outcomes]
        for begin, end in self.wholes:
            costs[begin:end] = [fsum(costs[begin:end])] * (end - begin)
        return costs

    def weights(self) -> list[float]:
        """Return the weights of all leaves that match with the full score."""
        return [field.rule.weight for field in self.matching]

    def documents(self, root: Field, output: Any, reference: Any) -> None:
        """Compare two documents; an object or array that is given twice has no NaN in it."""
        if output is reference:
            if self._is_itself(root, output):
                return
            self.matching.clear()  # and no more than these was taken down
            self.apart.clear()
        self.compare(root, output, reference)

    def compare(self, field: Field, output: Any, reference: Any, place: str = "") -> None:
        """Compare two values that are both there, with all in them."""
        if field.is_ignored:
            return
        kind = type(output)
        if kind is type(reference):
            if kind in SCALARS:
                if output == reference:
                    self.matching.append(field)
                else:
                    self._unequal(field, output, reference, place)
                return
            if not field.is_leaf and (output or reference):
                if kind is dict:
                    self._objects(field, output, reference, place)
                    return
                if kind is list:
                    self._arrays(field, output, reference, place)
                    return
        if not field.is_leaf and (_holds(output) or _holds(reference)):
            self._crossed(field, output, reference, place)
        else:
            self._leaf(field, output, reference, place)

    def _is_itself(self, field: Field, value: Any) -> bool:
        """Compare an object or array with itself; False where there is more to it than its leaves.

        That costs half of comparing two. NaN, which is not equal to itself, would count as a match.
        """
        if field.is_ignored:
            return True
        if field.is_leaf or type(value) not in CONTAINERS:
            return False
        if not value:
            self._leaf(field, value, value, "")
            return True
        parts: Collection[Any]
        if type(value) is dict:
            fields, counted = field.members_named(list(value))
            parts = value.values()
        elif field.rule.order != "ordered" or field.place.has_positions:
            return False
        else:
            fields, parts = [field.item(0)] * len(value), value
            counted = [] if fields[0].is_ignored else fields
        if SCALARS.issuperset(map(type, parts)):
            self.matching += counted
            return True
        for its, part in zip(fields, parts):
            if type(part) in SCALARS:
                if not its.is_ignored:
                    self.matching.append(its)
            elif not self._is_itself(its, part):
                return False
        return True

    def _unequal(self, field: Field, output: Any, reference: Any, place: str) -> None:
        """Compare two texts, numbers or booleans that Python calls unequal."""
        if field.is_exact:
            self.add(field, place, "mismatch", 0.0, output=output, reference=reference)
        else:
            self._leaf(field, output, reference, place)

    def _leaf(self, field: Field, output: Any, reference: Any, place: str) -> None:
        rule = field.rule
        if rule.judge:
            if has_its_type(output, reference) and not equal(output, reference):
                self.ask(field, place, output, reference)
                return
            rule = msgspec.structs.replace(rule, compare=None)  # in place of which a judge decides
        kind, score = compare(rule, output, reference, field.path)
        if kind == "match" and score == 1.0:
            self.matching.append(field)
            if type(output) in CONTAINERS and not field.is_leaf:
                self.apart.append((field.path, "match", None))
        else:
            exact = rule.similarity is None or is_measured(rule, output, reference, score)
            self.add(field, place, kind, score, output=output, reference=reference, exact=exact)

    def ask(self, field: Field, place: str, output: Any, reference: Any) -> None:
        """Take down what a judge has to compare."""
        self.to_judge.append((field, place, output, reference))

    def add(
        self,
        field: Field,
        place: str,
        kind: Kind,
        score: float,
        *,
        output: Any = MISSING,
        reference: Any = MISSING,
        within: str | None = None,
        exact: bool = True,
    ) -> None:
        """Take down how a leaf ended."""
        if kind != "mismatch" and not field.is_leaf:
            self._set_apart(field, kind, output, reference)
        weight = field.rule.weight
        self.outcomes.append(
            Outcome(place, field.path, kind, score, weight, output, reference, within, exact)
        )

    def _set_apart(self, field: Field, kind: Kind, output: Any, reference: Any) -> None:
        """Take down which side of a leaf is an object or array, and no value."""
        is_here, is_there = _is_value(output), _is_value(reference)
        if not (is_here or is_there):
            self.apart.append((field.path, kind, None))
        elif kind == "wrong_type" and is_here != is_there:
            self.apart.append((field.path, kind, "extra" if is_here else "missing"))

    def one_sided(
        self, field: Field, kind: Kind, value: Any, place: str, within: str | None = None
    ) -> None:
        """Take down all leaves of a value that the other side lacks."""
        if field.is_ignored:
            return
        whole, begin = place if within is None else within, len(self.outcomes)
        if not _holds(value) or field.is_leaf:
            sides = {"reference": value} if kind == "missing" else {"output": value}
            self.add(field, place, kind, 0.0, within=within, **sides)
        elif type(value) is dict:
            for name, part in value.items():
                self.one_sided(field.member(name), kind, part, f"{place}/{escape(name)}", whole)
        else:
            for position, part in enumerate(value):
                self.one_sided(field.item(position), kind, part, f"{place}/{position}", whole)
        if within is None and len(self.outcomes) > begin + 1:
            self.wholes.append((begin, len(self.outcomes)))

    def _crossed(self, field: Field, output: Any, reference: Any, place: str) -> None:
        """Take down an object or array that has a leaf, or one of the other, on the other side."""
        begin = len(self.outcomes)
        if _holds(reference):
            self.one_sided(field, "missing", reference, place)
        if _holds(output):
            self.one_sided(field, "extra", output, place)
        if not (_holds(output) and _holds(reference)):
            self.add(field, place, "wrong_type", 0.0, output=output, reference=reference)
            if self.wholes and self.wholes[-1][0] == begin:
                self.wholes.pop()
            self.wholes.append((begin, len(self.outcomes)))

    def _objects(
        self, field: Field, output: dict[str, Any], reference: dict[str, Any], place: str
    ) -> None:
        if len(reference) > _WIDE and self._all_alike(field, output, reference):
            return
        member, known, matched = field.member, field.members, self.matching.append
        shared = len(reference)
        for name, expected in reference.items():
            value = output.get(name, MISSING)
            its = known.get(name) or member(name)
            kind = type(value)
            if kind is type(expected) and kind in SCALARS:  # written out here, as most leaves are
                if its.is_ignored:
                    continue
                if value == expected:
                    matched(its)
                else:
                    self._unequal(its, value, expected, f"{place}/{escape(name)}")
            elif value is MISSING:
                shared -= 1
                self.one_sided(its, "missing", expected, f"{place}/{escape(name)}")
            else:
                self.compare(its, value, expected, f"{place}/{escape(name)}")
        if len(output) > shared:
            for name, value in output.items():
                if name not in reference:
                    self.one_sided(member(name), "extra", value, f"{place}/{escape(name)}")

    def _all_alike(self, field: Field, output: dict[str, Any], reference: dict[str, Any]) -> bool:
        """Compare objects at once that have the same members, all of which match.

        No name is looked up where they are in the same order, for that takes longer the more
        there are.
        """
        names = list(reference)
        in_order = names == list(output)
        values = list(output.values() if in_order else map(output.get, names, repeat(MISSING)))
        if len(output) > len(names) or not all_match(values, reference.values()):
            return False
        self.matching += field.members_named(names)[1]
        return True

    # --- arrays ----------------------------------------------------------------------------------

    def _arrays(self, field: Field, output: list[Any], reference: list[Any], place: str) -> None:
        if field.rule.order == "ordered":
            for position, (value, expected) in enumerate(zip(output, reference)):
                its = field.item(position)
                kind = type(value)
                if kind is type(expected) and kind in SCALARS and value == expected:
                    if not its.is_ignored:  # as in _objects
                        self.matching.append(its)
                else:
                    self.compare(its, value, expected, f"{place}/{position}")
            if len(output) != len(reference):
                both = range(min(len(output), len(reference)))
                self._unpaired(field, output, reference, place, (both, both))
            return
        if self.pairings is None:
            self.pairings = Pairings(_gain)
        pairs, is_bounded = self.pairings.of(field, output, reference)
        if is_bounded:
            self.bounded.append(place)
        for here, there in sorted(pairs):
            self.compare(field.item(here), output[here], reference[there], f"{place}/{here}")
        paired = {here for here, _ in pairs}, {there for _, there in pairs}
        self._unpaired(field, output, reference, place, paired)

    def _unpaired(
        self,
        field: Field,
        output: list[Any],
        reference: list[Any],
        place: str,
        paired: tuple[Container[int], Container[int]],
    ) -> None:
        """Take down the items that are in no pair; `paired` are the positions of those that are."""
        for there, value in enumerate(reference):
            if there not in paired[1]:
                self.one_sided(field.item(there), "missing", value, f"{place}/{there}")
        for here, value in enumerate(output):
            if here not in paired[0]:
                self.one_sided(field.item(here), "extra", value, f"{place}/{here}")


def _holds(value: Any) -> bool:
    """Whether a value has parts."""
    return bool(value) and type(value) in CONTAINERS


def _is_value(value: Any) -> bool:
    """Whether this is there, and neither an object nor an array."""
    return value is not MISSING and type(value) not in CONTAINERS


class _Gained(Comparison):
    """A comparison of which nothing but the sums is wanted."""

    gained: list[float] = []
    """What leaves on both sides that do not match in full add to the score."""

    shared: list[float] = []
    """Their weights."""

    common: int = 0
    """How many of them match or have a score, or may be given one by a judge."""

    def add(
        self,
        field: Field,
        place: str,  # noqa: ARG002
        kind: Kind,
        score: float,
        *,
        output: Any = MISSING,  # noqa: ARG002
        reference: Any = MISSING,  # noqa: ARG002
        within: str | None = None,  # noqa: ARG002
        exact: bool = True,  # noqa: ARG002
    ) -> None:
        self.gained.append(field.rule.weight * score)
        self.shared.append(field.rule.weight)
        self.common += kind == "match" or score > 0

    def ask(self, field: Field, place: str, output: Any, reference: Any) -> None:
        """Count how alike two values are that are judged once they are a pair."""
        one, other = (
            each if type(each) is str else canonical(each) for each in (output, reference)
        )
        longest = max(len(one), len(other))
        self.add(field, place, "mismatch", 1.0 - edits_up_to(longest, one, other) / longest)
        self.common += 1

    def one_sided(self, *_: Any) -> None:
        """Leave out what one side alone has: it gains nothing, whatever it is paired with."""


def _gain(pairings: Pairings, field: Field, output: Any, reference: Any) -> float:
    """Return what a pair of items adds to the score; a little more where more fields are shared.

    Also where no field that they share has a weight, for then they have something in common.
    """
    pair = _Gained(pairings)
    pair.compare(field, output, reference)
    common = len(pair.matching) + pair.common
    if not common:
        return 0.0
    weights = pair.weights()  # exact sums, as in Comparison.score
    shared = fsum([*weights, *pair.shared])
    return fsum([*weights, *pair.gained]) + 1e-6 * shared + 1e-9 * common
