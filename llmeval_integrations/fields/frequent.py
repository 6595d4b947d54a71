"""Which of very many things are the most frequent."""

from __future__ import annotations

from collections.abc import Hashable
from operator import itemgetter
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

MOST: Final = 400
"""Things that are kept; what is not kept was seen at most once in 401 times."""


class Frequent(Generic[Key]):
    """Counts things; its size does not grow with their number.

    Exact up to 400 different ones, and as many more as there is `room` for, so that not every new
    one is paid for by looking at all. Beyond that each has a lower and an upper bound, whatever the
    order they came in, at most a 401st of all that were counted apart; so one that is left out is
    no more than that more frequent than one that is given. From Misra and Gries, Science of
    Computer Programming 2 (1982) 143; each thing's own bound is that of Metwally et al., ICDT 2005,
    398.
    """

    def __init__(self, room: int = 100) -> None:
        self._room = room
        self._counts: dict[Key, int] = {}
        self._before: dict[Key, int] = {}
        """How often those that came late may have been seen, and dropped, before."""
        self._dropped = 0
        """How often one that is not kept was seen at most."""

    def add(self, key: Key) -> None:
        """Count one in."""
        count = self._counts.get(key)
        if count is not None:
            self._counts[key] = count + 1
            return
        self._counts[key] = 1
        if self._dropped:
            self._before[key] = self._dropped
        self._bound()

    def _bound(self) -> None:
        if len(self._counts) <= MOST + self._room:
            return
        at_most = {key: count + self._before.get(key, 0) for key, count in self._counts.items()}
        ranked = sorted(at_most, key=at_most.__getitem__, reverse=True)
        self._dropped = at_most[ranked[MOST]]
        self._counts = {key: self._counts[key] for key in ranked[:MOST]}
        self._before = {key: n for key, n in self._before.items() if key in self._counts}

    def most_common(self, most: int | None = None) -> list[tuple[Key, int, int]]:
        """Return those most frequent, each with how often it was seen at least and at most."""
        ranked = sorted(self._counts.items(), key=itemgetter(1), reverse=True)
        return [(key, count, count + self._before.get(key, 0)) for key, count in ranked[:most]]
