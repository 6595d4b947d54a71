"""How many calls one server is sent at a time, and when one that failed is made again."""

from __future__ import annotations

import asyncio
import logging
import math
import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from llmeval_integrations.core.errors import ClientError

T = TypeVar("T")

_log = logging.getLogger(__name__)

_LONGEST_PAUSE: Final = 60.0
"""The longest pause, in seconds; a server that asks for more has refused the call."""

_FIRST_PAUSE: Final = 1.0
"""The longest first pause, in seconds; each further one is up to twice as long. The five default
tries wait 15 s at the least, which an outage of a few seconds does not outlast."""

_PUSHED_BACK: Final = frozenset({"rate_limited", "server"})
"""What a server answers that has too much to do."""


class Limiter:
    """A bound on the calls under way, which shrinks when the server pushes back and recovers.

    Additive increase, multiplicative decrease (Chiu and Jain 1989): the bound is halved where the
    server asks for fewer calls, once for all calls that were under way together, and grows by one
    with each round of calls that end well, up to where it began; it is never less than 1. Who
    waits is let in by order of arrival. For use inside one event loop.
    """

    def __init__(self, most: int) -> None:
        self.answered = 0
        """The calls that the server answered."""
        self._most = most
        self._limit = float(most)
        self._under_way = 0
        self._era = 0  # how often the bound was halved
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._opening: asyncio.TimerHandle | None = None

    async def retry(self, make: Callable[[], Awaitable[T]], retries: int) -> T:
        """Make a call that has its place, and again where it fails with what may pass."""
        failures = 0.0
        while True:
            answered, is_answered = self.answered, False
            era = await self.acquire()
            try:
                answer = await make()
                is_answered = True
            except ClientError as error:
                asked = error.retry_after
                # Where others get by, it is us who asked too much, and not the call's fault.
                crowded = error.kind == "rate_limited" and self.answered > answered
                failures += 0.1 if crowded else 1
                allowed = min(retries, 1 if error.kind == "timeout" else math.inf)
                if not error.is_transient or failures > allowed or (asked or 0) > _LONGEST_PAUSE:
                    raise
                bound = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** max(int(failures) - 1, 0))
                # Drawn, so that callers who failed together do not come back together.
                pause = random.uniform(bound / 2, bound)  # noqa: S311 - no secret
                pause = pause if asked is None else asked + pause / 10
                _log.info("%s; trying again in %.1f s", error, pause)
                if error.kind in _PUSHED_BACK:
                    self.slow(era, pause, asked=bool(asked))
            else:
                return answer
            finally:
                self.release(answered=is_answered)
            await asyncio.sleep(pause)

    async def acquire(self) -> int:
        """Wait for a place; gives the era in which the call begins."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it has its place, and gives it back
                self.release()
            raise
        return self._era

    def release(self, *, answered: bool = False) -> None:
        """Return the place, and say whether the server answered."""
        self._under_way -= 1
        if answered:
            self.answered += 1
            self._limit = min(self._limit + 1 / self._limit, self._most)
        self._admit()

    def slow(self, era: int, seconds: float, *, asked: bool) -> None:
        """Let none begin for so many seconds, for a call of this era was pushed back.

        A pause that the server asked for holds for a call of an earlier era too; one of our own
        does not, since its wave has paused already.
        """
        if era == self._era:
            self._era += 1
            self._limit = max(self._limit / 2, 1.0)
            _log.info("pushed back: %d calls at a time from now on", self._limit)
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
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._opening is None and self._under_way < int(self._limit):
            turn = self._waiting.popleft()
            if not turn.done():  # else its work was cancelled
                turn.set_result(None)
                self._under_way += 1
