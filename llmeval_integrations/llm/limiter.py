"""How many calls one server receives at a time, and when a failed call is made again."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from llmeval_integrations.core.errors import ClientError, EvalError
from llmeval_integrations.llm.failures import transport_error

T = TypeVar("T")

_log = logging.getLogger(__name__)

_LONGEST_PAUSE: Final = 60.0  # seconds; a server that asks for more has refused the call

# Seconds; each further pause is up to twice as long. The five default retries wait at least 15 s in
# total, longer than an outage of a few seconds.
_FIRST_PAUSE: Final = 1.0


class Limiter:
    """A bound on the calls under way, which shrinks when the server pushes back and recovers.

    Additive increase, multiplicative decrease (Chiu and Jain 1989): the bound is halved once for
    all calls that were under way together, and grows by one with each round of successful calls.
    Waiting calls begin in order of arrival. A limiter serves one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._under_way = 0
        self._answered = 0
        self._era = 0  # how often the bound was halved
        self._opens = 0.0  # the loop's time until which no call begins
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def retry(self, make: Callable[[], Awaitable[T]], retries: int) -> T:
        """Make a call once there is a place; repeat it after a transient failure."""
        failures = 0.0
        while True:
            answered = self._answered
            await self._enter()
            era = self._era
            try:
                answer = await make()
            except Exception as error:
                problem = error if isinstance(error, EvalError) else transport_error(error)
                if not isinstance(problem, ClientError):
                    raise
                # If other calls succeed, the server works and only the number of calls is too high.
                is_crowded = problem.kind == "rate_limited" and self._answered > answered
                failures += 0.1 if is_crowded else 1
                pause = _find_pause(problem, failures, retries)
                if pause is None and problem is error:
                    raise
                if pause is None:
                    raise problem from error
                if problem.kind in ("rate_limited", "server"):  # the server is overloaded
                    self._slow(era, pause, asked=bool(problem.retry_after))
            else:
                self._answered += 1
                self._limit = min(self._limit + 1 / self._limit, self._most)
                return answer
            finally:
                self._under_way -= 1
                self._admit()
            await asyncio.sleep(pause)

    async def _enter(self) -> None:
        """Wait for a place."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        if not turn.done():
            await turn

    def _admit(self) -> None:
        """Give free places to waiting calls."""
        while self._waiting and self._under_way < int(self._limit):
            if asyncio.get_running_loop().time() < self._opens:
                return
            turn = self._waiting.popleft()
            if not turn.done():  # else its work was cancelled
                turn.set_result(None)
                self._under_way += 1

    def _slow(self, era: int, seconds: float, *, asked: bool) -> None:
        """Begin no call for so many seconds, because a call of this era was pushed back."""
        if era == self._era:
            self._era += 1
            self._limit = max(self._limit / 2, 1.0)
            _log.info("pushed back: %d calls at a time from now on", self._limit)
        elif not asked:  # the calls of that era have paused already
            return
        loop = asyncio.get_running_loop()
        self._opens = max(self._opens, loop.time() + seconds)
        loop.call_at(self._opens + 0.001, self._admit)


def _find_pause(error: ClientError, failures: float, retries: int) -> float | None:
    """Return the seconds until the next try; None if a call is not made again."""
    asked, allowed = error.retry_after, min(retries, 1 if error.kind == "timeout" else retries)
    if not error.is_transient or failures > allowed or (asked or 0) > _LONGEST_PAUSE:
        return None
    bound = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** max(int(failures) - 1, 0))
    # Random, so that calls that failed together are not repeated together.
    pause = random.uniform(bound / 2, bound)  # noqa: S311 - no secret
    pause = pause if asked is None else asked + pause / 10
    _log.info("%s; trying again in %.1f s", error, pause)
    return pause
