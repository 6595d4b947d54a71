"""Which items of two arrays belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.assignment import best_pairs
from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.meant import meant
from llmeval_integrations.json_value import canonical

MAX_PAIRS: Final = 40_000
"""The most pairs of items of one array that are compared to find the best ones, with those of the
arrays inside them: 200 times 200, which are left over once all that are equal are paired."""

_MAX_LOOSE: Final = 10_000
"""The most pairs of items of which those that are equal are tried with the others, too, where the
rules of the fields make that matter."""

_CONTAINERS: Final = frozenset((dict, list))

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

Gain: TypeAlias = Callable[["Pairings", Field, Any, Any], float]
"""Says what two items of a field add to the score, at least 0."""


class Side(NamedTuple):
    """Items of an array that are to be paired, as what they stand for."""

    items: list[Any]
    """All of the array's."""

    places: list[int]
    """Where those are that are meant."""

    write: Callable[[Any], str] = canonical
    """Writes a value, the same for those that are equal."""

    @classmethod
    def whole(cls, items: list[Any], write: Callable[[Any], str] = canonical) -> Side:
        """Mean all items."""
        return cls(items, [*range(len(items))], write)

    def in_order(self) -> list[int]:
        """Give the places in the order of their items' texts."""
        texts = {place: self.write(self.items[place]) for place in self.places}
        return sorted(self.places, key=lambda place: (texts[place], place))


class _Meant(NamedTuple):
    """The items of an array, which is kept so that no other gets its id."""

    array: list[Any]
    items: list[Any]
    """What they stand for."""
    texts: list[str]
    """The canonical text of that."""


class _Found(NamedTuple):
    """What is known of two arrays, which are kept so that no others get their ids."""

    arrays: tuple[list[Any], list[Any]]
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
        self._meant: dict[int, _Meant] = {}

    def of(self, field: Field, output: list[Any], reference: list[Any]) -> tuple[Pairs, bool]:
        """Pair the items of a field that is not in order; tell whether there were too many."""
        known = field.path, id(output), id(reference)
        found = self._found.get(known)
        if found is None:
            bounds: list[bool] = []
            if field.rule.order == "by_key":
                pairs = list(self._by_key(field, output, reference, bounds))
            else:
                pairs = self._best(field, output, reference, bounds)
            found = _Found((output, reference), pairs, any(bounds))
            self._found[known] = found
        return found.pairs, found.bounded

    def _by_key(
        self, field: Field, output: list[Any], reference: list[Any], bounds: list[bool]
    ) -> Iterator[tuple[int, int]]:
        """Pair items that have the same key; where several have, the best among them."""
        here, there = _keyed(field, output), _keyed(field, reference)
        if not any(here) and not any(there):  # then it is no key of theirs, and they have an order
            yield from zip(range(len(output)), range(len(reference)))
            return
        for key, wanted in there.items():
            found = here.get(key, ())
            if len(found) == len(wanted) == 1:
                yield found[0], wanted[0]
            elif found:
                given = [output[position] for position in found]
                expected = [reference[position] for position in wanted]
                for one, other in self._best(field, given, expected, bounds):
                    yield found[one], wanted[other]

    def _best(
        self, field: Field, output: list[Any], reference: list[Any], bounds: list[bool]
    ) -> Pairs:
        """Pair items for the greatest gain; those that are equal as wholes first.

        What is left over is put in the order of its text, so that no other order has a say.
        """
        mine, theirs = self._meant_by(field, output), self._meant_by(field, reference)
        equal, spare, wanted = equal_pairs(mine.texts, theirs.texts)
        here, there = Side(mine.items, spare), Side(theirs.items, wanted)
        if not (_may_match(field, here) and _may_match(field, there)):
            return equal
        arrays = output, reference
        tried = len(output) * len(reference)
        if field.is_fuzzy:
            every = Side.whole(mine.items), Side.whole(theirs.items)
            if tried <= _MAX_LOOSE and _effort(field, *every) <= MAX_PAIRS:
                # What is near to both of two values need not leave these near to each other, so
                # that a pair of equal items may cost two others more than it gains.
                pairs = self._matched(field, arrays, *every)
                return pairs + _unused(equal, pairs)  # without any weight they gain nothing
            bounds.append(True)
        alone = len(spare) == len(wanted) == 1
        if not alone and _effort(field, here, there) > MAX_PAIRS:
            bounds.append(True)
            return equal + telling_pairs(here, there)
        return equal + self._matched(field, arrays, here, there)

    def _matched(
        self, field: Field, arrays: tuple[list[Any], list[Any]], here: Side, there: Side
    ) -> Pairs:
        """Pair items for the greatest gain."""
        output, reference = arrays
        spare, wanted = here.in_order(), there.in_order()
        gains = [
            [self._gain(self, field.item(one), output[one], reference[other]) for other in wanted]
            for one in spare
        ]
        return [(spare[row], wanted[column]) for row, column in best_pairs(gains)]

    def _meant_by(self, field: Field, array: list[Any]) -> _Meant:
        """Give what an array's items stand for, once for each."""
        found = self._meant.get(id(array))
        if found is None:
            items = array
            if not field.place.has_positions:  # or an item's rules would hang on its position
                its = field.item(0)
                items = [meant(its, item) for item in array]
            found = self._meant[id(array)] = _Meant(array, items, [*map(canonical, items)])
        return found


