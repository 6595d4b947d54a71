"""Comparing two documents field by field."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from typing import Any, Final

import msgspec

from llmeval_integrations.assignment import best_pairs
from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.outcome import Kind, Outcome
from llmeval_integrations.fields.values import compare
from llmeval_integrations.json_pointer import escape
from llmeval_integrations.json_value import canonical
from llmeval_integrations.sample import MISSING

MAX_PAIRS: Final = 40_000
"""The most pairs of items of one array that are compared to find the best ones: 200 times 200,
which are left over once all items that are equal as wholes are paired."""

_SCALARS: Final = frozenset((str, int, float, bool, type(None)))
_CONTAINERS: Final = frozenset((dict, list))


class Comparison(msgspec.Struct):
    """One comparison of two documents: how many leaves of each field ended how, and which."""

    matching: list[Field] = []
    """The field of each leaf that matches with the full score."""

    outcomes: list[Outcome] = []
    """All other leaves, in the order of the documents."""

    empty: dict[Kind, int] = {}
    """How many of the leaves have no value on either side, but an empty object or array."""

    one_valued: dict[str, int] = {}
    """How many leaves of the kind wrong_type have a value in the "output" alone, the
    "reference" alone: an object or array, empty or not, is on the other side."""

    bounded: list[str] = []
    """The arrays of which more than MAX_PAIRS items would have to be compared."""

    to_judge: list[tuple[Field, str, Any, Any]] = []
    """The values that a judge has to compare: field, pointer, output and reference."""

    def counts(self) -> dict[str, dict[Kind, int]]:
        """Give for each field how many leaves there are of each kind that there is."""
        counts: dict[str, dict[Kind, int]] = {}
        numbers = dict.fromkeys(self.matching, 1)
        if len(numbers) < len(self.matching):  # else counting costs as much as comparing did
            numbers = Counter(self.matching)
        for field, number in numbers.items():
            if field.path in counts:  # items at several positions may have fields of their own
                counts[field.path]["match"] += number
            else:
                counts[field.path] = {"match": number}
        for outcome in self.outcomes:
            of_field = counts.setdefault(outcome.field, {})
            of_field[outcome.kind] = of_field.get(outcome.kind, 0) + 1
        return counts

    def score(self) -> float:
        """Give the mean of the scores of all leaves, by weight; 1 where nothing has a weight."""
        if not self.outcomes:
            return 1.0
        gained, weight = self.scores()
        return gained / weight if weight else 1.0

    def scores(self) -> tuple[float, float]:
        """Give the sum of scores, each by its weight, and the sum of weights."""
        gained = sum([field.rule.weight for field in self.matching])
        weight = gained
        for outcome in self.outcomes:
            gained += outcome.weight * outcome.score
            weight += outcome.weight
        return gained, weight

    def compare(self, field: Field, output: Any, reference: Any, place: str = "") -> None:
        """Compare two values that are both there, with all in them."""
        rule = field.rule
        if rule.ignore:
            return
        kind = type(output)
        if kind is type(reference):
            if kind in _SCALARS:
                if output == reference:
                    self.matching.append(field)
                    return
            elif not rule.is_leaf and (output or reference):
                if kind is dict:
                    self._objects(field, output, reference, place)
                    return
                if kind is list:
                    self._arrays(field, output, reference, place)
                    return
        if rule.is_leaf:
            self._leaf(field, output, reference, place)
        elif _holds(output) or _holds(reference):
            self._crossed(field, output, reference, place)
        else:
            self._leaf(field, output, reference, place)

    def _leaf(self, field: Field, output: Any, reference: Any, place: str) -> None:
        rule = field.rule
        if rule.judge and type(output) is type(reference) and output != reference:
            self.to_judge.append((field, place, output, reference))
            return
        kind, score = compare(rule, output, reference)
        if kind == "match" and score == 1.0:
            self.matching.append(field)
            if type(output) in _CONTAINERS and not rule.is_leaf:
                self.empty["match"] = self.empty.get("match", 0) + 1
        else:
            self.add(field, place, kind, score, output=output, reference=reference)

    def add(
        self,
        field: Field,
        place: str,
        kind: Kind,
        score: float,
        *,
        output: Any = MISSING,
        reference: Any = MISSING,
        within: str = "",
    ) -> None:
        """Take down how a leaf ended."""
        if not field.rule.is_leaf:
            self._count_values(kind, output, reference)
        weight = field.rule.weight
        self.outcomes.append(
            Outcome(place, field.path, kind, score, weight, output, reference, within)
        )

    def _count_values(self, kind: Kind, output: Any, reference: Any) -> None:
        """Take down which side of a leaf is an object or array, and no value."""
        sides = {"output": output, "reference": reference}
        valued = [side for side, value in sides.items() if _is_value(value)]
        if not valued:
            self.empty[kind] = self.empty.get(kind, 0) + 1
        elif kind == "wrong_type" and len(valued) == 1:
            self.one_valued[valued[0]] = self.one_valued.get(valued[0], 0) + 1

    def one_sided(self, field: Field, kind: Kind, value: Any, place: str, within: str = "") -> None:
        """Take down all leaves of a value that the other side lacks."""
        if field.rule.ignore:
            return
        if not _holds(value) or field.rule.is_leaf:
            sides = {"reference": value} if kind == "missing" else {"output": value}
            self.add(field, place, kind, 0.0, within=within, **sides)
        elif type(value) is dict:
            for name, part in value.items():
                self.one_sided(
                    field.member(name), kind, part, f"{place}/{escape(name)}", within or place
                )
        else:
            for position, part in enumerate(value):
                self.one_sided(
                    field.item(position), kind, part, f"{place}/{position}", within or place
                )

    def _crossed(self, field: Field, output: Any, reference: Any, place: str) -> None:
        """Take down an object or array that has a leaf, or one of the other, on the other side."""
        if _holds(reference):
            self.one_sided(field, "missing", reference, place)
        if _holds(output):
            self.one_sided(field, "extra", output, place)
        if not (_holds(output) and _holds(reference)):
            self.add(field, place, "wrong_type", 0.0, output=output, reference=reference)

    def _objects(
        self, field: Field, output: dict[str, Any], reference: dict[str, Any], place: str
    ) -> None:
        member, known, matched = field.member, field.members, self.matching.append
        for name, expected in reference.items():
            value = output.get(name, MISSING)
            its = known.get(name) or member(name)
            kind = type(value)
            if kind is type(expected) and kind in _SCALARS and value == expected:
                if not its.is_ignored:  # written out here, for most leaves are such
                    matched(its)
            elif value is MISSING:
                self.one_sided(its, "missing", expected, f"{place}/{escape(name)}")
            else:
                self.compare(its, value, expected, f"{place}/{escape(name)}")
        for name, value in output.items():
            if name not in reference:
                self.one_sided(member(name), "extra", value, f"{place}/{escape(name)}")

    # --- arrays ----------------------------------------------------------------------------------

    def _arrays(self, field: Field, output: list[Any], reference: list[Any], place: str) -> None:
        order = field.rule.order
        if order == "ordered":
            for position, (value, expected) in enumerate(zip(output, reference)):
                its = field.item(position)
                kind = type(value)
                if kind is type(expected) and kind in _SCALARS and value == expected:
                    if not its.is_ignored:  # as in _objects
                        self.matching.append(its)
                else:
                    self.compare(its, value, expected, f"{place}/{position}")
            if len(output) != len(reference):
                both = range(min(len(output), len(reference)))
                self._unpaired(field, output, reference, place, (both, both))
            return
        if order == "any_order":
            pairs = self._best(field, output, reference, place)
        else:
            pairs = list(self._by_key(field, output, reference, place))
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

    def _by_key(
        self, field: Field, output: list[Any], reference: list[Any], place: str
    ) -> Iterator[tuple[int, int]]:
        """Pair items that have the same key; where several have, the best among them."""
        here, there = _keyed(output, field.rule.key), _keyed(reference, field.rule.key)
        for key, wanted in there.items():
            found = here.get(key, ())
            if len(found) == len(wanted) == 1:
                yield found[0], wanted[0]
            elif found:
                given = [output[position] for position in found]
                expected = [reference[position] for position in wanted]
                for one, other in self._best(field, given, expected, place):
                    yield found[one], wanted[other]

    def _best(
        self, field: Field, output: list[Any], reference: list[Any], place: str
    ) -> list[tuple[int, int]]:
        """Pair items for the best score; those that are equal as wholes first.

        What is left over is put in the order of its text, so that no other order has a say.
        """
        pairs, spare, wanted = equal_pairs(
            [canonical(item) for item in output], [canonical(item) for item in reference]
        )
        if not spare or not wanted:
            return pairs
        if len(spare) * len(wanted) > MAX_PAIRS:
            self.bounded.append(place)
            return pairs + _telling_pairs(output, reference, spare, wanted)
        weights = [
            [_gain(field, output[here], here, reference[there]) for there in wanted]
            for here in spare
        ]
        return pairs + [(spare[one], wanted[other]) for one, other in best_pairs(weights)]


def _holds(value: Any) -> bool:
    """Whether a value has parts."""
    return bool(value) and type(value) in _CONTAINERS


def _is_value(value: Any) -> bool:
    """Whether this is there, and neither an object nor an array."""
    return value is not MISSING and type(value) not in _CONTAINERS


def _gain(field: Field, output: Any, here: int, reference: Any) -> float:
    """Give what a pair of items adds to the score; a little more where more fields are shared."""
    pair = Comparison()
    pair.compare(field.item(here), output, reference)
    gained, weight = pair.scores()
    if not gained:
        return 0.0
    one_sided = sum(
        outcome.weight for outcome in pair.outcomes if outcome.kind in ("missing", "extra")
    )
    return gained + 1e-6 * (weight - one_sided)


def _keyed(items: list[Any], key: str | None) -> dict[str, list[int]]:
    """List the positions of items by the text of their key; those without one by themselves."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        has_key = type(item) is dict and key in item
        found[canonical(item[key]) if has_key else ""].append(position)
    return found


