"""Where an evaluator is tried, so that it can be given up: a process of its own, or a thread."""

from __future__ import annotations

import faulthandler
import logging
import multiprocessing
import os
import sys
import threading
import time
import warnings
from typing import Any, Final

from llmeval_integrations.conformance.answer import Answer
from llmeval_integrations.conformance.case import Case
from llmeval_integrations.conformance.subject import Subject
from llmeval_integrations.conformance.trial import Observation, Trial

CAN_ISOLATE: Final = sys.platform == "linux"
"""Whether a process can be forked safely, which takes over an evaluator that cannot be pickled."""

SLOW: Final = Observation(Answer("slow"))
DIED: Final = Observation(Answer("died"))

_LEAST_SHARE: Final = 0.02
"""The share of a processor from which an evaluator is at work, and may have got too little of it:
on a busy machine one would be called slow that is not."""

_MOST_PATIENCE: Final = 5
"""How many times the limit it is waited for then."""


def start_worker(subject: Subject, *, isolate: bool) -> ProcessWorker | ThreadWorker:
    """Make a worker; without isolation what keeps the interpreter to itself cannot be given up."""
    if isolate and CAN_ISOLATE and not multiprocessing.current_process().daemon:
        return ProcessWorker(subject)
    return ThreadWorker(subject)


class ProcessWorker:
    """A fork of this process, so that crashes, endless loops and all that is printed stay there."""

    def __init__(self, subject: Subject) -> None:
        context = multiprocessing.get_context("fork")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(subject, self._ours, theirs))
        with warnings.catch_warnings():  # forking beside threads: the child touches none of theirs
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()

    def ask(self, case: Case, limit: float, *, once: bool = False) -> Observation:
        """Try a case; SLOW after so many seconds, DIED where it took the process with it.

        After either the worker can only be closed.
        """
        began = time.monotonic()
        try:
            before = self._worked()
            self._ours.send((case.output, case.reference, once))
            left = limit
            while not self._ours.poll(left):
                worked, waited = self._worked() - before, time.monotonic() - began
                left = limit - worked
                if left <= 0 or worked < waited * _LEAST_SHARE or waited > limit * _MOST_PATIENCE:
                    return SLOW
            observation: Observation = self._ours.recv()
        except (EOFError, OSError):
            return DIED
        return observation

    def _worked(self) -> float:
        """Return the seconds of a processor that it has had."""
        return time.clock_gettime(~self._process.pid << 3 | 2)  # type: ignore[operator]

    def close(self) -> None:
        """Give it up, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._ours.close()


def _serve(subject: Subject, ours: Any, theirs: Any) -> None:
    """Answer until nobody asks any more; the other end is closed here, or we would not see that."""
    ours.close()
    silence()
    trial = Trial(subject)
    while True:
        try:
            output, reference, once = theirs.recv()
        except EOFError:
            return
        theirs.send(trial.observe(Case("", "either", output, reference), once=once))


def silence() -> None:
    """Keep what an evaluator prints, logs and warns of out of the caller's terminal."""
    faulthandler.disable()  # that it died is what the other end says
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123


class ThreadWorker:
    """Threads of this process, a new one for each case."""

    def __init__(self, subject: Subject) -> None:
        self._trial = Trial(subject)

    def ask(self, case: Case, limit: float, *, once: bool = False) -> Observation:
        """Try a case; SLOW after so many seconds, whereupon the worker can only be closed."""
        observations: list[Observation] = []

        def observe() -> None:
            observations.append(self._trial.observe(case, once=once))

        thread = threading.Thread(target=observe, daemon=True)
        thread.start()
        thread.join(limit)
        return observations[0] if observations else SLOW

    def close(self) -> None:
        """Give it up, whatever it is doing."""
        self._trial.close()
