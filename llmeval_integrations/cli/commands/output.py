"""Where a command writes its bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from llmeval_integrations.cli.commands.terminal import unless_closed
from llmeval_integrations.core.errors import InputError


@contextmanager
def written_to(path: str | None) -> Iterator[BinaryIO]:
    """Yield a file to write to, standard output where no name is given.

    A file of that name, or what a link of that name leads to, stays as it is until all is written;
    a pipe or a device is written to as it is. Raises InputError where it cannot be written.
    """
    if path is None:
        with unless_closed():
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    try:
        # asked of the name itself, for what /dev/stdout leads to may have no other
        if Path(path).exists() and not Path(path).is_file():
            with Path(path).open("wb") as file:
                yield file
        else:
            with _replacing(os.path.realpath(path)) as file:
                yield file
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of this one once all is written."""
    unfinished = Path(f"{path}.{os.getpid()}.new")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(path)
    finally:
        _discard(unfinished)


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return  # a folder that is not there, or none: the error that is under way says so
