"""The event loop on which all models are asked: one for the process, in a thread of its own.

So blocking callers, a notebook whose loop is running and threads ask alike, and connections stay
open from one question to the next. A process that was forked begins a loop of its own.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_futures
from contextvars import ContextVar, copy_context
from threading import Lock, Thread, get_ident
from typing import Any, Final, TypeVar

T = TypeVar("T")

CALLER: Final[ContextVar[asyncio.AbstractEventLoop | None]] = ContextVar("CALLER", default=None)
"""The loop of whoever awaits us, for models of the caller's that can only be awaited there."""

_LOOK_UP: Final = 0.5
"""Seconds between wake-ups of who waits: on Windows a blocked wait ignores Ctrl-C."""

_lock = Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: Thread | None = None


def background() -> asyncio.AbstractEventLoop:
    """Return the loop, which begins to run where it does not yet."""
    global _loop, _thread  # noqa: PLW0603 - there is one for the process
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            _thread = Thread(target=_loop.run_forever, name="llmeval-loop", daemon=True)
            _thread.start()
        return _loop


def start(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Begin work on the loop, from any thread; it has the caller's context variables."""
    return asyncio.run_coroutine_threadsafe(work, background())


def wait(future: Future[T]) -> T:
    """Block until work has ended and give what it gives; what interrupts the waiting cancels it."""
    if _thread is not None and _thread.ident == get_ident():
        future.cancel()
        raise RuntimeError(
            "a judge was evaluated inside another's `async def judge`, where it would wait for "
            "itself; write: await judge.result(sample, ask)"
        )
    try:
        while not wait_for_futures([future], _LOOK_UP).done:
            pass
    except BaseException:
        future.cancel()
        raise
    return future.result()


async def join(work: Coroutine[Any, Any, T]) -> T:
    """Await work that runs on the loop, from any other."""
    here = asyncio.get_running_loop()
    if here is background():
        return await work
    token = CALLER.set(here)
    try:
        future = start(work)
    finally:
        CALLER.reset(token)
    return await asyncio.wrap_future(future)


async def in_thread(call: Callable[[], T]) -> T:
    """Await a blocking call, in a thread that nobody has to wait for at the end of the process."""
    future: Future[T] = Future()
    context = copy_context()

    def make() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001 - raised where the call is awaited
            future.set_exception(error)

    Thread(target=make, name="llmeval-call", daemon=True).start()
    return await asyncio.wrap_future(future)


async def in_callers_loop(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Await what belongs to the caller in the loop of whoever awaits us; in ours if nobody does."""
    caller = CALLER.get()
    if caller is None:
        return await call()
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call(), caller))


async def within(seconds: float, call: Awaitable[T]) -> T:
    """Await a call; raises TimeoutError after so many seconds."""
    if sys.version_info >= (3, 11):
        async with asyncio.timeout(seconds):  # without a task of its own, as wait_for makes
            return await call
    try:
        return await asyncio.wait_for(call, seconds)
    except asyncio.TimeoutError as error:  # Python 3.10 has two of that name
        raise TimeoutError from error


def _forget() -> None:
    """Leave the parent's loop alone after a fork: its thread does not run here."""
    global _loop, _thread, _lock
    _loop, _thread, _lock = None, None, Lock()


@atexit.register
def _stop() -> None:
    if _loop is not None and _thread is not None:
        _loop.call_soon_threadsafe(_loop.stop)
        _thread.join(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
