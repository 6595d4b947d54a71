"""Replies kept on disk, so that the same call is never paid twice."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.llm.messages import Image, Request
from llmeval_integrations.llm.reply import Reply

_OURS: Final = 0x4C4C4D46  # the application ID that identifies our databases
_PATIENCE: Final = 30.0  # seconds to wait while another process writes


class CacheError(InputError):
    """A cache file cannot be used."""


def request_key(identity: str, request: Request) -> bytes:
    """Return the cache key of a request: a hash of everything that shapes its reply."""
    fence = request.fence.encode() or b"\0"  # random in each call, so that only its place counts

    def split(part: str | Image) -> list[bytes | Image]:
        if isinstance(part, Image):
            return [part]
        return [*part.encode("utf-8", "surrogatepass").split(fence)]

    shape = (
        identity,
        [[message.role, [*map(split, message.blocks)]] for message in request.messages],
        request.schema,  # the order of properties counts, because the model writes in that order
        request.schema_name,
        request.temperature,
        request.max_tokens,
        request.draw or (0,),  # a single call may serve as the first draw of a vote
    )
    return sha256(msgspec.json.encode(shape)).digest()


class Cache(AbstractContextManager["Cache"]):
    """A file of replies: an SQLite database with one table.

    Every reply is stored, even one that was cut or refused: the same call would cost again. Several
    processes may use one file at once. Stored replies survive if the process is killed. With
    `frozen` the file is only read, and no call is made for a reply that it lacks. The file is
    opened at its first use. Only its owner may read it, because replies quote what was judged.
    """

    def __init__(self, path: str | os.PathLike[str], *, frozen: bool = False) -> None:
        self.path = Path(path)
        self.frozen = frozen
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._error: CacheError | None = None

    def open(self) -> None:
        """Open the file now instead of at its first use; raises CacheError if it fails."""
        self._execute("SELECT 1")

    def get(self, key: bytes) -> Reply | None:
        """Look a reply up; raises CacheError."""
        found = self._execute("SELECT reply FROM replies WHERE key = ?", key)
        return None if found is None else msgspec.convert(json.loads(found[0]), Reply)

    def put(self, key: bytes, reply: Reply) -> None:
        """Store a reply unless there is one already; raises CacheError."""
        # ASCII, since SQLite refuses half a surrogate pair, which a reply may contain
        text = json.dumps(msgspec.to_builtins(reply))
        self._execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", key, text)

    def close(self) -> None:
        """Close the file; the last process removes the log, so that the file can be copied."""
        with self._lock:
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    self._connection.execute("PRAGMA busy_timeout = 0")
                    self._connection.execute("PRAGMA journal_mode = DELETE")
                self._connection.close()
                self._connection = None

    def _execute(self, query: str, *values: Any) -> Any:
        """Return the first row of a query; after one failure all fail, so that no call is paid."""
        with self._lock:
            try:
                if self._error is None:
                    self._connection = self._connection or self._connect()
                    return self._connection.execute(query, values).fetchone()
            except CacheError as error:
                self._error = error
            except (sqlite3.Error, OSError) as error:
                problem = f"the cache {self.path} cannot be used: {error}"
                self._error = CacheError(f"{problem}; choose another file, or no cache")
            raise self._error

    def _connect(self) -> sqlite3.Connection:
        path = self.path
        if path.is_dir():
            raise CacheError(f"the cache {path} is a folder, expected a file")
        if self.frozen and not path.exists():
            raise CacheError(f"there is no cache {path}; a run without frozen creates it")
        if not self.frozen:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        address = path.absolute().as_uri() + ("?mode=ro" if self.frozen else "")
        # opened in one thread and used in another; the lock admits one at a time
        own: dict[str, Any] = {"uri": True, "isolation_level": None, "check_same_thread": False}
        connection: sqlite3.Connection = sqlite3.connect(address, timeout=_PATIENCE, **own)
        until = time.monotonic() + _PATIENCE
        while not self.frozen:
            try:
                _prepare(connection)
                break
            except sqlite3.OperationalError as error:
                # if another process is creating the file, SQLite fails at once without waiting
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)
        if connection.execute("PRAGMA application_id").fetchone() != (_OURS,):
            raise CacheError(
                f"{path} is a database of another program or version, not a cache of replies"
            )
        return connection

    def __exit__(self, *_: object) -> None:
        self.close()


def _prepare(connection: sqlite3.Connection) -> None:
    """Create the table in an empty file; let other processes read while one writes."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
            connection.execute(
                "CREATE TABLE replies (key BLOB PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
            )
            connection.execute(f"PRAGMA application_id = {_OURS}")
    if connection.execute("PRAGMA application_id").fetchone() == (_OURS,):
        connection.execute("PRAGMA journal_mode = WAL")
        # a killed process loses nothing; a power cut may lose the last replies
        connection.execute("PRAGMA synchronous = NORMAL")
