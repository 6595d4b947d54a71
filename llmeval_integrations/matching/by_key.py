"""Pair the items of two arrays if a key identifies them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from llmeval_integrations.matching.any_order import pair_in_any_order
from llmeval_integrations.matching.arrays import COMMON, Arrays, Pairs
from llmeval_integrations.matching.assignment import best_pairs


def pair_by_key(arrays: Arrays) -> Pairs:
    """Pair items whose keys are equal, then items whose keys match by their rule.

    If several items have the same key, the best pairs among them count. A pair that is less similar
    than `min_similarity` is dropped at the end, and its items are not paired with others.
    """
    here, there = _group_by_key(arrays, arrays.output), _group_by_key(arrays, arrays.reference)
    pairs: Pairs = []
    for key, wanted in there.items():
        spare = here.get(key, [])
        if len(spare) == len(wanted) == 1:
            pairs.append((spare[0], wanted[0]))
        elif spare:
            pairs += pair_in_any_order(arrays, spare, wanted)
    if not all(arrays.its.member(name).exact for name in arrays.node.key):
        pairs += _pair_near(arrays, pairs)
    least = arrays.node.min_similarity
    return [pair for pair in pairs if arrays.is_similar(*pair, least)] if least else pairs


def _group_by_key(arrays: Arrays, items: list[Any]) -> dict[str, list[int]]:
    """Return the positions of items by the text of their key; "" is for items without one."""
    write, member = arrays.texts.write, arrays.its.member
    found: defaultdict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        texts = [
            f"{name!r}:{write(member(name), item[name])}"
            for name in arrays.node.key
            if type(item) is dict and name in item
        ]
        found[",".join(texts)].append(position)
    return found


def _pair_near(arrays: Arrays, pairs: Pairs) -> Pairs:
    """Pair the other items whose keys match by a rule, such as a tolerance, for the best sum.

    If there are too many to try every pair, the score of the keys alone decides.
    """
    has_key, used, met = arrays.node.has_key, {n for n, _ in pairs}, {n for _, n in pairs}
    spare = [n for n, item in enumerate(arrays.output) if n not in used and has_key(item)]
    wanted = [n for n, item in enumerate(arrays.reference) if n not in met and has_key(item)]
    if not (spare and wanted):
        return []
    if len(spare) * len(wanted) > arrays.budget.left:
        likely = arrays.pair_by_parts(spare, wanted)
        return [pair for pair in likely if _rate_keys(arrays, *pair)]
    scores = [[_rate_keys(arrays, one, other) for other in wanted] for one in spare]
    gains = arrays.table(spare, wanted) if any(map(any, scores)) else scores
    if gains is None:
        arrays.is_limited = True
        gains = scores
    table = [
        [COMMON + gain if score else 0.0 for score, gain in zip(row, gained)]
        for row, gained in zip(scores, gains)
    ]
    return [(spare[row], wanted[column]) for row, column in best_pairs(table)]


def _rate_keys(arrays: Arrays, here: int, there: int) -> float:
    """Return how well the keys of two items match, or 0 if they do not."""
    output, reference = arrays.output[here], arrays.reference[there]
    least = 1.0
    for name in arrays.node.key:
        if (name in output) != (name in reference):
            return 0.0
        if name in output:
            kind, score, _ = arrays.its.member(name).leaf(output[name], reference[name])
            least = min(least, max(score, COMMON) if kind == "match" else 0.0)
    return least
