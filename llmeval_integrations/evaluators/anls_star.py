"""Compute ANLS* as the authors' own package does."""

from __future__ import annotations

import math
from operator import itemgetter
from typing import Any, NamedTuple

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.json_values.values import SCALARS, count_leaves
from llmeval_integrations.matching.assignment import best_pairs
from llmeval_integrations.text.edit_distance import count_edits


class Score(NamedTuple):
    """The similarity of two values."""

    gained: float
    """The sum of the similarities of their leaves."""

    leaves: int
    """The number of leaves of both values together; a pair counts once."""

    nearest: Any
    """The reference, rearranged to be as near to the output as possible."""

    @property
    def mean(self) -> float:
        """The mean similarity of the leaves, or 1 if there are none."""
        return self.gained / self.leaves if self.leaves else 1.0


class TooManyPairsError(Exception):
    """The documents have more than MAX_PAIRS pairs of items, and the package tries all pairs."""


class AnlsStar:
    """Computes the figure of the package `anls-star`.

    The package ignores case and white space, and a distance of exactly `tau` still counts. Null,
    the empty text and an empty object or array are missing values. Items are paired for the best
    mean. If the output is a text and the reference a list of texts, the nearest one counts. If
    several pairings are equally good, the package's choice depends on its version of `munkres`.
    """

    def __init__(self, tau: float) -> None:
        self._least = 1.0 - tau
        self._pairs_left = MAX_PAIRS

    def score(self, output: Any, reference: Any) -> float:
        """Return the figure of the package, from 0 to 1, or 0 if the package raises an error.

        Raises TooManyPairsError.
        """
        texts = reference if type(reference) is list else [None]
        if type(output) is str and all(type(one) is str for one in texts):
            return max((self._compare(output, one).mean for one in texts), default=0.0)
        return self._compare(output, reference).mean

    def _compare(self, output: Any, reference: Any) -> Score:
        if reference is None:
            if _is_nothing(output):
                return Score(1.0, max(1, count_leaves(output)), output)
            return Score(0.0, max(1, count_leaves(output)), None)
        if type(reference) is dict and type(output) is dict:
            return self._compare_objects(output, reference)
        if type(reference) is list and type(output) is list:
            return self._compare_arrays(output, reference)
        leaves = max(count_leaves(output), count_leaves(reference))
        are_leaves = type(reference) in SCALARS and type(output) in SCALARS and output is not None
        return Score(self._similarity(output, reference) if are_leaves else 0.0, leaves, reference)

    def _compare_objects(self, output: dict[str, Any], reference: dict[str, Any]) -> Score:
        gained, leaves = 0.0, 0
        nearest: dict[str, Any] = {}
        for name in [*reference, *(name for name in output if name not in reference)]:
            found = self._compare(output.get(name), reference.get(name))
            leaves += found.leaves
            if name not in reference and _is_nothing(output[name]):
                continue  # an extra member without a value: a leaf that gains nothing
            gained += found.gained
            if name in output or not _is_nothing(found.nearest):
                nearest[name] = found.nearest
        return Score(gained, leaves, nearest)

    def _compare_arrays(self, output: list[Any], reference: list[Any]) -> Score:
        self._pairs_left -= len(output) * len(reference)
        if self._pairs_left < 0:
            raise TooManyPairsError(
                f"More than {MAX_PAIRS:,} pairs of items, and anls-star tries all pairs"
            )
        table = [[self._compare(item, expected) for item in output] for expected in reference]
        weights = [
            [
                math.nextafter(score.mean, math.inf) if item == score.nearest else score.mean
                for item, score in zip(output, row)
            ]
            for row in table
        ]
        pairs = best_pairs(weights)
        spare = [row for row in range(len(reference)) if row not in {each for each, _ in pairs}]
        others = [column for column in range(len(output)) if column not in {n for _, n in pairs}]
        pairs += zip(spare, others)  # the package also pairs items with nothing in common
        paired = [table[row][column] for row, column in sorted(pairs, key=itemgetter(1))]
        alone = [reference[row] for row in spare[len(others) :]]
        more = alone + [output[column] for column in others[len(spare) :]]
        leaves = sum(score.leaves for score in paired) + sum(map(count_leaves, more))
        nearest = [score.nearest for score in paired]
        return Score(sum(score.gained for score in paired), leaves, nearest + alone)

    def _similarity(self, output: Any, reference: Any) -> float:
        one, other = (" ".join(str(value).lower().split()) for value in (output, reference))
        longest = max(len(one), len(other))
        share = 1 - (count_edits(longest, one, other) / longest if longest else 0.0)
        return share if share >= self._least else 0.0


def _is_nothing(value: Any) -> bool:
    return value is None or value in ({}, [], "")
