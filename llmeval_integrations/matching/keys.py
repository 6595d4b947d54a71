"""Pair the items of two arrays by a key, such as an id."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.matching.assignment import Pairs, best_pairs, leftovers
from llmeval_integrations.matching.gains import COMMON, BudgetSpentError
from llmeval_integrations.matching.node import AnyOf, Node, alternatives_of, is_optional
from llmeval_integrations.matching.shared_parts import pair_by_parts

if TYPE_CHECKING:
    from llmeval_integrations.matching.pairing import Arrays


def pair_by_key(arrays: Arrays) -> Pairs:
    """Pair items whose keys are equal, then items whose keys match by their rule.

    If several items have the same key, the best pairs among them count. If no item has a key,
    the order counts. A pair that is less similar than `min_similarity` is dropped at the end,
    and its items are not paired again.
    """
    node, its = arrays.node, arrays.its
    here: defaultdict[str, list[int]] = defaultdict(list)  # positions by the text of their key
    there: defaultdict[str, list[int]] = defaultdict(list)
    for groups, items in ((here, arrays.output), (there, arrays.reference)):
        for position, item in enumerate(items):
            key = its.leaf_text(item) if type(item) is AnyOf else ""
            for name in node.key if type(item) is dict else ():
                if name in item:
                    part = its.members.get(name) or its.member(name)
                    key += f"{name!r}:{arrays.pairing.text(part, item[name])},"
            groups[key].append(position)
    pairs: Pairs = []
    has_no_key = here.keys() | there.keys() == {""}
    for key, wanted in there.items():
        spare = here.get(key, [])
        if has_no_key or len(spare) == len(wanted) == 1:
            pairs += zip(spare, wanted)
        elif spare:
            pairs += arrays.pair_in_any_order(spare, wanted)
    if len(pairs) < min(len(arrays.output), len(arrays.reference)):
        pairs += _pair_near(arrays, pairs)
    arrays.least = node.min_similarity
    return [pair for pair in pairs if arrays.gain(*pair)] if arrays.least else pairs


def _pair_near(arrays: Arrays, pairs: Pairs) -> Pairs:
    """Pair the other items whose keys match by a rule, such as a tolerance, for the best sum.

    If there are too many to try every pair, the score of the keys alone decides.
    """
    node, its, pairing = arrays.node, arrays.its, arrays.pairing
    are_exact = all(its.member(name).exact for name in node.key)
    if are_exact and not its.has_defaults:  # a call, which has them, may have an AnyOf for a key
        return []
    rest = leftovers(pairs, range(len(arrays.output)), range(len(arrays.reference)))
    spare = [n for n in rest[0] if node.has_key(arrays.output[n])]
    wanted = [n for n in rest[1] if node.has_key(arrays.reference[n])]
    tries = len(spare) * len(wanted)
    if tries > pairing.left:
        if pairing.depth:
            raise BudgetSpentError
        likely = pair_by_parts(arrays, spare, wanted)
        return [
            (n, m)
            for n, m in likely
            if _rate_keys(node, its, arrays.output[n], arrays.reference[m])
        ]
    scores = [
        [_rate_keys(node, its, arrays.output[n], arrays.reference[m]) for m in wanted]
        for n in spare
    ]
    if not any(map(any, scores)):
        pairing.left -= tries
        return []
    gains = arrays.table(spare, wanted)
    arrays.is_limited |= gains is None
    table = [
        [COMMON + gain if score else 0.0 for score, gain in zip(row, gained)]
        for row, gained in zip(scores, gains or scores)
    ]
    return [(spare[row], wanted[column]) for row, column in best_pairs(table)]


def _rate_keys(node: Node, its: Node, output: Any, reference: Any) -> float:
    """Return how well the keys of two items match, or 0 if they do not."""
    several = filter(node.has_key, alternatives_of(reference))
    return max((_rate_members(node.key, its, output, one) for one in several), default=0.0)


def _rate_members(
    key: tuple[str, ...], its: Node, output: dict[str, Any], reference: dict[str, Any]
) -> float:
    least = 1.0
    for name in key:
        value, expected = output.get(name, MISSING), reference.get(name, MISSING)
        if value is MISSING and (expected is MISSING or is_optional(expected)):
            continue
        if value is MISSING or expected is MISSING:
            return 0.0
        part = its.member(name)
        verdicts = [part.leaf(value, one) for one in alternatives_of(expected)]
        scores = [max(score, COMMON) for kind, score in verdicts if kind == "match"]
        least = min(least, max(scores, default=0.0))
    return least
