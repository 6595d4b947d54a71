"""Files of a run: written whole or not at all, never through a link, by one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.json_values.numbers import decode_as_python


@contextmanager
def convert_write_errors(folder: Path) -> Iterator[None]:
    """Raise InputError for what cannot be written; nothing is lost by it."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot write to {folder}: {error.strerror or error}; what is written there stands, "
            "and a run that was begun can be resumed"
        ) from error


def open_file(path: Path, mode: str) -> BinaryIO:
    """Open a file of a run; raise OSError where somebody put a link in its place."""

    def follow_no_link(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)

    file: BinaryIO = open(path, mode, opener=follow_no_link)  # type: ignore[assignment]  # noqa: SIM115
    return file


def write_file(path: Path, text: str) -> None:
    """Write a file as a whole, so that a kill leaves what there was."""
    new = path.with_suffix(".new")
    with open_file(new, "wb") as file:
        file.write(text.encode())
    new.replace(path)


def read_object(path: Path) -> dict[str, Any]:
    """Read a file with one JSON object; raise InputError where it is none."""
    return parse_object(path.read_bytes(), str(path))


def parse_object(text: bytes, place: str) -> dict[str, Any]:
    """Read a JSON object; raise InputError that names its place where it is none."""
    try:
        found = decode_as_python(text.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is damaged: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{place} is damaged: it is not a JSON object")
    return found


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keep others out of a directory; the system lets them in again when the process ends.

    Raises InputError where another process is at work there. The file of the lock stays, for taking
    it away would let two in.
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
    """Lock an open file; raise BlockingIOError where another process has it."""
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
