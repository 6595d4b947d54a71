"""Which calls are out of order, where they are to be as few as possible."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from llmeval_integrations.tool_calls.precedence import Precedence

# The first is divisible by each number up to 16, so that shares of as many parts are exact; the
# second keeps the number of calls from outweighing a share.
_SHARES, _SHARE = 720_720, 1_000_000


def weight(score: float) -> int:
    """Return what a call out of order costs: its score, and where scores are the same, the call."""
    return round(score * _SHARES) * _SHARE + 1


class Disorder:
    """The calls to blame so that all others are in order, at the least cost, as they are made.

    Two calls clash where the one that was made later has to come before the other one. Since what
    comes before is transitive, so are clashes, and the heaviest set of calls without any weighs
    as much as all calls less the largest flow from calls to those that they clash with, none of
    which gives or takes more than it weighs (Dilworth's theorem, Annals of Mathematics 51 (1950)
    161, for calls with weights). Each call lets the flow grow by shortest augmenting paths.
    """

    def __init__(self, precedence: Precedence) -> None:
        self.cost = 0
        """What those to blame weigh."""
        self._precedence = precedence
        self._clashes: dict[int, int] = {}  # of each call with those made before it, as bits
        self._taken: dict[int, dict[int, int]] = {}  # how much a call takes from which others
        self._room: dict[int, int] = {}  # how much more it can take
        self._made = 0  # as bits
        self._open = 0  # those with room, as bits
        self._closed = 0  # those from which none with room is reached, now or later, as bits

    def copy(self) -> Disorder:
        """Return one that goes on by itself."""
        other = Disorder(self._precedence)
        other.cost, other._made = self.cost, self._made
        other._open, other._closed = self._open, self._closed
        other._clashes, other._room = self._clashes.copy(), self._room.copy()
        other._taken = {call: amounts.copy() for call, amounts in self._taken.items()}
        return other

    def add(self, call: int, weight: int) -> None:
        """Go on with the expected call that was made next."""
        self._clashes[call] = self._precedence.after[call] & self._made
        self._taken[call], self._room[call] = {}, weight
        self._made |= 1 << call
        self._open |= 1 << call
        while weight and (given := self._give(call, weight)):
            weight -= given
            self.cost += given

    def blamed(self) -> set[int]:
        """Return the calls that are to blame.

        Of several sets that cost the least, it is the one whose calls came too early rather than
        too late. There is one such set: all of them together have a minimum cut that is next to
        the flow's end, whichever largest flow was found.
        """
        givers: dict[int, list[int]] = {call: [] for call in self._clashes}
        for taker, amounts in self._taken.items():
            for giver in amounts:
                givers[giver].append(taker)
        clashing, later = {}, 0
        for call in reversed(self._clashes):
            clashing[call] = self._precedence.before[call] & later
            later |= 1 << call
        too_late: set[int] = set()
        reached, waiting = self._open, list(_bits(self._open))
        while waiting:
            for giver in _bits(clashing[waiting.pop()] & later):
                later ^= 1 << giver
                too_late.add(giver)
                new = [taker for taker in givers[giver] if not reached >> taker & 1]
                reached |= sum(1 << taker for taker in new)
                waiting += new
        return too_late.union(_bits(self._made & ~reached))

    def _give(self, root: int, most: int) -> int:
        """Let the flow from a call grow along the shortest path; tells by how much, or 0."""
        giver_of: dict[int, int] = {}
        reached_by: dict[int, int] = {}
        queue = deque([root])
        seen = self._closed
        while queue:
            giver = queue.popleft()
            new = self._clashes[giver] & ~seen
            if new & self._open:
                last = next(_bits(new & self._open))
                giver_of[last] = giver
                return self._grow(last, root, most, giver_of, reached_by)
            seen |= new
            for taker in _bits(new):
                giver_of[taker] = giver
                for other in self._taken[taker]:
                    if other != root and other not in reached_by:
                        reached_by[other] = taker
                        queue.append(other)
        self._closed = seen
        return 0

    def _grow(
        self,
        last: int,
        root: int,
        most: int,
        giver_of: dict[int, int],
        reached_by: dict[int, int],
    ) -> int:
        """Hand on along the path that ends where there is room."""
        path = [(giver_of[last], last)]
        while path[-1][0] != root:
            taker = reached_by[path[-1][0]]
            path.append((giver_of[taker], taker))
        back = [(giver, reached_by[giver]) for giver, _ in path[:-1]]
        amount = min([most, self._room[last], *(self._taken[to][giver] for giver, to in back)])
        for giver, taker in path:
            self._taken[taker][giver] = self._taken[taker].get(giver, 0) + amount
        for giver, taker in back:
            self._taken[taker][giver] -= amount
            if not self._taken[taker][giver]:
                del self._taken[taker][giver]
        self._room[last] -= amount
        if not self._room[last]:
            self._open ^= 1 << last
        return amount


def _bits(number: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, the lowest first."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
