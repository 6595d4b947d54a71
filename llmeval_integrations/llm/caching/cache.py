"""Replies kept on disk, so that the same call is never paid twice."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from llmeval_integrations.llm.caching.cache_file import (
    CacheError,
    opened,
    opened_to_read,
    put_away,
)
from llmeval_integrations.llm.reply import JudgeReply

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")

_GET: Final = "SELECT kept FROM replies WHERE key = ?"
_PUT: Final = "INSERT OR IGNORE INTO replies VALUES (?, ?)"


class Kept(msgspec.Struct, frozen=True):
    """A reply as it is kept."""

    reply: JudgeReply
    """The reply."""

    fence: str
    """The mark that was drawn for its request."""


class Cache:
    """A file of replies.

    Every reply that came is kept, also one that was cut or refused: it was paid, and asking the
    same again would pay again. A call that failed is not, nor a reply that an error broke off.
    Several processes may use one file at once. What was put stays, also if the process is killed.
    With `frozen` the file is only read, and nothing is asked that it lacks. It is opened when it
    is first needed.
    """

    def __init__(self, path: str | os.PathLike[str], *, frozen: bool = False) -> None:
        self.path = Path(path)
        """Where the file is; it is made where there is none."""
        self.frozen = frozen
        """Whether nothing is asked that it lacks."""
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._opened_by = 0
        self._broken: CacheError | None = None

    def open(self) -> None:
        """Open the file, which the first look does otherwise; raises CacheError."""
        self._use(lambda _: None)

    def get(self, key: bytes) -> Kept | None:
        """Look a reply up; raises CacheError."""
        return self._use(lambda connection: _get(connection, key))

    def put(self, key: bytes, kept: Kept) -> None:
        """Keep a reply, unless there is one; raises CacheError."""
        # ASCII, since a reply may hold half a surrogate pair, which is not a text to SQLite
        text = json.dumps(msgspec.to_builtins(kept))
        self._use(lambda connection: connection.execute(_PUT, (key, text)))

    def close(self) -> None:
        """Close the file; it is opened again when needed."""
        with self._lock:
            if self._connection is not None:
                put_away(self._connection)
                self._connection = None

    def _use(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do something with the file; once that failed it always does, before a call is paid."""
        with self._lock:
            if self._broken is None:
                try:
                    return action(self._connected())
                except CacheError as error:
                    self._broken = error
                except (sqlite3.Error, OSError, ValueError) as error:
                    self._broken = CacheError(f"the cache {self.path} cannot be used: {error}")
            raise self._broken

    def _connected(self) -> sqlite3.Connection:
        """Return the connection; a process that was forked needs one of its own."""
        if self._connection is None or self._opened_by != os.getpid():
            self._connection = opened_to_read(self.path) if self.frozen else opened(self.path)
            self._opened_by = os.getpid()
        return self._connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Cache, frozen=self.frozen), (self.path,)

    def __repr__(self) -> str:
        return f"Cache({str(self.path)!r}{', frozen=True' if self.frozen else ''})"


def _get(connection: sqlite3.Connection, key: bytes) -> Kept | None:
    found = connection.execute(_GET, (key,)).fetchone()
    return None if found is None else msgspec.convert(json.loads(found[0]), Kept)
