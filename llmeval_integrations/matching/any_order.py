"""Pair the items of two arrays if their order does not count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from llmeval_integrations.json_values.equality import equal
from llmeval_integrations.matching.arrays import WHOLE, Arrays, Pairs, Table
from llmeval_integrations.matching.assignment import best_pairs


def pair_in_any_order(arrays: Arrays, here: Sequence[int], there: Sequence[int]) -> Pairs:
    """Pair items for the greatest total gain, first the items that match in full."""
    its = arrays.its
    same, spare, wanted = _pair_equal(arrays, here, there)
    if not (spare and wanted):
        return same
    may_split = bool(same) and (its.fuzzy or arrays.least > 0)
    is_alone = its.pairs_all and len(spare) == len(wanted) == 1
    if (its.exact and _are_leaves(arrays, spare, wanted)) or (is_alone and not may_split):
        return same + arrays.pair_leaves(spare, wanted)
    table = arrays.table(spare, wanted)
    if table is None:
        found = arrays.pair_by_parts(spare, wanted)
    else:
        found = [(spare[row], wanted[column]) for row, column in best_pairs(table)]
        # With a tolerance of 0.1, [1.9, 2.0] matches [2.0, 2.1] only if the equal 2.0 are split.
        if may_split and _may_gain(arrays, same, spare, wanted, table):
            whole = arrays.table(here, there)
            if whole is None:
                arrays.is_limited = True
            else:
                found = [(here[row], there[column]) for row, column in best_pairs(whole)]
                same, spare, wanted = [], [*here], [*there]
    used, met = {one for one, _ in found}, {other for _, other in found}
    spare, wanted = [n for n in spare if n not in used], [n for n in wanted if n not in met]
    return same + found + arrays.pair_leaves(spare, wanted)


def _pair_equal(
    arrays: Arrays, here: Iterable[int], there: Iterable[int]
) -> tuple[Pairs, list[int], list[int]]:
    """Pair items that match in full; return the pairs and the positions left on both sides."""
    its, output, reference = arrays.its, arrays.output, arrays.reference
    both = {n for n in {*here} & {*there} if equal(output[n], reference[n])}
    same = [(n, n) for n in sorted(both)]
    spare, wanted = [n for n in here if n not in both], [n for n in there if n not in both]
    if len(spare) + len(wanted) > 2:
        write = arrays.texts.write
        texts = {n: write(its, output[n]) for n in spare}
        more, spare, wanted = pair_texts(texts, {n: write(its, reference[n]) for n in wanted})
        same += more
    return same, spare, wanted


def _are_leaves(arrays: Arrays, spare: list[int], wanted: list[int]) -> bool:
    """Return whether all items of one side are leaves."""
    is_leaf = arrays.its.is_leaf
    return all(is_leaf(arrays.output[n]) for n in spare) or all(
        is_leaf(arrays.reference[n]) for n in wanted
    )


def _may_gain(
    arrays: Arrays, same: Pairs, spare: list[int], wanted: list[int], table: Table
) -> bool:
    """Return whether splitting pairs of equal items may increase the total gain.

    It cannot if every item of the shorter rest already gains as much as with any item of these
    pairs.
    """
    if len(spare) <= len(wanted):
        rivals = arrays.table(spare, [there for _, there in same])
    else:
        turned = arrays.table([here for here, _ in same], wanted)
        rivals = turned and [[*column] for column in zip(*turned)]
        table = [[*column] for column in zip(*table)]
    if rivals is None:
        return True
    best = [max(row) for row in table]
    gained = sum(table[row][column] for row, column in best_pairs(table))
    if sum(best) > gained + WHOLE:  # not every item could have its best partner
        best = [0.0] * len(best)
    return any(max(row) > most for row, most in zip(rivals, best))


def pair_texts(
    output: dict[int, str], reference: dict[int, str]
) -> tuple[Pairs, list[int], list[int]]:
    """Pair positions with equal texts, earlier ones first; return the pairs and both rests."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position in reversed(output):
        places[output[position]].append(position)
    pairs, wanted = [], []
    for position, text in reference.items():
        if found := places.get(text):
            pairs.append((found.pop(), position))
        else:
            wanted.append(position)
    return pairs, sorted(n for left in places.values() for n in left), wanted
