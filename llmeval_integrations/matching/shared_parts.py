"""Pair items by the leaves that they share, if there are too many to try every pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.matching.assignment import Pairs, Positions
from llmeval_integrations.matching.node import Node

if TYPE_CHECKING:
    from llmeval_integrations.matching.pairing import Arrays, Pairing

_WIDTHS: Final = (4, 2, 1)
"""How many neighbouring leaves make a part that items may share; longer parts are rarer."""

_VOTES: Final = 50
"""The votes for each item. Parts that would need more, as too many items have them, are skipped:
one currency in all prices tells no items apart."""

_MOST_VOTES: Final = 2_000_000
"""The votes for all items together, which bounds the memory."""


def pair_by_parts(arrays: Arrays, spare: Positions, wanted: Positions) -> Pairs:
    """Pair the items at these positions without trying every pair."""
    arrays.is_limited = True
    its, pairing = arrays.its, arrays.pairing
    pairs = _pair_by_votes(
        {n: sorted(_leaf_texts(pairing, its, arrays.output[n])) for n in spare},
        {n: sorted(_leaf_texts(pairing, its, arrays.reference[n])) for n in wanted},
    )
    return pairs if its.pairs_all else [pair for pair in pairs if arrays.gain(*pair)]


def _leaf_texts(pairing: Pairing, node: Node, value: Any, path: str = "") -> Iterator[str]:
    """Yield the texts of the leaves of a value, each with its place."""
    if node.ignored:
        return
    if node.is_leaf(value):
        yield f"{path}:{pairing.text(node, value)}"
    elif type(value) is dict:
        for name, part in value.items():
            yield from _leaf_texts(pairing, node.member(name), part, f"{path}/{name}")
    else:
        has_order = node.has_order(value)
        for position, part in enumerate(value):
            step = position if has_order else "*"
            yield from _leaf_texts(pairing, node.item(position), part, f"{path}/{step}")


def _pair_by_votes(ours: Mapping[int, list[str]], theirs: Mapping[int, list[str]]) -> Pairs:
    """Pair items; each part of their sorted leaves that two items share is a vote for this pair.

    Pairs with the most votes come first, then earlier ones. Items without votes are paired in the
    order of their leaves, so that similar beginnings meet. The time is linear.
    """
    left = min(_VOTES * (len(ours) + len(theirs)), _MOST_VOTES)
    votes: Counter[tuple[int, int]] = Counter()
    for width in _WIDTHS:
        known, wanted = _group_by_part(ours, width), _group_by_part(theirs, width)
        shared = [(known[part], places) for part, places in wanted.items() if part in known]
        shared.sort(key=lambda both: len(both[0]) * len(both[1]))  # the rarest parts first
        for here, there in shared:
            if len(here) * len(there) > left:
                break
            left -= len(here) * len(there)
            votes.update(product(here, there))
    spare, others = dict.fromkeys(ours), dict.fromkeys(theirs)
    pairs = []
    for one, other in sorted(votes, key=lambda pair: (-votes[pair], pair)):
        if one in spare and other in others:
            pairs.append((one, other))
            del spare[one], others[other]
    rest = zip(sorted(spare, key=ours.__getitem__), sorted(others, key=theirs.__getitem__))
    return [*pairs, *rest]


def _group_by_part(items: Mapping[int, list[str]], width: int) -> dict[object, list[int]]:
    """Return the items that have each part of `width` leaves; the first leaf follows the last."""
    found: defaultdict[object, list[int]] = defaultdict(list)
    for position, leaves in items.items():
        if width == 1 or width < len(leaves):
            ring = [*leaves, *leaves[: width - 1]]
            for start in range(len(leaves)):
                found[tuple(ring[start : start + width])].append(position)
    return found
