"""The directory of a run: manifest, rows, samples and summary."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.files import (
    convert_write_errors,
    lock,
    open_file,
    parse_object,
    read_object,
    write_file,
)
from llmeval_integrations.runs.journal import Journal
from llmeval_integrations.runs.manifest import describe_conflicts
from llmeval_integrations.runs.rows import write_document

RESULTS: Final = "results.jsonl"  # the file of rows
SUMMARY: Final = "summary.json"  # the file of figures
_REPLIES: Final = "replies.sqlite"
_OF_SQLITE: Final = ("", "-journal", "-shm", "-wal")


class RunDirectory:
    """The files of one run."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Set the path; no file is created."""
        self.path = Path(path)
        self.replies = self.path / _REPLIES
        """The replies of judges, until the run has ended."""
        self._results = self.path / RESULTS
        self._summary = self.path / SUMMARY
        self._samples = self.path / "samples.jsonl"
        self._manifest = self.path / "manifest.json"

    def check(self, samples: object, cache: object, *, overwrite: bool, resume: bool) -> None:
        """Raise InputError if the run would replace another run, its own data, or the cache."""
        files = [self._results, self._samples, self._summary, self._manifest]
        there = [file.name for file in files if file.exists()]
        if there and not overwrite and not resume:
            found = "a run" if self.holds_a_run() else f"a {there[0]}"
            raise InputError(
                f"{self.path} already holds {found}; use resume to continue it, overwrite to "
                "replace it, or another directory"
            )
        own = {os.path.realpath(file) for file in (*files, *self._reply_files())}
        for given, what in ((samples, "data"), (cache, "cache")):
            if isinstance(given, (str, PathLike)) and os.path.realpath(given) in own:
                raise InputError(
                    f"{given} is the {what}, and a run in {self.path} would overwrite it; choose "
                    "another directory"
                )

    def holds_a_run(self) -> bool:
        """Return whether there is a file of rows."""
        return self._results.exists()

    def _reply_files(self) -> list[Path]:
        return [self.path / f"{_REPLIES}{end}" for end in _OF_SQLITE]

    @contextmanager
    def journal(self, manifest: Mapping[str, Any], *, resume: bool) -> Iterator[Journal]:
        """Lock the directory and open its journal. With `resume`, rows that are there stay.

        Raises InputError if the directory cannot be written to, if another process works in it, or
        if it holds another run.
        """
        with ExitStack() as stack:
            with convert_write_errors(self.path):
                self.path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(lock(self.path))
                if resume and self.holds_a_run():
                    if found := describe_conflicts(manifest, self.manifest()):
                        raise InputError(f"{self.path} holds another run: {'; '.join(found):.1000}")
                else:
                    self._begin(manifest)
                journal = Journal(self._results, self._samples, len(manifest["evaluators"]))
                stack.enter_context(closing(journal))
            yield journal

    def _begin(self, manifest: Mapping[str, Any]) -> None:
        """Create the files.

        The file of rows marks a run, so it is deleted first and created last. A kill never leaves
        the rows of one run with the manifest of another.
        """
        for file in (self._results, self._summary, *self._reply_files()):
            file.unlink(missing_ok=True)
        write_file(self._manifest, write_document(manifest))
        open_file(self._samples, "wb").close()
        open_file(self._results, "wb").close()

    def forget_summary(self) -> None:
        """Delete the summary, because rows will change."""
        with convert_write_errors(self.path):
            self._summary.unlink(missing_ok=True)

    def forget_replies(self) -> None:
        """Delete the replies of a run that has ended."""
        for file in self._reply_files():
            file.unlink(missing_ok=True)

    def manifest(self) -> dict[str, Any]:
        """Return the manifest; raise InputError if there is none."""
        try:
            found = read_object(self._manifest)
        except OSError as error:
            raise InputError(f"{self.path} holds no run: no manifest.json can be read") from error
        if not {"evaluators", "data"} <= found.keys():
            raise InputError(f"{self._manifest} is damaged: it lacks the evaluators or the data")
        return found

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write the summary as a whole."""
        with convert_write_errors(self.path):
            write_file(self._summary, write_document(summary))

    def summary(self) -> dict[str, Any] | None:
        """Return the summary, None if there is none yet."""
        return read_object(self._summary) if self._summary.exists() else None

    def stored_samples(self) -> Iterator[dict[str, Any]]:
        """Read the samples that were kept: their fields and `row`, their place."""
        with self._samples.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.endswith(b"\n"):
                    yield parse_object(line, f"{self._samples}: line {number}")