def equal_pairs(
    output: list[str], reference: list[str]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Pair the positions of equal texts; what is left is in the order of its text."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position in range(len(output) - 1, -1, -1):
        places[output[position]].append(position)
    pairs, wanted = [], []
    for position, text in enumerate(reference):
        found = places.get(text)
        if found:
            pairs.append((found.pop(), position))
        else:
            wanted.append(position)
    spare = [position for left in places.values() for position in left]
    spare.sort(key=lambda position: (output[position], position))
    wanted.sort(key=lambda position: (reference[position], position))
    return pairs, spare, wanted


def _telling_pairs(
    output: list[Any], reference: list[Any], spare: list[int], wanted: list[int]
) -> list[tuple[int, int]]:
    """Pair items by a leaf that one item alone has on either side, such as an identifier.

    For what is too much to be compared pair by pair. Takes linear time.
    """
    here, there = _by_leaf(output, spare), _by_leaf(reference, wanted)
    votes: defaultdict[tuple[int, int], int] = defaultdict(int)
    for leaf, places in there.items():
        found = here.get(leaf, ())
        if len(found) == len(places) == 1:
            votes[found[0], places[0]] += 1
    ranks = {position: rank for rank, position in enumerate(spare)}
    pairs, used_here, used_there = [], set(), set()
    for one, other in sorted(votes, key=lambda pair: (-votes[pair], ranks[pair[0]])):
        if one not in used_here and other not in used_there:
            pairs.append((one, other))
            used_here.add(one)
            used_there.add(other)
    return pairs


def _by_leaf(items: list[Any], positions: list[int]) -> dict[tuple[str, str], list[int]]:
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for position in positions:
        item = items[position]
        for name, value in item.items() if type(item) is dict else [("", item)]:
            found[name, canonical(value)].append(position)
    return found
