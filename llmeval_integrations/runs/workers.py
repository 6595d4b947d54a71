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
from typing import Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.parts import Answer, Job, Part, evaluate_part, in_order, parts_of

_log = logging.getLogger(__name__)

_SHORTEST: Final = 1 << 18
"""The bytes of a file that this process has evaluated before another one would have started."""

_LONGEST: Final = 1 << 19
"""The most bytes of a part."""

_AHEAD: Final = 3
"""Parts that are handed out for each process before the first is answered."""


class Workers:
    """So many processes."""

    def __init__(self, count: int, job: Job) -> None:
        self._count = count
        self._path = job.path
        job_bytes = pickle.dumps(job)
        # A fork would copy locks that other threads hold.
        self._pool = ProcessPoolExecutor(count, get_context("spawn"), _begin, (job_bytes,))

    def close(self) -> None:
        """End the processes, once what they have begun is done."""
        self._pool.shutdown(cancel_futures=True)

    def answers(self, done: int) -> Iterator[Answer]:
        """Evaluate the rows behind the first `done`; raise InputError where a process dies."""
        parts = parts_of(self._path, done, self._count, _LONGEST)
        ahead = _AHEAD * self._count
        return in_order(
            lambda part: self._pool.submit(_evaluate, part), parts, ahead, _wait, Future.cancel
        )


def start_workers(count: int, job: Job) -> Workers | None:
    """Start processes where that pays; give None for a short file.

    Neither are there any where the evaluators cannot be handed over, as those of a notebook cannot.
    """
    if Path(job.path).stat().st_size < _SHORTEST:
        return None
    try:
        return Workers(count, job)
    except Exception as error:  # noqa: BLE001 - an evaluator's own code may raise anything
        _log.info("evaluated in this process alone: %s", error)
        return None


def _wait(answer: Future[Answer], part: Part) -> Answer:
    try:
        return answer.result()
    except BrokenProcessPool as error:
        raise InputError(
            f"a process that evaluated rows from {part.number:,} on has ended; what is written "
            "stands, and the run can be resumed"
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


def _evaluate(part: Part) -> Answer:
    return evaluate_part(_job, part)
