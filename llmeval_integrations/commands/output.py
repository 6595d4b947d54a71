"""Where a command writes its bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from llmeval_integrations.commands.terminal import unless_closed
from llmeval_integrations.errors import InputError


@contextmanager
def written_to(path: str | None) -> Iterator[BinaryIO]:
    """Give a file to write to, standard output where no name is given.

    What has that name stays as it is until all is written. Raises InputError where it cannot be
    written.
    """
    if path is None:
        with unless_closed():
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    unfinished = Path(f"{path}.{os.getpid()}.new")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        _discard(unfinished)


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return  # a folder that is not there, or none: the error that is under way says so
