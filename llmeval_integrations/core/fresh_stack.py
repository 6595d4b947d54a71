"""Running a recursive function where the caller's stack leaves no room for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")

_NAME: Final = "fresh-stack"


class NoStackIsEnoughError(RecursionError):
    """A function ran out of an empty stack, so that there is no more room to be had."""


def on_fresh_stack(function: Callable[..., T], *arguments: Any) -> T:
    """Call the function in a thread of its own, and give its value or raise its error.

    Python counts recursion per thread, so what fits an empty stack must not fail
    because a framework called us from deep inside its own. Raises NoStackIsEnoughError where an
    empty stack is too small as well.
    """
    from concurrent.futures import ThreadPoolExecutor

    if has_fresh_stack():
        raise NoStackIsEnoughError(f"{function!r} needs more stack than an empty one has")

    def call() -> T:
        try:
            return function(*arguments)
        except RecursionError as error:
            raise NoStackIsEnoughError(str(error)) from error

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix=_NAME) as pool:
        return pool.submit(call).result()


def has_fresh_stack() -> bool:
    """Whether the current thread was made by `on_fresh_stack`."""
    return threading.current_thread().name.startswith(_NAME)
