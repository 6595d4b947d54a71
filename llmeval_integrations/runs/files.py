"""Files of a run: never written through a link, and by one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.json_values.values import decode_as_python


@contextmanager
def convert_write_errors(folder: Path) -> Iterator[None]:
    """Raise InputError if something cannot be written. The rows that are written stay."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot write to {folder}: {error.strerror or error}; rows that are written stay, "
            "and a run that was begun can be resumed"
        ) from error


def open_file(path: Path, mode: str) -> BinaryIO:
    """Open a file of a run; raise OSError if somebody put a link in its place."""

    def follow_no_link(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)

    file: BinaryIO = open(path, mode, opener=follow_no_link)  # type: ignore[assignment]  # noqa: SIM115
    return file


def write_file(path: Path, text: str) -> None:
    """Write a file as a whole: a kill leaves the old file."""
    new = path.with_suffix(".new")
    with open_file(new, "wb") as file:
        file.write(text.encode())
    new.replace(path)


def read_object(path: Path) -> dict[str, Any]:
    """Read a file with one JSON object; raise InputError if it is damaged."""
    return parse_object(path.read_bytes(), str(path))


def parse_object(text: bytes, place: str) -> dict[str, Any]:
    """Parse a JSON object; raise InputError with its place if it is none."""
    try:
        found = decode_as_python(text.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is damaged: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{place} is damaged: it is not a JSON object")
    return found


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock a directory until the block or the process ends.

    Raises InputError if another process works in it. The file of the lock stays: if it was deleted,
    two processes could hold a lock.
    """
    with open_file(folder / ".lock", "ab") as file:
        try:
            _lock(file.fileno())
        except BlockingIOError as error:
            raise InputError(
                f"another process is at work in {folder}; wait for it, or choose another directory"
            ) from error
        yield


def _lock(handle: int) -> None:
    """Lock an open file; raise BlockingIOError if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError as error:
            raise BlockingIOError from error
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
