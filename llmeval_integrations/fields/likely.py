"""Which items of two arrays are likely to belong together, where they are too many to be tried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from llmeval_integrations.fields.side import Side

_WIDTHS: Final = (4, 2, 1)
"""So many members of an item, side by side, are looked for in others: more tell more."""

_VOTES: Final = 50
"""The pairs, for each item, that are found to share something. What is in so many items that it
would take more, as one currency in all prices, tells nothing."""

_MOST_VOTES: Final = 2_000_000
"""The most for all items together, so that they do not fill the memory."""

_Leaves: TypeAlias = "list[tuple[str, str]]"


def likely_pairs(here: Side, there: Side) -> list[tuple[int, int]]:
    """Pair items with those that share the most with them that few others have.

    In linear time, and so that nothing hangs on the order of items: where several pairs share as
    much, and for items that share nothing telling, the order of `places` decides.
    """
    votes = _votes(here, there)
    ranks, others = ({place: n for n, place in enumerate(side.places)} for side in (here, there))
    left, wanted = dict.fromkeys(here.places), dict.fromkeys(there.places)
    pairs = []
    for one, other in sorted(votes, key=lambda at: (-votes[at], ranks[at[0]], others[at[1]])):
        if one in left and other in wanted:
            pairs.append((one, other))
            del left[one], wanted[other]
    return [*pairs, *zip(left, wanted)]


def _votes(here: Side, there: Side) -> dict[tuple[int, int], int]:
    """Count what pairs share, the rarest first, until there are too many."""
    mine, theirs = ([*_leaves(side)] for side in (here, there))
    left = min(_VOTES * (len(mine) + len(theirs)), _MOST_VOTES)
    votes: defaultdict[tuple[int, int], int] = defaultdict(int)
    for width in _WIDTHS:
        known, wanted = _by_members(mine, width), _by_members(theirs, width)
        shared = [(known[each], places) for each, places in wanted.items() if each in known]
        shared.sort(key=lambda both: len(both[0]) * len(both[1]))
        for ours, places in shared:
            if len(ours) * len(places) > left:
                break
            left -= len(ours) * len(places)
            for one in ours:
                for other in places:
                    votes[one, other] += 1
    return votes


def _leaves(side: Side) -> Iterator[tuple[int, _Leaves]]:
    """Yield places with the members that stand there, by name."""
    for place in side.places:
        item: Any = side.items[place]
        members = sorted(item.items()) if type(item) is dict else [("", item)]
        yield place, [(name, side.write(value)) for name, value in members]


def _by_members(items: list[tuple[int, _Leaves]], width: int) -> dict[tuple[Any, ...], list[int]]:
    """Find the places of so many neighbouring members; the last one's neighbour is the first."""
    found: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, leaves in items:
        if width == 1 or width < len(leaves):
            ring = leaves + leaves[: width - 1]
            for start in range(len(leaves)):
                found[tuple(ring[start : start + width])].append(place)
    return found
