"""Threads that nobody has to wait for.

The standard library's executors have few threads where cores are few, and a process waits at its
end for what they do, so that a call that hangs could not be given up.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def begin(call: Callable[[], T]) -> Future[T]:
    """Make a call in a thread of its own, which ends with the process."""
    future: Future[T] = Future()
    Thread(target=_make, args=(future, call), name="llmeval-call", daemon=True).start()
    return future


def within(seconds: float, call: Callable[[], T]) -> T:
    """Make a call in the caller's context; raises TimeoutError after so many seconds."""
    try:
        return begin(partial(copy_context().run, call)).result(seconds)
    except TooLate as error:  # Python 3.10 has two of that name
        raise TimeoutError from error


class OwnThreads(ThreadPoolExecutor):
    """Begins all calls at once; an executor of this kind because an event loop takes no other."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Begin a call."""
        return begin(partial(fn, *args, **kwargs))


def _make(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001 - raised where the call is waited for
        future.set_exception(error)
    else:
        future.set_result(result)
