"""The event loop on which all models are asked: one for the process, in a thread of its own.

Blocking callers, threads and notebooks with a running loop therefore ask in the same way, and
connections stay open from one question to the next. A forked process starts its own loop.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_futures
from contextvars import ContextVar, copy_context
from threading import Thread, current_thread
from typing import Any, Final, TypeVar

T = TypeVar("T")

# The caller's event loop, for the caller's models that can only be awaited there.
_CALLER: Final[ContextVar[asyncio.AbstractEventLoop | None]] = ContextVar("CALLER", default=None)

_LOOK_UP: Final = 0.5  # seconds between wake-ups: on Windows a blocked wait ignores Ctrl-C

_loops: Final[dict[int, tuple[asyncio.AbstractEventLoop, Thread]]] = {}
"""The loop and its thread, by process: a fork has the parent's loop without its thread."""


def background() -> asyncio.AbstractEventLoop:
    """Return the loop of this process; start it if it does not run yet."""
    if (found := _loops.get(os.getpid())) is None:
        new = asyncio.new_event_loop()
        thread = Thread(target=new.run_forever, name="llmeval-loop", daemon=True)
        found = _loops.setdefault(os.getpid(), (new, thread))  # another thread may be faster
        if found[0] is new:
            thread.start()
        else:
            new.close()
    return found[0]


def start(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Begin work on the loop from any thread, with the caller's context variables."""
    return asyncio.run_coroutine_threadsafe(work, background())


def wait(future: Future[T]) -> T:
    """Block until work has ended and return its result; an interrupt cancels the work."""
    if _loops[os.getpid()][1] is current_thread():
        future.cancel()
        raise RuntimeError(
            "a judge was evaluated inside the `async def judge` of another, where it would wait "
            "for itself; write: await judge.result(sample, ask)"
        )
    try:
        while not wait_for_futures([future], _LOOK_UP).done:
            pass
    except BaseException:
        future.cancel()
        raise
    return future.result()


async def join(work: Coroutine[Any, Any, T]) -> T:
    """Await, from any loop, work that runs on the background loop."""
    here = asyncio.get_running_loop()
    if here is background():
        return await work
    token = _CALLER.set(here)
    try:
        future = start(work)
    finally:
        _CALLER.reset(token)
    return await asyncio.wrap_future(future)


async def in_thread(call: Callable[[], T]) -> T:
    """Await a blocking call in a daemon thread, so that it cannot delay the end of the process."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # from now on, nobody cancels it
    context = copy_context()

    def make() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001 - raised where the call is awaited
            future.set_exception(error)

    Thread(target=make, name="llmeval-call", daemon=True).start()
    return await asyncio.wrap_future(future)


async def in_callers_loop(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Await a call in the caller's loop, or in ours if the caller has none."""
    caller = _CALLER.get()
    if caller is None:
        return await call()
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call(), caller))


@atexit.register
def _stop() -> None:
    if os.getpid() in _loops:
        start(_finish())
        _loops[os.getpid()][1].join(2)


async def _finish() -> None:
    """Stop the loop when the SDKs' clients have closed: nobody waits for them to."""
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, timeout=1)
    asyncio.get_running_loop().stop()
