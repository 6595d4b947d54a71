"""How many calls one server is sent at a time."""

from __future__ import annotations

import asyncio
import logging
from collections import deque

_log = logging.getLogger(__name__)


class Limiter:
    """A bound on the calls under way, which shrinks when the server pushes back and recovers.

    Additive increase, multiplicative decrease (Chiu and Jain 1989): the bound is halved where the
    server asks for fewer calls, once for all calls that were under way together, and grows by one
    with each round of calls that end well, up to where it began; it is never less than 1. Who
    waits is let in by order of arrival. For use inside one event loop.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        """Where the bound begins, and the largest that it gets."""
        self.limit = float(most)
        """The bound."""
        self.under_way = 0
        """The calls now."""
        self.era = 0
        """How often the bound was halved."""
        self.answered = 0
        """The calls that the server answered."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._opening: asyncio.TimerHandle | None = None

    async def acquire(self) -> int:
        """Wait for a place; gives the era in which the call begins."""
        if self._waiting or not self._has_room():
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # it has its place, and gives it back
                    self.release()
                raise
        else:
            self.under_way += 1
        return self.era

    def release(self, *, answered: bool = False) -> None:
        """Return the place, and say whether the server answered."""
        self.under_way -= 1
        if answered:
            self.answered += 1
            self.limit = min(self.limit + 1 / self.limit, self.most)
        self._let_in()

    def slow(self, era: int, seconds: float, *, asked: bool) -> None:
        """Let none begin for so many seconds, for a call of this era was pushed back.

        A pause that the server asked for holds for a call of an earlier era too; one of our own
        does not, since its wave has paused already.
        """
        if era == self.era:
            self.era += 1
            self.limit = max(self.limit / 2, 1.0)
            _log.info("pushed back: %d calls at a time from now on", self.limit)
        elif not asked:
            return
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        if self._opening is not None:
            if end <= self._opening.when():  # of several pauses the one that ends last holds
                return
            self._opening.cancel()
        self._opening = loop.call_at(end, self._open)

    def _open(self) -> None:
        self._opening = None
        self._let_in()

    def _has_room(self) -> bool:
        return self._opening is None and self.under_way < int(self.limit)

    def _let_in(self) -> None:
        while self._waiting and self._has_room():
            turn = self._waiting.popleft()
            if not turn.done():  # else its work was cancelled
                turn.set_result(None)
                self.under_way += 1
