"""How similar are two JSON documents, as one figure?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

from llmeval_integrations.assignment import best_pairs
from llmeval_integrations.edit_distance import measure
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.evaluators.json_validity import defective
from llmeval_integrations.evaluators.parsed import parse_reference, read
from llmeval_integrations.fields.pairing import MAX_PAIRS, Side, equal_pairs, telling_pairs
from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_text import PARSINGS, Parsing
from llmeval_integrations.json_value import canonical, write_scalar
from llmeval_integrations.options import check_choice, check_number
from llmeval_integrations.result import Result
from llmeval_integrations.sample import Sample

_Scored = tuple[float, float]
"""What two values have in common, and the most that they could have: leaves, counted."""


MAX_INSIDE: Final = 100_000
"""The most pairs of items of all arrays inside of two arrays that are compared."""


@dataclass(frozen=True)
class JsonSimilarity(Evaluator):
    """How similar are output and reference, as trees of texts?

    Score: ANLS*, 0 to 1 (Peer, Schoepf, Nebendahl, Rietzler, Stabinger, "ANLS* - A Universal
    Document Processing Metric for Generative Large Language Models", 2024): what the documents
    have in common by what they could have. Two leaves have one minus the Levenshtein distance of
    their texts by the longer one's length, and nothing from a distance of `threshold` on; two
    objects what the members of the same name have, out of all members; two arrays what their
    items have in the best pairing. Numbers, booleans and null are compared as they are written;
    values of different kinds (leaf, object, array) have nothing in common. Empty objects and arrays
    count for nothing, so that two documents without any leaf have a score of 1.

    Where the authors' own package differs: there case and white space do not count, a distance of
    just `threshold` does, null is a missing value, and items are paired for the best average.

    Passes from `min_score` on. Where more than 40,000 pairs of items of two arrays would have to be
    compared, or 100,000 of those in arrays inside them, they are paired by values that no other
    item has, the rest in the order of their texts, and `pairing_limit_reached` is True.
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
        likeness = _Likeness(self.threshold)
        common, most = likeness.of(output, reference)
        score = common / most if most else 1.0
        passed = score >= self.min_score
        metadata = {"pairing_limit_reached": True} if likeness.bounded else {}
        reason = None if passed else f"Similarity {score:.4g} < {self.min_score:g}"
        if reason and likeness.bounded:
            reason += " (too many pairs of items; not all were tried)"
        return Result(score, passed, None, reason, metadata)


class _Likeness:
    """Compares values, and remembers whether the limit was reached."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.bounded = False
        self._texts: dict[int, list[str]] = {}

    def of(self, output: Any, reference: Any) -> _Scored:
        """Give what two values have in common, and the most that they could have."""
        if type(output) is dict and type(reference) is dict:
            return self._of_objects(output, reference)
        if type(output) is list and type(reference) is list:
            return self._of_arrays(output, reference)
        if isinstance(output, (dict, list)) or isinstance(reference, (dict, list)):
            return 0.0, max(_size(output), _size(reference))
        return self._of_leaves(output, reference), 1.0

    def _of_leaves(self, output: Any, reference: Any) -> float:
        one, other = _text(output), _text(reference)
        if one == other:
            return 1.0
        distance, _ = measure("levenshtein", one, other)
        return 1.0 - distance if distance < self.threshold else 0.0

    def _of_objects(self, output: dict[str, Any], reference: dict[str, Any]) -> _Scored:
        common = most = 0.0
        for name, expected in reference.items():
            if name in output:
                shared, possible = self.of(output[name], expected)
                common += shared
                most += possible
            else:
                most += _size(expected)
        most += sum(_size(value) for name, value in output.items() if name not in reference)
        return common, most

    def _of_arrays(self, output: list[Any], reference: list[Any]) -> _Scored:
        """Pair equal items, then the others for the most in common, whatever their order."""
        pairs, spare, wanted = equal_pairs(self._texts_of(output), self._texts_of(reference))
        same = sum(_size(output[here]) for here, _ in pairs)
        one, other = [output[place] for place in spare], [reference[place] for place in wanted]
        if len(one) * len(other) > MAX_PAIRS or _inside(one) * _inside(other) > MAX_INSIDE:
            self.bounded = True
            chosen = _likely_pairs(one, other)
            table = {pair: self.of(one[pair[0]], other[pair[1]]) for pair in chosen}
        else:
            table = {
                (here, there): self.of(value, expected)
                for here, value in enumerate(one)
                for there, expected in enumerate(other)
            }
            chosen = best_pairs(
                [
                    [_worth(table[here, there]) for there in range(len(other))]
                    for here in range(len(one))
                ]
            )
        common = same + sum(table[pair][0] for pair in chosen)
        most = same + sum(table[pair][1] for pair in chosen)
        return common, most + self._of_the_rest(one, other, chosen)

    def _texts_of(self, array: list[Any]) -> list[str]:
        """Write the items of an array, once for all arrays that it is compared with."""
        texts = self._texts.get(id(array))
        if texts is None:
            texts = [*map(_in_any_order, array)]
            self._texts[id(array)] = texts
        return texts

    def _of_the_rest(self, one: list[Any], other: list[Any], pairs: list[tuple[int, int]]) -> float:
        """Give what items could have that are in no pair: the larger ones of either side."""
        used_here, used_there = {here for here, _ in pairs}, {there for _, there in pairs}
        spare = sorted(_size(item) for place, item in enumerate(one) if place not in used_here)
        wanted = sorted(_size(item) for place, item in enumerate(other) if place not in used_there)
        longer, shorter = sorted((spare, wanted), key=len, reverse=True)
        beside = [0.0] * (len(longer) - len(shorter)) + shorter
        return sum(map(max, longer, beside))


_in_any_order = partial(canonical, sort_arrays=True)


def _likely_pairs(one: list[Any], other: list[Any]) -> list[tuple[int, int]]:
    """Pair items by what tells them apart, and the rest in their order."""
    pairs = telling_pairs(Side.whole(one, _in_any_order), Side.whole(other, _in_any_order))
    here, there = {place for place, _ in pairs}, {place for _, place in pairs}
    left = (place for place in range(len(one)) if place not in here)
    return [*pairs, *zip(left, (place for place in range(len(other)) if place not in there))]


def _inside(items: list[Any]) -> int:
    """Count the items of all arrays inside of items."""
    return sum(map(_items, items))


def _items(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_items, value.values()))
    return len(value) + _inside(value) if isinstance(value, list) else 0


def _worth(scored: _Scored) -> float:
    """Rate a pair by what its values have in common; of equal ones the pair that fits better."""
    common, most = scored
    return common + 1e-9 * common / most if most else 0.0


def _size(value: Any) -> float:
    """Count the leaves of a value; an empty object or array is none."""
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, list):
        return sum(map(_size, value))
    return 1.0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else write_scalar(value)
