"""Pairing the items of two arrays whose order does not count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator
from itertools import count, repeat, tee
from typing import Any, TypeAlias, TypeVar

import msgspec

from llmeval_integrations.json_values.equality import CONTAINERS, write_scalar, written_parts
from llmeval_integrations.matching.json_matching import MAX_PAIRS, match

T = TypeVar("T")
_Search: TypeAlias = Generator[tuple[Any, Any], bool, T]
"""Yields two objects or two arrays, and is sent whether they fit."""

_Left: TypeAlias = tuple[list[int], list[int]]
"""The positions of the items that are left in the output and in the reference."""


def same_scalar(output: Any, reference: Any) -> bool:
    """Whether two values, of which one at least is not a container, are the same JSON."""
    return bool(output == reference) and (type(output) is bool) == (type(reference) is bool)


class Bags(msgspec.Struct):
    """What is known of the arrays of two documents, which are to be kept meanwhile."""

    tried: int = 0
    """How many pairs of values were tried so far, with other work that takes as long."""

    fitting: dict[tuple[int, int], bool] = {}
    """Whether two containers fit, by their `id`s: found once, and asked again level by level."""

    written: dict[int, str] = {}
    """The text of each container, by its `id`: written once, since the arrays inside are compared
    again."""

    marks: dict[int, Iterator[frozenset[int]]] = {}
    """What tells the items of nested arrays apart, by their `id`, as deep as it was needed."""

    @property
    def exhausted(self) -> bool:
        """Whether more than MAX_PAIRS would have been needed, so that not all were tried."""
        return self.tried > MAX_PAIRS

    def unpaired(self, output: list[Any], reference: list[Any], *, ignore_extra: bool) -> _Left:
        """Pair equal items, then with `ignore_extra` as many as fit; give the others' positions."""
        for array in (output, reference):
            if id(array) not in self.written:
                self.written.update(written_parts(array, sort_arrays=True))
        if self.written[id(output)] == self.written[id(reference)]:
            return [], []
        if ignore_extra:
            return self._run(self._without_fitting(output, reference))
        return self._without_equals(output, reference)

    def _run(self, search: _Search[T]) -> T:
        """Finish a search, with those for what it wants to know."""
        # Python's own recursion would end at some hundred levels.
        searches: list[_Search[Any]] = [search]
        asked: list[tuple[int, int]] = []
        answer: Any = None
        while True:
            try:
                output, reference = searches[-1].send(answer)
            except StopIteration as end:
                answer = end.value
                searches.pop()
                if not searches:
                    return answer  # type: ignore[no-any-return]
                self.fitting[asked.pop()] = answer
            else:
                asked.append((id(output), id(reference)))
                searches.append(self._contains(output, reference))
                answer = None

    def _contains(self, output: Any, reference: Any) -> _Search[bool]:
        """Whether an object or array, keys that are extra and order aside, is the other."""
        if type(output) is list:
            if len(output) != len(reference):
                return False
            self.tried += len(output)
            _, wanted = yield from self._without_fitting(output, reference, nested=True)
            return not wanted
        for key, expected in reference.items():
            if key not in output:
                return False
            fits = self._known(output[key], expected)
            if fits is None:
                fits = yield output[key], expected
            if not fits:
                return False
        return True

    def _known(self, output: Any, reference: Any) -> bool | None:
        """Whether two values fit, None where their parts have to be looked at."""
        if type(output) not in CONTAINERS or type(output) is not type(reference):
            self.tried += 1
            return not self.exhausted and same_scalar(output, reference)
        known = self.fitting.get((id(output), id(reference)))
        if known is None:
            self.tried += 1
            if self.exhausted:
                return False
            if self.written[id(output)] == self.written[id(reference)]:
                return True
        return known

    def _without_fitting(
        self, output: list[Any], reference: list[Any], *, nested: bool = False
    ) -> _Search[_Left]:
        """Pair as many items as can be; two that are equal may be paired beforehand.

        Fitting is transitive, so whatever an equal pair is taken from can be paired
        the other way round. Nested arrays are paired as a whole or not at all.
        """
        spare, wanted = self._without_equals(output, reference)
        # A text, number or literal fits nothing but what is equal.
        here = [place for place in spare if type(output[place]) in CONTAINERS]
        there = [place for place in wanted if type(reference[place]) in CONTAINERS]
        if not (here and there) or (nested and len(there) < len(wanted)):
            return spare, wanted
        rows: list[list[int]] = []
        items = [output[place] for place in here]
        others = [reference[place] for place in there]
        for other, columns in zip(others, self._candidates(items, others, nested=nested)):
            row = []
            for column in columns:
                fits = self._known(items[column], other)
                if fits is None:
                    fits = yield items[column], other
                if fits:
                    row.append(column)
            rows.append(row)
            if self.exhausted or (nested and not row):
                break
        pairs = match(rows, len(here))
        paired = {there[row] for row in pairs}
        used = {here[column] for column in pairs.values()}
        return (
            [place for place in spare if place not in used],
            [place for place in wanted if place not in paired],
        )

    def _without_equals(self, output: list[Any], reference: list[Any]) -> _Left:
        """Pair the items of equal text."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        texts = self._texts(output)
        for position in range(len(output) - 1, -1, -1):
            places[texts[position]].append(position)
        wanted = []
        for position, text in enumerate(self._texts(reference)):
            equals = places.get(text)
            if equals:
                equals.pop()
            else:
                wanted.append(position)
        return sorted(position for left in places.values() for position in left), wanted

    def _texts(self, array: list[Any]) -> list[str]:
        """Write the items of an array that was written."""
        return [
            self.written[id(item)] if type(item) in CONTAINERS else write_scalar(item)
            for item in array
        ]

    def _candidates(
        self, output: list[Any], reference: list[Any], *, nested: bool
    ) -> list[list[int]]:
        """Give, for each item of the reference, the places in the output where it may fit.

        Those have all its marks, which are taken level by level while there is a choice. In a list
        of records they are one or two, where to try all places would be their square.
        """
        if len(output) == 1:
            return [[0]] * len(reference)
        found: list[list[int]] = [[]] * len(reference)
        # A nested array is tried with several, any other looked at once.
        marks_of = self._known_marks if nested else self._marks
        here, there = list(map(marks_of, output)), list(map(marks_of, reference))
        unclear = [([*range(len(reference))], {*range(len(output))})]
        kept = 0
        while unclear and not self.exhausted:
            having = _by_mark(here, set().union(*(places for _, places in unclear)))
            if nested:
                self.tried += sum(map(len, having.values()))
            narrower = []
            for items, places in unclear:
                for marks, alike in _by_marks(there, items).items():
                    left = self._sifted(places, [having[mark] for mark in marks or ()])
                    kept += len(left)
                    if kept > MAX_PAIRS:  # as many would be tried; and they fill the memory
                        self.tried += kept
                        return found
                    if marks is not None and len(left) > 1:
                        narrower.append((alike, left))
                        continue
                    row = sorted(left)
                    for item in alike:
                        found[item] = row
            unclear = narrower
        return found

    def _sifted(self, places: set[int], having: list[set[int]]) -> set[int]:
        """Return those of some places that have all marks; they count once they are tried."""
        fewest, *others = sorted([places, *having], key=len)
        left = fewest.intersection(*others)
        self.tried += (len(fewest) - len(left)) // _SIFTED_AT_ONCE
        return left

    def _known_marks(self, item: Any) -> Iterator[frozenset[int]]:
        """Do what `_marks` does, but look only for what is not known yet."""
        marks, self.marks[id(item)] = tee(self.marks.get(id(item)) or self._marks(item))
        return marks

    def _marks(self, item: Any) -> Iterator[frozenset[int]]:
        """Give, level by level, what any item that fits has too: scalars, and lengths of arrays.

        Both with the names that lead there, without positions. They are hashes: where two clash,
        a pair is tried in vain.
        """
        parts: list[tuple[int, Any]] = [(0, item if type(item) is dict else [item])]
        for level in count(1):
            marks = []
            inner = []
            for path, part in parts:
                if level > _FREE_LEVELS:
                    self.tried += len(part)
                for name, value in part.items() if type(part) is dict else zip(repeat(None), part):
                    way = hash((path, name))
                    if type(value) not in CONTAINERS:
                        marks.append(hash((way, type(value) is bool, value)))
                        continue
                    inner.append((way, value))
                    if type(value) is list:
                        marks.append(hash((way, len(value))))
            yield frozenset(marks)
            if not inner:
                return
            parts = inner


_SIFTED_AT_ONCE = 16  # places that take no longer than a pair of values

# Deeper down an array looks at what all the arrays around it have looked at, so that it counts.
_FREE_LEVELS = 8


def _by_mark(marks: list[Iterator[frozenset[int]]], places: set[int]) -> defaultdict[int, set[int]]:
    """Return the places whose items have a mark, by that mark, on the next level of these."""
    having: defaultdict[int, set[int]] = defaultdict(set)
    for place in places:
        for mark in next(marks[place], ()):
            having[mark].add(place)
    return having


def _by_marks(
    marks: list[Iterator[frozenset[int]]], items: list[int]
) -> dict[frozenset[int] | None, list[int]]:
    """Put together items that have the same marks on their next level; None: there is none."""
    groups: defaultdict[frozenset[int] | None, list[int]] = defaultdict(list)
    for item in items:
        groups[next(marks[item], None)].append(item)
    return groups
