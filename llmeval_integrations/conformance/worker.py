"""Workers that try an evaluator, and that can be killed if it hangs."""

from __future__ import annotations

import asyncio
import faulthandler
import inspect
import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from llmeval_integrations.conformance.case import Case
from llmeval_integrations.conformance.subject import Answer, Subject, read_answer
from llmeval_integrations.core.quote import one_line

CAN_ISOLATE: Final = sys.platform == "linux"
"""Whether this process can be forked safely; a fork needs no pickled evaluator."""


class Observation(NamedTuple):
    """An evaluator's answers for one case, and the processor time that it needs."""

    first: Answer
    again: Answer | None = None
    awaited: Answer | None = None
    seconds: float = 0.0


SLOW: Final = Observation(Answer("slow", None, "no answer in time"))
DIED: Final = Observation(Answer("died", None, "the end of its process"))


class Worker:
    """A fork of this process, which contains crashes, endless loops and printed text.

    If a fork is not possible or not wanted, it is a thread, which runs on after `close`. It starts
    with the first case, and again after a case without an answer.
    """

    def __init__(self, subject: Subject, *, isolate: bool) -> None:
        self.subject = subject
        self._isolate = isolate and CAN_ISOLATE and not multiprocessing.current_process().daemon
        self._ours: Any = None
        self._process: Any = None

    def ask(self, case: Case, limit: float) -> Observation:
        """Try a case; return SLOW after `limit` seconds, or DIED if the process ended."""
        if self._ours is None:
            self._start()
        observation = SLOW
        try:
            self._ours.send((case.output, case.reference))
            if self._ours.poll(limit):
                observation = self._ours.recv()
        except (EOFError, OSError):
            observation = DIED
        if observation in (SLOW, DIED):
            self.close()
        return observation

    def _start(self) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        if not self._isolate:
            threading.Thread(target=_serve, args=(self.subject, theirs), daemon=True).start()
            return
        context, given = multiprocessing.get_context("fork"), (self.subject, theirs, self._ours)
        self._process = context.Process(target=_serve_process, args=given)
        with warnings.catch_warnings():  # the child does not use the parent's threads
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()

    def close(self) -> None:
        """Kill the process, or abandon the thread."""
        if self._ours is not None:
            self._ours.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        self._ours = self._process = None


def _serve_process(subject: Subject, theirs: Any, ours: Any) -> None:
    """Answer requests in a process that prints nothing."""
    ours.close()  # else this process would not notice that the parent closed its end
    faulthandler.disable()  # the parent reports a crash
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    _serve(subject, theirs)


def _serve(subject: Subject, theirs: Any) -> None:
    """Answer requests until the other end is closed."""
    loop = asyncio.new_event_loop()
    try:
        while True:
            case = Case("", "either", *theirs.recv())
            theirs.send(_observe(subject, case, loop))
    except (EOFError, OSError):
        loop.close()
        theirs.close()


def _observe(subject: Subject, case: Case, loop: asyncio.AbstractEventLoop) -> Observation:
    """Call the evaluator twice, and with await if possible."""
    call, *others = subject.calls
    start = time.process_time()
    first = _ask(call, case, loop)
    middle = time.process_time()
    again = _ask(call, case, loop)
    # The first call may import a module, or the machine may be busy.
    seconds = min(middle - start, time.process_time() - middle)
    awaited = _ask(others[0], case, loop) if others else None
    return Observation(first, again, awaited, seconds)


def _ask(call: Callable[[Case], Any], case: Case, loop: asyncio.AbstractEventLoop) -> Answer:
    try:
        result = call(case)
        if inspect.isawaitable(result):
            result = loop.run_until_complete(result)
        return read_answer(result)
    except BaseException as error:  # noqa: BLE001 - it may raise anything, even SystemExit
        words = one_line(f"{type(error).__name__}: {str(error)[:200]}")
        return Answer("raised", None, words)
