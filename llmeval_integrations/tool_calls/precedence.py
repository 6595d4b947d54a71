"""Which of the expected calls have to come before which. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final

import msgspec

Before = Sequence[tuple[str | int, str | int]]
"""Which call comes before which: each a tool's name, or a position among the expected calls."""

_MOST_SHOWN: Final = 8
_OPENS, _CLOSES = 0, 1
_Graph = dict[Hashable, list[Hashable]]


class Precedence(msgspec.Struct, frozen=True):
    """The expected calls that come after each, and before each, as the bits of a number.

    It is transitive: what comes before a call comes before all that come after it, also by way of
    a tool that no call is expected of.
    """

    after: list[int]
    before: list[int]

    @classmethod
    def of(cls, before: Before, names: Sequence[str]) -> Precedence:
        """Draw the conclusions from pairs that do not contradict each other."""
        turned = [(then, first) for first, then in before]
        count = len(names)
        return cls(_reached(_graph(before, names), count), _reached(_graph(turned, names), count))


def contradiction(before: Before, names: Sequence[str] = ()) -> str | None:
    """Name calls that would have to come before themselves; None where there are none.

    Without the names of the expected calls only what the pairs say by themselves is known.
    """
    try:
        TopologicalSorter(_graph(before, names)).prepare()
    except CycleError as error:
        circle = error.args[1][:0:-1]  # from what comes first on
    else:
        return None
    # Those of a tool are told by their positions where these are a part of it.
    told = {names[node] for node in circle if isinstance(node, int) and node < len(names)}
    shown = [
        str(node) if isinstance(node, int) else repr(node[0][:80])
        for node in circle
        if isinstance(node, int) or node[0] not in told
    ]
    words = list(dict.fromkeys(shown))
    several = words if len(words) <= _MOST_SHOWN else [*words[:_MOST_SHOWN], "..."]
    return " before ".join([*several, words[0]])


def _graph(before: Before, names: Sequence[str]) -> _Graph:
    """Draw what follows on what: a position, or where the calls of a tool open, and close.

    So as many calls as a tool has make no more pairs of it.
    """
    graph: defaultdict[Hashable, list[Hashable]] = defaultdict(list)
    graph.update({n: [] for n in range(len(names))})
    tools = dict.fromkeys(which for pair in before for which in pair if isinstance(which, str))
    for tool in tools:
        graph[tool, _OPENS].append((tool, _CLOSES))
    for n, name in enumerate(names):
        if name in tools:
            graph[name, _OPENS].append(n)
            graph[n].append((name, _CLOSES))
    for first, then in before:
        for one in _nodes(first, then, names, _CLOSES):
            graph[one].extend(_nodes(then, first, names, _OPENS))
    return graph


def _nodes(
    which: str | int, other: str | int, names: Sequence[str], end: int
) -> Iterable[Hashable]:
    """Return what a pair's side stands for: of a call and its own tool, the tool's other calls."""
    if isinstance(which, int):
        return [which]
    if isinstance(other, int) and other < len(names) and names[other] == which:
        return [n for n, name in enumerate(names) if name == which and n != other]
    return [(which, end)]


def _reached(graph: _Graph, count: int) -> list[int]:
    """Return the positions that can be reached from each position, as the bits of a number."""
    reached: dict[Hashable, int] = {}
    for node in TopologicalSorter(graph).static_order():  # what follows comes first
        bits = 0
        for following in graph.get(node, ()):
            bits |= reached[following]
            if isinstance(following, int):
                bits |= 1 << following
        reached[node] = bits
    return [reached[n] for n in range(count)]
