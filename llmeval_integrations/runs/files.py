"""Writing files whole or not at all, and saying what is wrong with one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.json_values.numbers import decode_as_python


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Say what cannot be written, and that nothing is lost by it."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot write to {folder}: {error.strerror or error}; what is written there stands, "
            "and a run that was begun can be resumed"
        ) from error


def are_one(path: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, by another link too."""
    try:
        return path.samefile(other)
    except OSError:  # where one is not there
        return path.resolve() == other.resolve()


def unfinished(path: Path) -> Path:
    """Name the file that takes another one's place once it is written."""
    return path.with_suffix(".new")


def open_own(path: Path, mode: str) -> BinaryIO:
    """Open a file of a run; raise OSError where somebody put a link in its place."""
    file: BinaryIO = open(path, mode, opener=_follow_no_link)  # type: ignore[assignment]  # noqa: SIM115
    return file


def _follow_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def write_at_once(path: Path, text: str) -> None:
    """Write a file as a whole, so that a kill leaves what there was."""
    new = unfinished(path)
    with open_own(new, "wb") as file:
        file.write(text.encode())
    new.replace(path)


def read_object(path: Path) -> dict[str, Any]:
    """Read a file with one JSON object; raise InputError where it is none."""
    return parse_object(path.read_bytes(), str(path))


def parse_object(text: bytes, place: str) -> dict[str, Any]:
    """Read a JSON object; raises InputError that names its place where it is none."""
    try:
        found = decode_as_python(text.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is damaged: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{place} is damaged: it is not a JSON object")
    return found


def cut(handle: BinaryIO, end: int) -> None:
    """Cut a file off, and go on there."""
    handle.seek(end)
    handle.truncate()
