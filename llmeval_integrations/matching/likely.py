"""Which items of two arrays belong together, where they are too many to be tried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.texts import Texts

_WIDTHS: Final = (4, 2, 1)
"""So many neighbouring members are looked for in other items: more of them say more."""

_VOTES: Final = 50
"""The pairs that an item is found to share a part with. A part that so many items have that it
would take more, such as one currency in all prices, says nothing."""

_MOST_VOTES: Final = 2_000_000
"""The most for all items together, so that they do not fill the memory."""


def likely_pairs(
    node: Node,
    ours: Sequence[tuple[int, Any]],
    theirs: Sequence[tuple[int, Any]],
    texts: Texts,
) -> list[tuple[int, int]]:
    """Pair items with those that share the most parts with them that few others have.

    The time is linear. Of pairs that share as much, and for items that share nothing, the order
    of the items decides.
    """
    votes = _votes([*_parts(node, ours, texts)], [*_parts(node, theirs, texts)])
    ranks, others = ({place: n for n, (place, _) in enumerate(side)} for side in (ours, theirs))
    spare, wanted = dict.fromkeys(ranks), dict.fromkeys(others)
    pairs = []
    for one, other in sorted(votes, key=lambda at: (-votes[at], ranks[at[0]], others[at[1]])):
        if one in spare and other in wanted:
            pairs.append((one, other))
            del spare[one], wanted[other]
    return [*pairs, *zip(spare, wanted)]


def _votes(
    ours: list[tuple[int, list[str]]], theirs: list[tuple[int, list[str]]]
) -> dict[tuple[int, int], int]:
    """Count the parts that pairs share, the rarest parts first, until they are too many."""
    left = min(_VOTES * (len(ours) + len(theirs)), _MOST_VOTES)
    votes: defaultdict[tuple[int, int], int] = defaultdict(int)
    for width in _WIDTHS:
        known, wanted = _group_neighbours(ours, width), _group_neighbours(theirs, width)
        shared = [(known[part], places) for part, places in wanted.items() if part in known]
        shared.sort(key=lambda both: len(both[0]) * len(both[1]))
        for here, there in shared:
            if len(here) * len(there) > left:
                break
            left -= len(here) * len(there)
            for one in here:
                for other in there:
                    votes[one, other] += 1
    return votes


def _parts(
    node: Node, items: Sequence[tuple[int, Any]], texts: Texts
) -> Iterator[tuple[int, list[str]]]:
    """Yield places with the texts of the leaves that stand there."""
    for place, item in items:
        yield place, sorted(_leaves(node, item, "", texts))


def _leaves(node: Node, value: Any, path: str, texts: Texts) -> Iterator[str]:
    if node.ignored:
        return
    if type(value) is dict and value and not node.whole:
        for name, part in value.items():
            yield from _leaves(node.member(name), part, f"{path}/{name}", texts)
    elif type(value) is list and value and not node.whole:
        for position, part in enumerate(value):
            step = position if node.has_order(value) else "*"
            yield from _leaves(node.item(position), part, f"{path}/{step}", texts)
    else:
        yield f"{path}:{texts.write(node, value)}"


def _group_neighbours(items: list[tuple[int, list[str]]], width: int) -> dict[Any, list[int]]:
    """Return the places of so many neighbouring parts; the neighbour of the last is the first."""
    found: defaultdict[Any, list[int]] = defaultdict(list)
    for place, parts in items:
        if width == 1 or width < len(parts):
            ring = parts + parts[: width - 1]
            for start in range(len(parts)):
                found[tuple(ring[start : start + width])].append(place)
    return found
