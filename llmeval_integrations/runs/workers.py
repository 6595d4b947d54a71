"""Evaluates chunks in other processes of this machine."""

from __future__ import annotations

import gc
import logging
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.chunk import start_chunk
from llmeval_integrations.runs.data.source import Record
from llmeval_integrations.runs.engine import RARELY, Answers, Job

_log = logging.getLogger(__name__)


class Workers:
    """A pool of processes."""

    def __init__(self, count: int, job: Job) -> None:
        self.ahead = 3 * count
        self._job = job
        given = _pickle(job)
        # A fork would copy locks that other threads hold.
        self._pool = ProcessPoolExecutor(count, get_context("spawn"), _set_up, (given,))

    def close(self) -> None:
        """End the processes after the chunks that they have started."""
        self._pool.shutdown(cancel_futures=True)

    def start(self, records: Sequence[Record]) -> Callable[[], Answers]:
        """Start to evaluate a chunk. Raises InputError, also when waiting, if a process ended."""
        try:
            given = _pickle(records)
        except Exception:  # noqa: BLE001 - a value of the caller may raise anything
            return start_chunk(self._job, records)
        with _report_ended_process():
            future = self._pool.submit(_evaluate, given)

        def finish() -> Answers:
            with _report_ended_process():
                return future.result()

        return finish


def _pickle(thing: Any) -> bytes:
    """Pickle a thing; raise an exception if another process could not read it."""
    pickled = pickle.dumps(thing)
    if b"__main__" in pickled and not hasattr(sys.modules["__main__"], "__file__"):
        raise TypeError("other processes cannot import what a notebook defines")
    return pickled


@contextmanager
def _report_ended_process() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise InputError(
            "a process that evaluated rows has ended; rows that are written stay, and the run can "
            "be resumed"
        ) from error


def start_workers(count: int, job: Job) -> Workers | None:
    """Start processes; return None if evaluators cannot be pickled, as in a notebook."""
    try:
        return Workers(count, job)
    except Exception as error:  # noqa: BLE001 - an evaluator's own code may raise anything
        _log.info("evaluated in this process alone: %s", error)
        return None


# --- in a process of its own ----------------------------------------------------------------------

_job: Job


def _set_up(job: bytes) -> None:
    """Read the job. This process ends with its parent, but not at Ctrl-C."""
    global _job  # noqa: PLW0603 - a process has one job
    gc.set_threshold(RARELY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow_parent, daemon=True).start()
    _job = pickle.loads(job)  # noqa: S301 - from the process that started us


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _evaluate(records: bytes) -> Answers:
    return start_chunk(_job, pickle.loads(records))()  # noqa: S301 - from the process that started us
