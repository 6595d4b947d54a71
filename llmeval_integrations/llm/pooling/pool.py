"""Many pieces of work side by side."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterable
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakSet

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.budget import Budget, Spending
from llmeval_integrations.llm.caching.cache import Cache
from llmeval_integrations.llm.caching.replies import Replies
from llmeval_integrations.llm.own_threads import OwnThreads
from llmeval_integrations.llm.pooling.job import Job
from llmeval_integrations.llm.pooling.performer import Performer
from llmeval_integrations.llm.steps import Steps

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")

CONCURRENCY: Final = 32
"""How many works are done, and calls made to one server, at a time where nobody says otherwise."""

_LOOK_UP: Final = 0.5
"""Seconds between wake-ups of who waits: on Windows a blocked wait ignores Ctrl-C."""


class Pool:
    """Does works side by side, on an event loop in a thread of its own, inside `with`.

    So it serves blocking callers and those within a running loop alike, and the connections of
    clients stay open from one job to the next. Workers take work after work, so that a job costs
    no task for each of its works, however many there are.
    """

    def __init__(
        self,
        concurrency: int = CONCURRENCY,
        *,
        cache: Cache | None = None,
        budget: Budget | None = None,
        replies: Replies | None = None,
    ) -> None:
        if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
            raise InvalidOptionError(
                f"concurrency={quote(concurrency)} is not a whole number of at least 1"
            )
        self.concurrency = concurrency
        """The most works at a time, and the most calls to one server."""
        self.cache = cache
        """Where replies are kept; None where nowhere."""
        self.budget = budget or Budget()
        """What may be spent, and what was."""
        self._performer = Performer(concurrency, cache, self.budget, self._paused, replies)
        self._jobs: deque[Job[Any]] = deque()
        self._unfinished: WeakSet[Job[Any]] = WeakSet()
        self._workers: set[asyncio.Task[None]] = set()
        self._employed = 0
        self._pausing = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(OwnThreads())  # for models that can only block
        self._thread = Thread(target=self._loop.run_forever, name="llmeval-pool", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._in_loop(self._close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def all(
        self, works: Iterable[Steps[T]], spending: Spending | None = None
    ) -> list[T | Exception]:
        """Do all works; gives what each returned or raised, in order."""
        return self.wait(self.start(works, spending))

    def start(self, works: Iterable[Steps[T]], spending: Spending | None = None) -> Job[T]:
        """Begin works, behind those that were begun before; what they take is added up."""
        job = Job(works, partial(self._performer.on_account, spending or Spending()))
        self._loop.call_soon_threadsafe(self._begin, job)
        return job

    def wait(self, job: Job[T]) -> list[T | Exception]:
        """Wait for a job's end; gives what each work returned or raised, in order.

        Whatever interrupts the waiting stops all jobs.
        """
        try:
            while not job.wait(_LOOK_UP):
                pass
        except BaseException:
            self._in_loop(self._cancel())
            raise
        return job.results()

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _begin(self, job: Job[Any]) -> None:
        self._jobs.append(job)
        self._unfinished.add(job)
        self._employ()

    @property
    def _wanted(self) -> int:
        """How many workers there may be; each that pauses makes room for one more."""
        return self.concurrency + min(self._pausing, self.concurrency)

    def _employ(self) -> None:
        """Take on a worker where there may be work for one more."""
        if self._jobs and self._employed < self._wanted:
            self._employed += 1
            worker = self._loop.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    async def _work(self) -> None:
        """Do work after work, until there is none or there are more workers than are wanted."""
        try:
            while self._jobs and self._employed <= self._wanted:
                job = self._jobs[0]
                taken = job.take()
                if taken is None:
                    self._jobs.popleft()
                    continue
                self._employ()
                await job.do(*taken)
        finally:
            self._employed -= 1

    def _paused(self, change: int) -> None:
        self._pausing += change
        self._employ()

    async def _cancel(self) -> None:
        """Stop everything that is under way or waits."""
        for job in self._unfinished:
            job.stop(asyncio.CancelledError())
        workers = [*self._workers]
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    async def _close(self) -> None:
        await self._cancel()
        await self._performer.close()
        # as `asyncio.run` ends a loop: an SDK may have left something running
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()
