"""How many calls one server receives at a time, and when a failed call is made again."""

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
"""The longest pause, in seconds; a server that asks for a longer one has refused the call."""

_FIRST_PAUSE: Final = 1.0
"""The longest first pause, in seconds; each further one is up to twice as long. The five default
retries wait at least 15 s in total, longer than an outage of a few seconds."""

_PUSHED_BACK: Final = frozenset({"rate_limited", "server"})
"""The kinds of errors from an overloaded server."""


class Limiter:
    """A bound on the calls under way, which shrinks when the server pushes back and recovers.

    Additive increase, multiplicative decrease (Chiu and Jain 1989): the bound is halved if the
    server asks for fewer calls, once for all calls that were under way together. It grows by one
    with each round of successful calls, up to its initial value. It is never less than 1. Waiting
    calls begin in order of arrival. A limiter serves one event loop.
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
        """Make a call once there is a place; repeat it after a transient failure."""
        failures = 0.0
        while True:
            answered, is_answered = self.answered, False
            era = await self.acquire()
            try:
                answer = await make()
                is_answered = True
            except ClientError as error:
                asked = error.retry_after
                # If other calls succeed, the server works and only the number of calls is too high.
                crowded = error.kind == "rate_limited" and self.answered > answered
                failures += 0.1 if crowded else 1
                allowed = min(retries, 1 if error.kind == "timeout" else math.inf)
                if not error.is_transient or failures > allowed or (asked or 0) > _LONGEST_PAUSE:
                    raise
                bound = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** max(int(failures) - 1, 0))
                # Random, so that calls that failed together are not repeated together.
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
        """Wait for a place; return the era in which the call begins."""
        if not self._waiting and self._is_open():
            self._under_way += 1
            return self._era
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        await turn
        return self._era

    def release(self, *, answered: bool = False) -> None:
        """Return the place, and record whether the server answered."""
        self._under_way -= 1
        if answered:
            self.answered += 1
            self._limit = min(self._limit + 1 / self._limit, self._most)
        self._admit()

    def slow(self, era: int, seconds: float, *, asked: bool) -> None:
        """Begin no call for so many seconds, because a call of this era was pushed back.

        A pause that the server asked for counts for a call of an earlier era too. A pause of our
        own does not, since the calls of that era have paused already.
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
            if end <= self._opening.when():  # the pause that ends last counts
                return
            self._opening.cancel()
        self._opening = loop.call_at(end, self._open)

    def _is_open(self) -> bool:
        return self._opening is None and self._under_way < int(self._limit)

    def _open(self) -> None:
        self._opening = None
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._is_open():
            turn = self._waiting.popleft()
            if not turn.done():  # else its work was cancelled
                turn.set_result(None)
                self._under_way += 1
