"""The directory of a run: what was run, its rows, the samples, its summary."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
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
from llmeval_integrations.runs.journal import Journal, settle
from llmeval_integrations.runs.manifest import differences

RESULTS: Final = "results.jsonl"
"""The file of rows."""

SUMMARY: Final = "summary.json"
"""The file of figures."""

_REPLIES: Final = "replies.sqlite"
_OF_SQLITE: Final = ("", "-journal", "-shm", "-wal")


class RunDirectory:
    """Where one run is written, and found again."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Name the directory; nothing is made yet."""
        self.path = Path(path)
        self.replies = self.path / _REPLIES
        """Where the replies of judges are kept until the run is done."""
        self._results = self.path / RESULTS
        self._summary = self.path / SUMMARY
        self._samples = self.path / "samples.jsonl"
        self._manifest = self.path / "manifest.json"

    def check(self, samples: object, cache: object, *, overwrite: bool, resume: bool) -> None:
        """Raise InputError where a file would be lost: a run that is there, the data, the cache."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is not a directory")
        if self.holds_a_run() and not overwrite and not resume:
            raise InputError(
                f"{self.path} already holds a run; go on with it (resume), overwrite it "
                "(overwrite), or choose another directory"
            )
        files = [self._samples, self._summary, self._manifest]
        there = [file.name for file in files if file.exists()]
        if there and not overwrite and not self.holds_a_run() and not self._is_begun():
            raise InputError(
                f"{self.path} holds no run, and a {there[0]} that a run would replace; choose "
                "another directory, or have it overwritten (overwrite)"
            )
        own = {os.path.realpath(file) for file in (*files, self._results, *self._reply_files())}
        for given, what in ((samples, "data"), (cache, "cache")):
            if isinstance(given, (str, PathLike)) and os.path.realpath(given) in own:
                raise InputError(
                    f"{given} is the {what}, and a run in {self.path} would overwrite it; choose "
                    "another directory"
                )

    def holds_a_run(self) -> bool:
        """Whether there are rows, or will be."""
        return self._results.exists()

    def _is_begun(self) -> bool:
        """Whether a run was begun here, and killed before it had a file of rows."""
        with suppress(InputError):
            return bool(self.manifest())
        return False

    def _reply_files(self) -> list[Path]:
        return [self.path / f"{_REPLIES}{end}" for end in _OF_SQLITE]

    @contextmanager
    def journal(self, manifest: Mapping[str, Any], *, resume: bool) -> Iterator[Journal]:
        """Open the directory for one process, to write rows behind those that are to stay.

        Raises InputError where the directory cannot be made or written to, another process is at
        work in it, or it holds another run.
        """
        files = self._results, self._samples
        with ExitStack() as stack:
            with convert_write_errors(self.path):
                self.path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(lock(self.path))
                if resume and self.holds_a_run():
                    if found := differences(manifest, self.manifest()):
                        raise InputError(f"{self.path} holds another run: {'; '.join(found):.1000}")
                    settle(*files)
                else:
                    self._begin(manifest)
                journal = Journal(*files, len(manifest["evaluators"]))
                stack.enter_context(closing(journal))
            yield journal

    def _begin(self, manifest: Mapping[str, Any]) -> None:
        """Make the files anew.

        The file of rows says that there is a run, so it goes first and comes last: a kill leaves no
        run then, and never the rows of one beside the manifest of another.
        """
        old = [self._results, self._summary, *self.path.glob("*.jsonl.new"), *self._reply_files()]
        for file in old:
            file.unlink(missing_ok=True)
        write_file(self._manifest, json.dumps(manifest, indent=2) + "\n")
        open_file(self._samples, "wb").close()
        open_file(self._results, "wb").close()

    def forget_summary(self) -> None:
        """Take away the summary, which is of other rows than there will be."""
        with convert_write_errors(self.path):
            self._summary.unlink(missing_ok=True)

    def forget_replies(self) -> None:
        """Take away the replies of a run that is done."""
        for file in self._reply_files():
            file.unlink(missing_ok=True)

    def manifest(self) -> dict[str, Any]:
        """Return what was run; raise InputError where that is not known."""
        try:
            found = read_object(self._manifest)
        except OSError as error:
            raise InputError(f"{self.path} holds no run: no manifest.json can be read") from error
        for name in ("evaluators", "data"):
            if not isinstance(found.get(name), dict):
                raise InputError(f"{self._manifest} is damaged: it does not say the {name}")
        return found

    def write_summary(self, text: str) -> None:
        """Write the summary, at once or not at all."""
        with convert_write_errors(self.path):
            write_file(self._summary, text)

    def summary(self) -> dict[str, Any] | None:
        """Return the summary, None where there is none yet."""
        return read_object(self._summary) if self._summary.exists() else None

    def samples(self) -> Iterator[dict[str, Any]]:
        """Read the samples that were kept, each a mapping of its fields and `row`, its place."""
        with self._samples.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.endswith(b"\n"):
                    yield parse_object(line, f"{self._samples}: line {number}")
