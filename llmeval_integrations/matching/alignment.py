"""Align two arrays: pair their items so that no two pairs cross."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

from llmeval_integrations.json_values.values import SCALARS, equal
from llmeval_integrations.matching.assignment import Pairs, Table
from llmeval_integrations.matching.shared_parts import pair_by_parts

if TYPE_CHECKING:
    from llmeval_integrations.matching.pairing import Arrays


def align(arrays: Arrays) -> Pairs:
    """Pair items so that no two pairs cross and their total gain is the greatest.

    If there are too many items, likely pairs that do not cross come first, as anchors. The
    items between two anchors are then paired among themselves.
    """
    output, reference, its = arrays.output, arrays.reference, arrays.its
    if its.exact and not its.pairs_all and are_disjoint(output, reference):
        return arrays.pair_leaves(range(len(output)), range(len(reference)))
    start, end = measure_ends(output, reference)
    here, there = range(start, len(output) - end), range(start, len(reference) - end)
    pairs = [(n, n) for n in range(start)]
    pairs += zip(range(here.stop, len(output)), range(there.stop, len(reference)))
    block = _align_block(arrays, here, there)
    if block is not None:
        return pairs + block
    anchors = longest_chain(sorted(pair_by_parts(arrays, here, there)))
    pairs += anchors
    for rows, columns in _gaps(anchors, here, there):
        block = _align_block(arrays, rows, columns)
        if block is None:
            block = [pair for pair in zip(rows, columns) if not arrays.least or arrays.gain(*pair)]
        pairs += block
    return pairs


def _align_block(arrays: Arrays, here: range, there: range) -> Pairs | None:
    """Pair the items at these positions; return None if there are too many."""
    if not (here and there):
        return []
    if len(here) == len(there) == 1:
        is_pair = arrays.gain(here[0], there[0]) > 0
        return [(here[0], there[0])] if is_pair else arrays.pair_leaves(here, there)
    if len(here) == len(there) and _fit_by_position(arrays, here):
        return [*zip(here, there)]
    table = arrays.table(here, there)
    if table is None:
        return None
    pairs = [(here[row], there[column]) for row, column in best_path(table)]
    for rows, columns in _gaps(pairs, here, there):
        pairs += arrays.pair_leaves(rows, columns)
    return pairs


def _fit_by_position(arrays: Arrays, positions: range) -> bool:
    """Return whether pairing by position is surely the best; for most long arrays it is.

    The arrays are of one length, so any other pairing leaves out at least one item of each.
    Pairing by position is the best if all its pairs together lose no more than the smallest
    item weighs.
    """
    lacking, smallest = 0.0, inf
    for n in positions:
        weight = arrays.its.weigh(arrays.reference[n])
        smallest = min(smallest, weight)
        if not equal(arrays.output[n], arrays.reference[n]):
            gain = arrays.gain(n, n)
            lacking += weight - gain
            if not gain or lacking > smallest:
                return False
    return lacking <= smallest


def _gaps(pairs: Pairs, here: range, there: range) -> list[tuple[range, range]]:
    """Return the positions before, between and after pairs."""
    ends = [(here.start - 1, there.start - 1), *pairs, (here.stop, there.stop)]
    return [
        (range(row + 1, next_row), range(column + 1, next_column))
        for (row, column), (next_row, next_column) in pairwise(ends)
    ]


def pair_by_position(output: list[Any], reference: list[Any], *, from_end: bool) -> Pairs:
    """Pair items by position; with `from_end`, equal items at the end by position from there."""
    ours, theirs = len(output), len(reference)
    pairs = [*zip(range(ours), range(theirs))]
    if from_end and ours != theirs:
        end = measure_ends(output, reference)[1]
        pairs[len(pairs) - end :] = zip(range(ours - end, ours), range(theirs - end, theirs))
    return pairs


def measure_ends(output: list[Any], reference: list[Any]) -> tuple[int, int]:
    """Return how many items are equal at the beginning and at the end of two arrays."""
    most = min(len(output), len(reference))
    start = end = 0
    while start < most and equal(output[start], reference[start]):
        start += 1
    while end < most - start and equal(output[-1 - end], reference[-1 - end]):
        end += 1
    return start, end


def are_disjoint(output: list[Any], reference: list[Any]) -> bool:
    """Return whether all items are scalars, and no item of one array equals one of the other."""
    return (
        SCALARS.issuperset(map(type, output))
        and SCALARS.issuperset(map(type, reference))
        and set(output).isdisjoint(reference)
    )


def best_path(table: Table) -> Pairs:
    """Return the pairs with the greatest sum in which no two cross; earlier ones if sums tie."""
    rows, columns = len(table), len(table[0])
    below = [0.0] * (columns + 1)
    best = [below]  # by row and column: the greatest sum from there on; built from the last row
    for gains in reversed(table):
        here = [0.0] * (columns + 1)
        right = 0.0
        for column in range(columns - 1, -1, -1):
            gain = gains[column]
            paired = gain + below[column + 1] if gain else 0.0
            right = here[column] = max(paired, below[column], right)
        best.append(here)
        below = here
    best.reverse()
    pairs: Pairs = []
    row = column = 0
    while row < rows and column < columns:
        gain = table[row][column]
        if gain and best[row][column] == gain + best[row + 1][column + 1]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs


def longest_chain(pairs: Pairs) -> Pairs:
    """Return the longest chain of pairs, which are sorted by row, in which no two cross.

    This is the longest increasing subsequence of their columns, by patience sorting.
    """
    ends: list[int] = []  # the smallest column at which a chain of each length ends
    last: Pairs = []  # the last pair of that chain
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    for pair in pairs:
        length = bisect_left(ends, pair[1])
        ends[length : length + 1] = [pair[1]]
        last[length : length + 1] = [pair]
        before[pair] = last[length - 1] if length else None
    found: Pairs = []
    at = last[-1] if last else None
    while at is not None:
        found.append(at)
        at = before[at]
    return found[::-1]
