"""Which items of two arrays belong together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.fields.effort import Effort, may_match
from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.keys import is_loose, keyed, loosely_keyed
from llmeval_integrations.fields.likely import likely_pairs
from llmeval_integrations.fields.meant import Meant
from llmeval_integrations.fields.side import Side
from llmeval_integrations.fields.values import compare
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.matching.assignment import best_pairs

MAX_PAIRS: Final = 40_000
"""The most pairs of items of one array that are compared to find the best ones, with those of the
arrays inside them: 200 times 200, which are left over once all that are equal are paired."""

_MAX_LOOSE: Final = 10_000
"""The most pairs of items of which those that are equal are tried with the others, too, where the
rules of the fields make that matter."""

_LEAST: Final = 1e-12
"""What two items with the same key gain at least."""

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

_Arrays: TypeAlias = tuple[list[Any], list[Any]]
"""The output's and the reference's."""

Gain: TypeAlias = Callable[["Pairings", Field, Any, Any], float]
"""Says what two items of a field add to the score, at least 0."""


class _Items(NamedTuple):
    """The items of an array, which is kept so that no other gets its id."""

    array: list[Any]
    items: list[Any]
    """What they stand for."""
    texts: list[str]
    """The canonical text of that."""
    order: Sequence[int]
    """All positions, those that stand for the same in the order of how they are written."""


class _Found(NamedTuple):
    """What is known of two arrays, which are kept so that no others get their ids."""

    arrays: _Arrays
    pairs: Pairs
    bounded: bool


class Pairings:
    """The pairs of items of arrays, found once for every two arrays of a comparison.

    Arrays inside of items are met with each item that theirs is tried with, and again once the
    best is chosen.
    """

    def __init__(self, gain: Gain) -> None:
        self._gain = gain
        self._found: dict[tuple[str, int, int], _Found] = {}
        self._items: dict[tuple[str, int], _Items] = {}
        self._meant = Meant()
        self._written = Meant(as_written=True)
        self._effort = Effort(self._meant)

    def of(self, field: Field, output: list[Any], reference: list[Any]) -> tuple[Pairs, bool]:
        """Pair the items of a field that is not in order; tell whether there were too many."""
        known = field.path, id(output), id(reference)
        found = self._found.get(known)
        if found is None:
            bounds: list[bool] = []
            pair = self._by_key if field.rule.order == "by_key" else self._best
            pairs = pair(field, output, reference, bounds)
            found = _Found((output, reference), pairs, any(bounds))
            self._found[known] = found
        return found.pairs, found.bounded

    def _by_key(
        self, field: Field, output: list[Any], reference: list[Any], bounds: list[bool]
    ) -> Pairs:
        """Pair items whose keys stand for the same, then those of the others whose keys match.

        Where several have the same key, the best among them are paired.
        """
        here, there = keyed(self._meant, field, output), keyed(self._meant, field, reference)
        if not any(here) and not any(there):  # without the key they have an order
            return [*zip(range(len(output)), range(len(reference)))]
        pairs: Pairs = []
        for key, wanted in there.items():
            found = here.get(key, ())
            if len(found) == len(wanted) == 1:
                pairs.append((found[0], wanted[0]))
            elif found:
                given = [output[position] for position in found]
                expected = [reference[position] for position in wanted]
                best = self._best(field, given, expected, bounds)
                pairs += [(found[one], wanted[other]) for one, other in best]
        if is_loose(field):
            pairs += self._by_loose_key(field, (output, reference), pairs, bounds)
        return pairs

    def _by_loose_key(
        self, field: Field, arrays: _Arrays, pairs: Pairs, bounds: list[bool]
    ) -> Pairs:
        """Pair those of the other items whose keys match, as by a tolerance or `"1"` and `1`."""
        here, there = (
            loosely_keyed(
                field,
                array,
                [place for place in self._in_order(field, array) if place not in paired],
            )
            for array, paired in zip(arrays, map(set, zip(*pairs)) if pairs else ((), ()))
        )
        key: Any = field.rule.key
        gain = partial(self._gain_by_key, key)
        found: Pairs = []
        for name, wanted in there.items():
            spare = here.get(name, [])
            if len(spare) * len(wanted) > MAX_PAIRS:
                bounds.append(True)
                found += self._likely(field, arrays, spare, wanted, gain)
            elif spare:
                found += self._by_near_key(field, arrays, spare, wanted, bounds)
        return found

    def _by_near_key(
        self,
        field: Field,
        arrays: _Arrays,
        spare: list[int],
        wanted: list[int],
        bounds: list[bool],
    ) -> Pairs:
        """Pair items whose keys match, for the greatest gain.

        By how near their keys are where it takes too long to compare all that is in them. Whose
        keys match nobody else's are a pair in any case.
        """
        key: Any = field.rule.key
        near = partial(_nearness, key)
        output, reference = arrays
        matches = {
            one: [
                other
                for other in wanted
                if near(self, field.item(one), output[one], reference[other])
            ]
            for one in spare
        }
        rivals = Counter(chain.from_iterable(matches.values()))
        sure = {
            one: others[0]
            for one, others in matches.items()
            if len(others) == 1 and rivals[others[0]] == 1
        }
        taken = set(sure.values())
        left = [one for one, others in matches.items() if others and one not in sure]
        right = [other for other in wanted if rivals[other] and other not in taken]
        gain: Gain = partial(self._gain_by_key, key)
        if self._effort.of(field, Side(output, left), Side(reference, right)) > MAX_PAIRS:
            bounds.append(True)
            gain = near
        return [*sure.items(), *self._matched(field, arrays, left, right, gain)]

    def _gain_by_key(
        self, key: str, pairings: Pairings, field: Field, output: Any, reference: Any
    ) -> float:
        """Return what two items add to the score, 0 where their keys do not match."""
        if not _nearness(key, pairings, field, output, reference):
            return 0.0
        return max(self._gain(pairings, field, output, reference), _LEAST)

    def _best(
        self, field: Field, output: list[Any], reference: list[Any], bounds: list[bool]
    ) -> Pairs:
        """Pair items for the greatest gain; those that are equal as wholes first.

        What is left over is put in the order of its text, so that no other order has a say.
        """
        mine, theirs = self._meant_by(field, output), self._meant_by(field, reference)
        equal, spare, wanted = equal_pairs(mine.texts, theirs.texts, mine.order, theirs.order)
        here, there = Side(output, spare), Side(reference, wanted)
        if not (may_match(field, here) and may_match(field, there)):
            return equal
        arrays = output, reference
        if field.is_fuzzy:
            every = Side.whole(output), Side.whole(reference)
            tried = len(output) * len(reference)
            if tried <= _MAX_LOOSE and self._effort.of(field, *every) <= MAX_PAIRS:
                # What is near to both of two values need not leave these near to each other, so
                # that a pair of equal items may cost two others more than it gains.
                in_order = self._in_order(field, output), self._in_order(field, reference)
                return self._matched(field, arrays, *in_order)
            bounds.append(True)
        alone = len(spare) == len(wanted) == 1
        if not alone and self._effort.of(field, here, there) > MAX_PAIRS:
            bounds.append(True)
            return equal + self._likely(field, arrays, spare, wanted, self._gain)
        return equal + self._matched(field, arrays, spare, wanted)

    def _likely(
        self, field: Field, arrays: _Arrays, spare: list[int], wanted: list[int], gain: Gain
    ) -> Pairs:
        """Pair the items at these places, which are too many to be tried, but none in vain."""
        output, reference = arrays
        here, there = (self._meant_by(field, array).items for array in arrays)
        return [
            (one, other)
            for one, other in likely_pairs(Side(here, spare), Side(there, wanted))
            if gain(self, field.item(one), output[one], reference[other]) > 0
        ]

    def _matched(
        self,
        field: Field,
        arrays: _Arrays,
        spare: list[int],
        wanted: list[int],
        gain: Gain | None = None,
    ) -> Pairs:
        """Pair the items at these places, which are in order, for the greatest gain."""
        output, reference = arrays
        gain = gain or self._gain
        gains = [
            [gain(self, field.item(one), output[one], reference[other]) for other in wanted]
            for one in spare
        ]
        return [(spare[row], wanted[column]) for row, column in best_pairs(gains)]

    def _in_order(self, field: Field, array: list[Any]) -> list[int]:
        """Return all places in the order of what items stand for, then of how they are written."""
        items = self._meant_by(field, array)
        return sorted(items.order, key=items.texts.__getitem__)

    def _meant_by(self, field: Field, array: list[Any]) -> _Items:
        """Return what an array's items stand for, once for each."""
        known = field.path, id(array)
        found = self._items.get(known)
        if found is None:
            found = self._items[known] = self._items_of(field, array)
        return found

    def _items_of(self, field: Field, array: list[Any]) -> _Items:
        order: Sequence[int] = range(len(array))
        if field.place.has_positions:  # an item's rules hang on its position
            return _Items(array, array, [*map(canonical, array)], order)
        its = field.item(0)
        items = [self._meant.of(its, item) for item in array]
        texts = [*map(canonical, items)]
        if not its.place.is_literal and len(set(texts)) < len(texts):
            written = [canonical(self._written.of(its, item)) for item in array]
            order = sorted(order, key=written.__getitem__)
        return _Items(array, items, texts, order)


def _nearness(key: str, _: Pairings, field: Field, output: Any, reference: Any) -> float:
    """Return how well the keys of two items match, 0 where they do not."""
    its = field.member(key)
    kind, score = compare(its.rule, output[key], reference[key], its.path)
    return max(score, _LEAST) if kind == "match" else 0.0


def equal_pairs(
    output: list[str], reference: list[str], here: Sequence[int], there: Sequence[int]
) -> tuple[Pairs, list[int], list[int]]:
    """Pair the positions of equal texts; what is left is in the order of its text.

    Of equal ones those come first that do so in `here`, the output's positions, and in `there`.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position in reversed(here):
        places[output[position]].append(position)
    pairs, wanted = [], []
    for position in there:
        found = places.get(reference[position])
        if found:
            pairs.append((found.pop(), position))
        else:
            wanted.append(position)
    spare = [position for left in places.values() for position in reversed(left)]
    return (
        pairs,
        sorted(spare, key=output.__getitem__),
        sorted(wanted, key=reference.__getitem__),
    )
