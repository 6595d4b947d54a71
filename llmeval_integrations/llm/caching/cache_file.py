"""Opening a file of replies, which is an SQLite database of one table."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from llmeval_integrations.core.errors import InputError

_OURS: Final = 0x4C4C4D45
"""What marks a database as ours: "LLME"."""

_VERSION: Final = 1
_MAKE: Final = (
    "CREATE TABLE replies (key BLOB PRIMARY KEY, kept TEXT NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {_OURS}",
    f"PRAGMA user_version = {_VERSION}",
)
_PATIENCE: Final = 30.0
"""Seconds to wait while another process writes."""


class CacheError(InputError):
    """A file of replies cannot be used."""


def opened(path: Path) -> sqlite3.Connection:
    """Open a file, or make it; raises CacheError, OSError and the errors of sqlite3."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = _connected(path, "")
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            _make(connection)
            _check(connection, path)
            _set_up(connection)
        except sqlite3.OperationalError as error:
            # while another process makes the file SQLite says so at once, and does not wait
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return connection


def opened_to_read(path: Path) -> sqlite3.Connection:
    """Open a file that is never written; raises the same."""
    if not path.exists():
        raise CacheError(f"there is no cache {path}; a run that is not frozen makes it")
    connection = _connected(path, "?mode=ro")
    _check(connection, path)
    return connection


def put_away(connection: sqlite3.Connection) -> None:
    """Close a file; who is last leaves no log beside it, so that it can be copied alone."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def _connected(path: Path, how: str) -> sqlite3.Connection:
    if path.is_dir():
        raise CacheError(f"the cache {path} is a folder, expected a file")
    # opened in one thread and used in another, one at a time
    return sqlite3.connect(
        path.absolute().as_uri() + how,
        uri=True,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )


def _make(connection: sqlite3.Connection) -> None:
    """Make the table where there is nothing at all."""
    if _is_empty(connection):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _is_empty(connection):  # no other process was faster
                for statement in _MAKE:
                    connection.execute(statement)
        finally:
            connection.execute("COMMIT")


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not _number(connection, "SELECT count(*) FROM sqlite_master") and not _number(
        connection, "PRAGMA application_id"
    )


def _check(connection: sqlite3.Connection, path: Path) -> None:
    if _number(connection, "PRAGMA application_id") != _OURS:
        raise CacheError(f"{path} is not a cache of replies but another program's database")
    version = _number(connection, "PRAGMA user_version")
    if version != _VERSION:
        raise CacheError(f"the cache {path} is of version {version}, expected {_VERSION}")


def _set_up(connection: sqlite3.Connection) -> None:
    """Let others read while one writes, and keep what is written when the process is killed."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")  # a power cut may take the last replies


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
