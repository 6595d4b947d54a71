"""A run's directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.errors import InputError
from llmeval_integrations.runs.rows import Row, StoredRows, write_rows
from llmeval_integrations.runs.run import summary_text

RESULTS: Final = "results.jsonl"
"""The file of rows."""

SUMMARY: Final = "summary.json"
"""The file of figures; it is there once the run is done."""


class RunDirectory:
    """Where the rows and the summary of one run are written."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Name the directory; nothing is made yet."""
        self.path = Path(path)
        self._results = self.path / RESULTS
        self._summary = self.path / SUMMARY

    def check(self, samples: object, *, overwrite: bool) -> None:
        """Raise InputError where there is a run already, or where it is itself the data."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is not a directory")
        if not self._results.exists():
            return
        if not overwrite:
            raise InputError(
                f"{self.path} already holds a run; choose another directory, or overwrite it "
                "(--overwrite)"
            )
        if isinstance(samples, (str, PathLike)) and Path(samples).resolve() == (
            self._results.resolve()
        ):
            raise InputError(f"{self._results} is the data, and would be overwritten")

    @contextmanager
    def writer(self, *, overwrite: bool) -> Iterator[Callable[[list[Row]], None]]:
        """Open the file of rows, and give what adds rows to it at once.

        Raises InputError where the directory cannot be made or written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._summary.unlink(missing_ok=True)
            handle = self._results.open("wb" if overwrite else "xb")
        except OSError as error:
            raise InputError(f"cannot write to {self.path}: {error.strerror}") from error
        with handle:

            def write(rows: list[Row]) -> None:
                handle.write(write_rows(rows))
                handle.flush()

            yield write

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write the summary, which says that the run is done."""
        self._summary.write_text(summary_text(summary), encoding="utf-8")

    def rows(self, count: int) -> StoredRows:
        """Give the rows that were written, so and so many."""
        return StoredRows(self._results, count)
