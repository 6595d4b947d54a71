"""Replies kept on disk, so that the same call is never paid twice."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.images import Image
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.reply import Reply

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")

_OURS: Final = 0x4C4C4D45
"""The application ID that identifies our databases: "LLME"."""

_VERSION: Final = 1
_PATIENCE: Final = 30.0
"""Seconds to wait while another process writes."""


class CacheError(InputError):
    """A cache file cannot be used."""


class Kept(msgspec.Struct, frozen=True):
    """A reply as the cache stores it."""

    reply: Reply
    """The reply."""

    fence: str
    """The random mark in its request."""

    def reply_to(self, request: Request, *, cached: bool) -> Reply:
        """Return the reply, with the stored mark replaced by the mark of this request."""
        text = self.reply.text
        if self.fence:
            text = text.replace(self.fence, request.fence)
        return msgspec.structs.replace(self.reply, text=text, cached=cached)


def identity_text(client: Client) -> str:
    """Return the identity of a client as canonical JSON."""
    return canonical(json.loads(json.dumps(client.identity())))


def request_key(identity: str, request: Request) -> bytes:
    """Return the cache key of a request: a hash of everything that shapes its reply."""
    # the fence is random in each call, so that only its position counts
    fence = request.fence.encode()

    def split(part: str | Image) -> list[bytes | str]:
        if isinstance(part, Image):
            return ["image", sha256(part.address.encode()).hexdigest()]
        text = part.encode("utf-8", "surrogatepass")
        return [*text.split(fence)] if fence else [text]

    shape = (
        identity,
        [[message.role, [*map(split, message.blocks)]] for message in request.messages],
        request.schema,  # the order of properties counts, because the model writes in that order
        request.schema_name,
        request.output,
        request.temperature,
        request.max_tokens,
        request.draw or (0,),  # a single call may serve as the first draw of a vote
    )
    return sha256(msgspec.json.encode(shape)).digest()


class Cache:
    """A file of replies: an SQLite database with one table.

    Every reply is stored, even one that was cut or refused: it was paid for, and the same call
    would cost again. A failed call is not stored, nor is a reply that an error broke off.
    Several processes may use one file at once. Stored replies survive if the process is killed.
    With `frozen` the file is only read, and no call is made for a reply that it lacks. The file is
    opened at its first use. Only its owner may read it, because replies quote what was judged.
    """

    def __init__(self, path: str | os.PathLike[str], *, frozen: bool = False) -> None:
        self.path = Path(path)
        """The path of the file, which is created if it does not exist."""
        self.frozen = frozen
        """Whether the file is only read and no calls are made."""
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._error: CacheError | None = None

    def open(self) -> None:
        """Open the file now instead of at its first use; raises CacheError if it fails."""
        self._use(lambda _: None)

    def get(self, key: bytes) -> Kept | None:
        """Look a reply up; raises CacheError."""

        def read(connection: sqlite3.Connection) -> Kept | None:
            query = "SELECT kept FROM replies WHERE key = ?"
            found = connection.execute(query, (key,)).fetchone()
            return None if found is None else msgspec.convert(json.loads(found[0]), Kept)

        return self._use(read)

    def put(self, key: bytes, kept: Kept, *, replace: bool = False) -> None:
        """Store a reply; keep an earlier one unless `replace` is set; raises CacheError."""
        # ASCII, since SQLite refuses half a surrogate pair, which a reply may contain
        text = json.dumps(msgspec.to_builtins(kept))
        query = "INSERT OR IGNORE INTO replies VALUES (?, ?)"
        query = query.replace("IGNORE", "REPLACE") if replace else query
        self._use(lambda connection: connection.execute(query, (key, text)))

    def close(self) -> None:
        """Close the file; the last process removes the log, so that the file can be copied."""
        with self._lock:
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    self._connection.execute("PRAGMA busy_timeout = 0")
                    self._connection.execute("PRAGMA journal_mode = DELETE")
                self._connection.close()
                self._connection = None

    def _use(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Run an action on the file; after one failure all fail, so that no more calls are paid."""
        with self._lock:
            if self._error is None:
                try:
                    if self._connection is None:
                        self._connection = self._connect()
                    return action(self._connection)
                except CacheError as error:
                    self._error = error
                except (sqlite3.Error, OSError, ValueError) as error:
                    self._error = CacheError(f"the cache {self.path} cannot be used: {error}")
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
        # opened in one thread and used in another; the lock admits one at a time
        connection = sqlite3.connect(
            path.absolute().as_uri() + ("?mode=ro" if self.frozen else ""),
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self._prepare(connection)
            except sqlite3.OperationalError as error:
                # if another process is creating the file, SQLite fails at once without waiting
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create the table in an empty file; let other processes read while one writes."""

        def number(query: str) -> Any:
            return connection.execute(query).fetchone()[0]

        if not self.frozen:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                if not number("SELECT count(*) FROM sqlite_master"):
                    connection.execute(
                        "CREATE TABLE replies (key BLOB PRIMARY KEY, kept TEXT NOT NULL) "
                        "WITHOUT ROWID"
                    )
                    connection.execute(f"PRAGMA application_id = {_OURS}")
                    connection.execute(f"PRAGMA user_version = {_VERSION}")
        if number("PRAGMA application_id") != _OURS:
            raise CacheError(
                f"{self.path} is not a cache of replies but the database of another program"
            )
        version = number("PRAGMA user_version")
        if version != _VERSION:
            raise CacheError(f"the cache {self.path} is of version {version}, expected {_VERSION}")
        if not self.frozen:
            connection.execute("PRAGMA journal_mode = WAL")
            # a killed process loses nothing; a power cut may lose the last replies
            connection.execute("PRAGMA synchronous = NORMAL")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
