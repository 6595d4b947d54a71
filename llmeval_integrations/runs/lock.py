"""One process at a time in a run's directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llmeval_integrations.core.errors import InputError

NAME = ".lock"
"""The file that is locked; it stays, for taking it away would let two in."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep others out of a directory; the system lets them in again when the process ends.

    Raises InputError where another process is at work there.
    """
    handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        if not _lock(handle):
            raise InputError(
                f"another process is at work in {folder}; wait for it, or choose another directory"
            )
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Lock an open file without waiting; gives whether it was free."""
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_on_windows(handle: int) -> bool:
    import msvcrt

    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True
