"""Further processes of this machine that evaluate a file of JSON Lines."""

from __future__ import annotations

import logging
import os
import pickle
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.chunks import seldom_collected
from llmeval_integrations.runs.parts import (
    Answer,
    Job,
    Part,
    evaluate_part,
    in_order,
    length_of_parts,
    parts_of,
)
from llmeval_integrations.runs.reading.source import RowNumber, Source, place_of

_log = logging.getLogger(__name__)

_PAYS: Final = 0.5
"""Seconds that this process takes the data for itself; others take a quarter to start."""

_LONGEST: Final = 1 << 19
"""The most bytes of a part."""

_AHEAD: Final = 3
"""Parts that are handed out for each process before the first is answered."""


class Workers:
    """So many processes, which are started once the data takes longer than that costs."""

    def __init__(self, count: int, job: Job) -> None:
        self._count = count
        self._job = job
        self._began = perf_counter()
        self._pool: ProcessPoolExecutor | None = None
        self._first: Future[None] | None = None
        """What says that the processes have read the job."""

    def close(self) -> None:
        """End the processes, once what they have begun is done."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def ready(self, source: Source) -> bool:  # noqa: ARG002
        """Whether the processes are there.

        They never are where the evaluators cannot be handed to them, as those of a notebook cannot.
        """
        if self._first is None:
            if perf_counter() - self._began > _PAYS:
                self._first = self._start()
            return False
        return self._first.done() and self._first.exception() is None

    def _start(self) -> Future[None]:
        first: Future[None] = Future()
        try:
            job = pickle.dumps(self._job)
        except Exception as error:  # noqa: BLE001 - an evaluator's own code may raise anything
            _log.info("evaluated in this process alone: %s", error)
            first.set_exception(error)
            return first
        # A fork would copy locks that other threads hold.
        self._pool = ProcessPoolExecutor(self._count, get_context("spawn"), _begin, (job,))
        return self._pool.submit(_do_nothing)

    def answers(self, offset: int, number: RowNumber) -> Iterator[tuple[Answer, int]]:
        """Evaluate the lines from an offset on; give answers in order, each with where it ends.

        `number` is that of the first row. Raises InputError where a process dies.
        """
        pool = self._pool
        assert pool is not None  # noqa: S101 - for the type checker: `ready` has made it
        left = Path(self._job.path).stat().st_size - offset
        length = length_of_parts(left, self._count, _LONGEST)

        def ask(part: Part, _: bytes) -> Future[bytes]:
            return pool.submit(_evaluate, part)

        parts = parts_of(self._job.path, offset, number, length)
        return in_order(ask, parts, _AHEAD * self._count, _wait, Future.cancel)


def _wait(answer: Future[bytes], part: Part) -> bytes:
    try:
        return answer.result()
    except BrokenProcessPool as error:
        raise InputError(
            f"a process that evaluated lines from {place_of(part.number)[1]} on has ended; what is "
            "written stands, and the run can be resumed"
        ) from error


# --- in a process of its own ----------------------------------------------------------------------

_job: Job


def _begin(job: bytes) -> None:
    """Read the job; end with the process that asks, which may be killed, and not by Ctrl-C."""
    global _job  # noqa: PLW0603 - a process has one job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow_parent, daemon=True).start()
    _job = pickle.loads(job)  # noqa: S301 - from the process that started us


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do_nothing() -> None:
    pass


def _evaluate(part: Part) -> bytes:
    with Path(_job.path).open("rb") as file, seldom_collected():
        file.seek(part.offset)
        return evaluate_part(_job, file.read(part.length), part.number).packed()
