"""How similar are two JSON documents, as one figure?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import fsum
from typing import Any, ClassVar, Final, NamedTuple

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import held_to
from llmeval_integrations.core.options import check_choice, check_number
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_validity import defective
from llmeval_integrations.evaluators.parsed import parse_reference, read
from llmeval_integrations.fields.effort import LETTERS
from llmeval_integrations.fields.likely import likely_pairs
from llmeval_integrations.fields.pairing import MAX_PAIRS, equal_pairs
from llmeval_integrations.fields.side import Side
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import canonical, write_scalar
from llmeval_integrations.json_values.parse import PARSINGS, Parsing
from llmeval_integrations.matching.assignment import best_pairs
from llmeval_integrations.text.edit_distance import edits_up_to, prepare, reach

_Scored = tuple[float, float]
"""What two values have in common, and the most that they could have: leaves, counted."""


class _Paired(NamedTuple):
    """Items that are paired, with what became of all pairs that were tried."""

    common: float
    most: float
    table: dict[tuple[int, int], _Scored]


MAX_INSIDE: Final = 100_000
"""The most pairs of items that are compared of arrays inside of items, for two arrays and over the
whole documents."""

_SURELY_EXACT: Final = 80_000
"""The most characters of two texts whose distance is exact, whatever they are; see `reach`."""

_NOISE: Final = 1e-9
"""By which sums may be off."""


@dataclass(frozen=True)
class JsonSimilarity(Evaluator):
    """How similar are output and reference, as trees of texts?

    Score: ANLS*, 0 to 1 (Peer, Schoepf, Nebendahl, Rietzler, Stabinger, "ANLS* - A Universal
    Document Processing Metric for Generative Large Language Models", 2024): what the documents
    have in common by what they could have. Two leaves have one minus the Levenshtein distance of
    their texts by the longer one's length, and nothing from a distance of `threshold` on; two
    objects what the members of the same name have, out of all members; two arrays what their
    items have where they are paired for the most in common, of several such pairings by the one
    that could have the least. Numbers, booleans and null are compared as they are written; values
    of different kinds (leaf, object, array) have nothing in common.
    Empty objects and arrays count for nothing, so that two documents without any leaf have a score
    of 1.

    Where the authors' own package differs: there case and white space do not count, a distance of
    just `threshold` does, null is a missing value, and items are paired for the best average.

    Passes from `min_score` on; an output that is not JSON never does. Where more than 40,000 pairs
    of items of two arrays would have to be compared, or 100,000 of those in arrays inside them,
    those that are equal are paired, then those that share the most of what few others have, the
    rest in the order of their texts, and `pairing_limit_reached` is True; 500,000 pairs of
    characters count as a pair of items. So are all items with arrays in them where the pairs inside
    come to more than 100,000 over the whole documents. `exact` is False where the distance of two
    texts may be less than what was found: where they differ in more than some 80,000 characters on
    both sides.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    threshold: float = 0.5
    """The distance of two texts, 0 to 1, from which on they have nothing in common."""

    min_score: float = 1.0
    """The lowest score that passes."""

    parsing: Parsing = "markdown"
    """How much may stand around the JSON, in output and reference alike."""

    def __post_init__(self) -> None:
        check_number(self, "threshold", minimum=0, maximum=1)
        check_number(self, "min_score", minimum=0, maximum=1)
        check_choice(self, "parsing", PARSINGS)

    def check(self, sample: Sample) -> Result:
        output = read(sample, "output", self.parsing)
        reference = parse_reference(self, sample, self.parsing)
        if type(output) is Defect:
            return defective(output, 0.0)
        prepare()
        likeness = _Likeness(self.threshold, MAX_INSIDE)
        try:
            common, most = likeness.of(output, reference)
        except _TooManyInsideError:
            likeness = _Likeness(self.threshold, 0)
            common, most = likeness.of(output, reference)
        score = common / most if most else 1.0
        passed = score >= self.min_score
        metadata = {"pairing_limit_reached": True} if likeness.bounded else {}
        if not likeness.exact:
            metadata["exact"] = False
        reason = None if passed else f"Similarity {held_to(self.min_score, score)}"
        if reason and likeness.bounded:
            reason += " (too many pairs of items; not all were tried)"
        if reason and not likeness.exact:
            reason += " (texts too long to be compared exactly)"
        return Result(score, passed, None, reason, metadata)


class _TooManyInsideError(Exception):
    """Too many pairs were tried of items of arrays inside of others, over the whole documents."""


class _Likeness:
    """Compares values, and remembers whether a limit was reached.

    With `most_inside` pairs arrays inside of items are tried with each other, with 0 not at all.
    """

    def __init__(self, threshold: float, most_inside: int) -> None:
        self.threshold = threshold
        self.most_inside = most_inside
        self.bounded = False
        self.exact = True
        self._texts: dict[int, list[str]] = {}
        self._searches = 0
        self._tried_inside = 0

    def of(self, output: Any, reference: Any) -> _Scored:
        """Return what two values have in common, and the most that they could have."""
        if type(output) is dict and type(reference) is dict:
            return self._of_objects(output, reference)
        if type(output) is list and type(reference) is list:
            return self._of_arrays(output, reference)
        if isinstance(output, (dict, list)) or isinstance(reference, (dict, list)):
            return 0.0, max(_size(output), _size(reference))
        return self._of_texts(_text(output), _text(reference)), 1.0

    def _of_texts(self, one: str, other: str) -> float:
        """Return how near the texts of two leaves are to each other."""
        if one == other:
            return 1.0
        shortest, longest = len(one), len(other)
        if shortest > longest:
            shortest, longest = longest, shortest
        if longest <= _SURELY_EXACT and (longest - shortest) / longest >= self.threshold:
            return 0.0
        most = int(self.threshold * longest) + 1  # one more, whatever the product is rounded to
        edits = edits_up_to(most, one, other)
        if longest > _SURELY_EXACT and min(edits, most) > reach(one, other):
            self.exact = False
        return (longest - edits) / longest if edits / longest < self.threshold else 0.0

    def _of_objects(self, output: dict[str, Any], reference: dict[str, Any]) -> _Scored:
        common = most = 0.0
        for name, expected in reference.items():
            if name not in output:
                most += _size(expected)
                continue
            value = output[name]
            if type(value) is str and type(expected) is str:  # as most are
                common += self._of_texts(value, expected)
                most += 1.0
                continue
            shared, possible = self.of(value, expected)
            common += shared
            most += possible
        for name in output.keys() - reference.keys():
            most += _size(output[name])
        return common, most

    def _of_arrays(self, output: list[Any], reference: list[Any]) -> _Scored:
        """Pair items for the most in common, whatever their order; equal ones first.

        What is near to both of two texts need not leave these near to each other, so that a pair
        of equal items may cost two others more than it gains.
        """
        texts = self._texts_of(output)
        others = self._texts_of(reference)
        if texts == others:
            return _size(output), _size(output)
        pairs, spare, wanted = equal_pairs(texts, others, range(len(texts)), range(len(others)))
        one, other = [output[place] for place in spare], [reference[place] for place in wanted]
        same = sum(_size(output[here]) for here, _ in pairs)
        left = self._paired(one, other)
        equal = {texts[here]: output[here] for here, _ in pairs}
        if self._may_gain(left, one, other, [equal[text] for text in sorted(equal)]):
            if self._are_too_many(output, reference):
                self.bounded = True
            else:
                every = self._paired(output, reference)
                if every.common > same + left.common + _NOISE:
                    return every.common, every.most
        return same + left.common, same + left.most

    def _paired(self, one: list[Any], other: list[Any]) -> _Paired:
        """Pair items for the most in common."""
        if not (one and other):
            return _Paired(0.0, _size(one) + _size(other), {})
        chosen = None
        if self._are_too_many(one, other):
            chosen = likely_pairs(Side.whole(one, _in_any_order), Side.whole(other, _in_any_order))
        table: dict[tuple[int, int], _Scored] = {}
        is_search = not chosen and len(one) * len(other) > 1
        if is_search:
            self._count(len(one) * len(other))
        self._searches += is_search
        if not chosen and _are_leaves(one) and _are_leaves(other):
            beside = [*map(_text, other)]
            for here, text in enumerate(map(_text, one)):
                for there, wanted in enumerate(beside):
                    table[here, there] = self._of_texts(text, wanted), 1.0
        else:
            for here, there in chosen or product(range(len(one)), range(len(other))):
                table[here, there] = self.of(one[here], other[there])  # in as few frames as can be
        self._searches -= is_search
        if chosen:
            self.bounded = True
        else:
            chosen = best_pairs(_worths(one, other, table))
        common = fsum(table[pair][0] for pair in chosen)
        most = fsum(table[pair][1] for pair in chosen)
        return _Paired(common, most + _of_the_rest(one, other, chosen), table)

    def _count(self, pairs: int) -> None:
        """Count pairs that are tried for each pair of other items, which adds up the deeper."""
        if self._searches:
            self._tried_inside += pairs
            if self._tried_inside > MAX_INSIDE:  # which has nothing to do with the order of items
                raise _TooManyInsideError

    def _may_gain(self, left: _Paired, one: list[Any], other: list[Any], equal: list[Any]) -> bool:
        """Whether what is left may have more in common where pairs of equal items are taken apart.

        Not where each item of the side that has fewer has what it likes best of all, or all equal
        items have nothing in common with it.
        """
        if not (one and other and equal):
            return False
        is_here = len(one) <= len(other)
        items = one if is_here else other
        if self._are_too_many(items, equal):
            self.bounded = True
            return False
        best = [0.0] * len(items)
        for pair, (common, _) in left.table.items():
            place = pair[0] if is_here else pair[1]
            best[place] = max(best[place], common)
        if sum(best) > left.common + _NOISE:
            best = [0.0] * len(items)
        return any(
            self._have_more(item, value, least)
            for item, least in zip(items, best)
            for value in equal
        )

    def _have_more(self, one: Any, other: Any, least: float) -> bool:
        """Whether two values have more than so much in common."""
        if not (type(one) is dict and type(other) is dict):
            return self.of(one, other)[0] > least + _NOISE
        room = _size(one) - least - _NOISE
        for name in sorted(one):  # for no order may change how many pairs are tried
            part = one[name]
            common = self.of(part, other[name])[0] if name in other else 0.0
            room -= _size(part) - common
            if room <= 0:
                return False
        return room > 0

    def _are_too_many(self, one: list[Any], other: list[Any]) -> bool:
        """Whether it takes too long to compare all items of two arrays with each other."""
        tried = len(one) * len(other)
        if tried <= 1 or tried > MAX_PAIRS:
            return tried > 1
        (inside, letters), (within, beside) = _weight(one), _weight(other)
        if inside * within > self.most_inside:
            return True
        if tried + letters * beside // LETTERS <= MAX_PAIRS:  # also if all stood in one place
            return False
        here, there = _letters(one), _letters(other)
        letters = sum(count * there[path] for path, count in here.items())
        return tried + letters // LETTERS > MAX_PAIRS

    def _texts_of(self, array: list[Any]) -> list[str]:
        """Write the items of an array, once for all arrays that it is compared with."""
        texts = self._texts.get(id(array))
        if texts is None:
            texts = [*map(_in_any_order, array)]
            self._texts[id(array)] = texts
        return texts


def _in_any_order(value: Any) -> str:
    """Write a value so that equal ones have the same text, whatever the order of their items."""
    is_leaf = not isinstance(value, (dict, list))
    return write_scalar(value) if is_leaf else canonical(value, sort_arrays=True)


def _weight(items: list[Any]) -> tuple[int, int]:
    """Count the items of all arrays inside of items, and the characters of all texts."""
    inside = letters = 0
    waiting = [*items]
    for value in waiting:  # which grows meanwhile
        if isinstance(value, str):
            letters += len(value)
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            inside += len(value)
            waiting += value
    return inside, letters


def _letters(items: list[Any]) -> Counter[str]:
    """Count the characters of all texts in items by where they stand, positions folded."""
    found: Counter[str] = Counter()
    waiting = [("", item) for item in items]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            found[path] += len(value)
        elif isinstance(value, dict):
            waiting += [(f"{path}/{name}", part) for name, part in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}/*", part) for part in value]
    return found


def _worths(
    one: list[Any], other: list[Any], table: dict[tuple[int, int], _Scored]
) -> list[list[float]]:
    """Rate pairs by what they have in common, then by what more two items could have apart."""
    sizes, others = [*map(_size, one)], [*map(_size, other)]
    unit = _NOISE / max([1.0, *sizes, *others])
    return [
        [
            table[row, column][0] + unit * (size + beside - table[row, column][1])
            for column, beside in enumerate(others)
        ]
        for row, size in enumerate(sizes)
    ]


def _of_the_rest(one: list[Any], other: list[Any], pairs: list[tuple[int, int]]) -> float:
    """Return what items could have that are in no pair."""
    here, there = {place for place, _ in pairs}, {place for _, place in pairs}
    spare = [item for place, item in enumerate(one) if place not in here]
    wanted = [item for place, item in enumerate(other) if place not in there]
    return _size(spare) + _size(wanted)


def _size(value: Any) -> float:
    """Count the leaves of a value; an empty object or array is none."""
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, list):
        return sum(map(_size, value))
    return 1.0


def _are_leaves(items: list[Any]) -> bool:
    return not any(isinstance(item, (dict, list)) for item in items)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else write_scalar(value)
