"""Pair the items of two arrays by what they share, if there are too many to try every pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

_WIDTHS: Final = (4, 2, 1)
"""How many neighbouring leaves make a part that items may share; longer parts are rarer."""

_VOTES: Final = 50
"""The votes for each item. Parts that would need more, as too many items have them, are skipped:
one currency in all prices tells no items apart."""

_MOST_VOTES: Final = 2_000_000
"""The votes for all items together, which bounds the memory."""


def pair_by_shared_parts(
    ours: Mapping[int, list[str]], theirs: Mapping[int, list[str]]
) -> list[tuple[int, int]]:
    """Pair items by position; each shared part of their sorted leaves is a vote for a pair.

    Pairs with the most votes come first, then earlier ones. Items without votes are paired in the
    order of their leaves, so that similar beginnings meet. The time is linear.
    """
    left = min(_VOTES * (len(ours) + len(theirs)), _MOST_VOTES)
    votes: defaultdict[tuple[int, int], int] = defaultdict(int)
    for width in _WIDTHS:
        known, wanted = _group_neighbours(ours, width), _group_neighbours(theirs, width)
        shared = [(known[part], places) for part, places in wanted.items() if part in known]
        shared.sort(key=lambda both: len(both[0]) * len(both[1]))  # the rarest parts first
        for here, there in shared:
            if len(here) * len(there) > left:
                break
            left -= len(here) * len(there)
            for pair in ((one, other) for one in here for other in there):
                votes[pair] += 1
    spare, others = dict.fromkeys(ours), dict.fromkeys(theirs)
    pairs = []
    for one, other in sorted(votes, key=lambda pair: (-votes[pair], pair)):
        if one in spare and other in others:
            pairs.append((one, other))
            del spare[one], others[other]
    rest = zip(sorted(spare, key=ours.__getitem__), sorted(others, key=theirs.__getitem__))
    return [*pairs, *rest]


def _group_neighbours(items: Mapping[int, list[str]], width: int) -> dict[object, list[int]]:
    """Return the items that have each part of `width` leaves; the first leaf follows the last."""
    found: defaultdict[object, list[int]] = defaultdict(list)
    for position, leaves in items.items():
        if width == 1 or width < len(leaves):
            ring = [*leaves, *leaves[: width - 1]]
            for start in range(len(leaves)):
                found[tuple(ring[start : start + width])].append(position)
    return found