def _effort(field: Field, here: Side, there: Side) -> int:
    """Count the pairs of items that are compared at most, with those inside of them."""
    inside = [
        sum(_inside(field.item(place), side.items[place]) for place in side.places)
        for side in (here, there)
    ]
    return len(here.places) * len(there.places) + inside[0] * inside[1]


def _unused(pairs: Pairs, others: Pairs) -> Pairs:
    """Give the pairs of which neither item is in one of the others."""
    here, there = {one for one, _ in others}, {other for _, other in others}
    return [(one, other) for one, other in pairs if one not in here and other not in there]


def _may_match(field: Field, side: Side) -> bool:
    """Whether items that are equal to no other may still have something in common with one."""
    return any(
        type(side.items[place]) in _CONTAINERS or not field.item(place).is_exact
        for place in side.places
    )


def _inside(field: Field, value: Any) -> int:
    """Count the items of arrays inside a value that would have to be tried with each other."""
    if type(value) is dict:
        parts = value.items()
        return sum(
            _inside(field.member(name), part) for name, part in parts if type(part) in _CONTAINERS
        )
    if type(value) is not list:
        return 0
    count = sum(
        _inside(field.item(place), part)
        for place, part in enumerate(value)
        if type(part) in _CONTAINERS
    )
    return count + _tried(field, value)


def _tried(field: Field, items: list[Any]) -> int:
    """Count the items of an array that would have to be tried with each other."""
    rule = field.rule
    if rule.order == "ordered":
        return 0
    groups = [[*range(len(items))]]
    if rule.order == "by_key":
        groups = [places for places in _keyed(field, items).values() if len(places) > 1]
    return sum(len(places) for places in groups if _may_match(field, Side(items, places)))


def _keyed(field: Field, items: list[Any]) -> dict[str, list[int]]:
    """List the positions of items by the text of what their key stands for.

    Those without one are listed by themselves.
    """
    key: Any = field.rule.key
    found: defaultdict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        has_key = type(item) is dict and key in item
        value = meant(field.item(position).member(key), item[key]) if has_key else None
        found[canonical(value) if has_key else ""].append(position)
    return found


def equal_pairs(output: list[str], reference: list[str]) -> tuple[Pairs, list[int], list[int]]:
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


def telling_pairs(here: Side, there: Side) -> Pairs:
    """Pair items by a leaf that one item alone has on either side, such as an identifier.

    For what is too much to be compared pair by pair. Takes linear time.
    """
    ranks = {place: rank for rank, place in enumerate(here.in_order())}
    known, wanted = _by_leaf(here), _by_leaf(there)
    votes: defaultdict[tuple[int, int], int] = defaultdict(int)
    for leaf, places in wanted.items():
        found = known.get(leaf, ())
        if len(found) == len(places) == 1:
            votes[found[0], places[0]] += 1
    pairs, used_here, used_there = [], set(), set()
    for one, other in sorted(votes, key=lambda pair: (-votes[pair], ranks[pair[0]])):
        if one not in used_here and other not in used_there:
            pairs.append((one, other))
            used_here.add(one)
            used_there.add(other)
    return pairs


def _by_leaf(side: Side) -> dict[tuple[str, str], list[int]]:
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place in side.places:
        item = side.items[place]
        for name, value in item.items() if type(item) is dict else [("", item)]:
            found[name, side.write(value)].append(place)
    return found
