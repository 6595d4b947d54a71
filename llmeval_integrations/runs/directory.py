"""A run's directory: what was run, its rows as they come, its summary."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.runs.files import (
    are_one,
    cut,
    open_own,
    parse_object,
    read_object,
    unfinished,
    write_at_once,
    writing,
)
from llmeval_integrations.runs.lock import locked
from llmeval_integrations.runs.manifest import differences
from llmeval_integrations.runs.rows import (
    Column,
    Row,
    StoredRows,
    by_sample,
    sample_lines,
    write_rows,
)

RESULTS: Final = "results.jsonl"
"""The file of rows."""

SAMPLES: Final = "samples.jsonl"
"""The file of the samples with a row that did not pass."""

SUMMARY: Final = "summary.json"
"""The file of figures."""

MANIFEST: Final = "manifest.json"
"""The file that says what was run."""

REPLIES: Final = "replies.sqlite"
"""The file of judges' replies, where no other cache is asked for."""

_OF_SQLITE: Final = ("", "-journal", "-shm", "-wal")
"""What the names of a database's files end with."""

_PLACE: Final = b'{"row":'
_FIGURES: Final = frozenset(
    (
        *("n", "scored", "unscored", "errors", "labels"),
        *("mean", "mean_ci95", "pass_rate", "pass_rate_ci95"),
    )
)


class RunDirectory:
    """Where one run is written, and found again."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Name the directory; nothing is made yet. Raises InputError for what names none."""
        if not isinstance(path, (str, PathLike)) or not os.fspath(path):
            raise InputError(f"{quote(path)} is not the path of a directory")
        self.path = Path(path)
        self._results = self.path / RESULTS
        self._samples = self.path / SAMPLES
        self._new_results = self.path / f"{RESULTS}.new"
        self._new_samples = self.path / f"{SAMPLES}.new"
        self._summary = self.path / SUMMARY
        self._manifest = self.path / MANIFEST

    @property
    def replies(self) -> Path:
        """Where judges' replies are kept until the run is done."""
        return self.path / REPLIES

    def check(self, samples: object, cache: object, *, overwrite: bool, resume: bool) -> None:
        """Raise InputError where there is a run already, or a file of it is the data or cache."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is not a directory")
        self._require_leave(overwrite=overwrite, resume=resume)
        for given, what in ((samples, "data"), (cache, "cache")):
            if isinstance(given, (str, PathLike)) and self._is_own(Path(given)):
                raise InputError(
                    f"{given} is the {what}, and a run in {self.path} would overwrite it; choose "
                    "another directory"
                )

    def _is_own(self, file: Path) -> bool:
        """Whether a run here writes a file, or takes it away."""
        own = [self._results, self._samples, self._new_results, self._new_samples]
        whole = [self._summary, self._manifest]
        own += [*whole, *map(unfinished, whole)]
        return any(are_one(file, each) for each in (*own, *self._files_of_replies()))

    def _files_of_replies(self) -> list[Path]:
        return [self.path / f"{REPLIES}{end}" for end in _OF_SQLITE]

    def holds_a_run(self) -> bool:
        """Whether there are rows, or will be."""
        return self._results.exists()

    def _require_leave(self, *, overwrite: bool, resume: bool) -> None:
        if self._results.exists() and not overwrite and not resume:
            raise InputError(
                f"{self.path} already holds a run; go on with it (resume), overwrite it "
                "(overwrite), or choose another directory"
            )
        files = [
            file.name for file in (self._samples, self._summary, self._manifest) if file.exists()
        ]
        if files and not overwrite and not self._results.exists() and not self._has_manifest():
            raise InputError(
                f"{self.path} holds no run, and a {files[0]} that a run would replace; choose "
                "another directory, or have it overwritten (overwrite)"
            )

    def _has_manifest(self) -> bool:
        """Whether a run was begun here, and killed before it had a file of rows."""
        try:
            self.manifest()
        except InputError:
            return False
        return True

    @contextmanager
    def journal(
        self, manifest: Mapping[str, Any], *, overwrite: bool, resume: bool
    ) -> Iterator[Journal]:
        """Open the directory for one process, to write rows behind those that are to stay.

        Raises InputError where the directory cannot be made or written to, another process is at
        work in it, or what is to be resumed is another run.
        """
        with ExitStack() as stack:
            with writing(self.path):
                self.path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(self.path))
                self._require_leave(overwrite=overwrite, resume=resume)
                goes_on = resume and self._results.exists()
                if goes_on:
                    self._require_same(manifest)
                    self._settle()
                else:
                    self._begin(manifest)
                handles = open_own(self._results, "r+b"), open_own(self._samples, "r+b")
                journal = stack.enter_context(
                    closing(Journal(self, *handles, len(manifest["evaluators"])))
                )
                if goes_on:
                    journal.find_the_end()
            yield journal

    def _begin(self, manifest: Mapping[str, Any]) -> None:
        """Make the files anew.

        The file of rows says that there is a run, so it goes first and comes last: a kill leaves no
        run then, and never the rows of one beside the manifest of another.
        """
        for file in (self._results, self._summary, self._new_samples, self._new_results):
            file.unlink(missing_ok=True)
        self.forget_replies()
        write_at_once(self._manifest, json.dumps(manifest, indent=2) + "\n")
        open_own(self._samples, "wb").close()
        open_own(self._results, "wb").close()

    def _settle(self) -> None:
        """Take back what a kill left of rows written anew; finish it where it was nearly done."""
        if self._new_results.exists():
            self._new_samples.unlink(missing_ok=True)
            self._new_results.unlink()
        elif self._new_samples.exists():
            self._new_samples.replace(self._samples)
        if not self._samples.exists():
            raise InputError(
                f"{self._samples} is missing, and without it the run cannot be gone on with; put "
                "it back, or overwrite the run (overwrite)"
            )

    def begin_anew(self) -> tuple[BinaryIO, BinaryIO]:
        """Open files for rows and samples that are to take the place of those that there are."""
        return open_own(self._new_results, "wb"), open_own(self._new_samples, "wb")

    def replace(self) -> None:
        """Put the new rows and samples in the place of the old ones.

        The rows go first: new samples alone say that their rows are in place already.
        """
        self.forget_summary()
        self._new_results.replace(self._results)
        self._new_samples.replace(self._samples)

    def reopen(self) -> tuple[BinaryIO, BinaryIO]:
        """Open the files of rows and samples, to write behind what they hold."""
        return open_own(self._results, "ab"), open_own(self._samples, "ab")

    def forget_summary(self) -> None:
        """Take away the summary, which is of other rows than there will be."""
        with writing(self.path):
            self._summary.unlink(missing_ok=True)

    def forget_replies(self) -> None:
        """Take away the judges' replies of a run that is done."""
        for file in self._files_of_replies():
            file.unlink(missing_ok=True)

    def _require_same(self, manifest: Mapping[str, Any]) -> None:
        different = differences(manifest, self.manifest())
        if different:
            raise InputError(f"{self.path} holds another run: {'; '.join(different)[:1000]}")

    def manifest(self) -> dict[str, Any]:
        """Return what was run; raise InputError where that is not known."""
        try:
            found = read_object(self._manifest)
        except OSError as error:
            raise InputError(f"{self.path} holds no run: {MANIFEST} cannot be read") from error
        for name in ("evaluators", "data"):
            if not isinstance(found.get(name), dict):
                raise InputError(f"{self._manifest} is damaged: it does not say the {name}")
        for name, evaluator in found["evaluators"].items():
            if not isinstance(evaluator, dict):
                raise InputError(f"{self._manifest} is damaged: it does not say what {name} is")
        return found

    def write_summary(self, text: str) -> None:
        """Write the summary, at once or not at all."""
        with writing(self.path):
            write_at_once(self._summary, text)

    def summary(self) -> dict[str, Any] | None:
        """Return the summary, None where there is none yet; raise InputError where it is none."""
        try:
            found = read_object(self._summary)
        except FileNotFoundError:
            return None
        figures = found.get("evaluators")
        if (
            not isinstance(found.get("samples"), int)
            or not isinstance(figures, dict)
            or not all(
                isinstance(each, dict) and each.keys() >= _FIGURES for each in figures.values()
            )
        ):
            raise InputError(
                f"{self._summary} is damaged: it lacks samples, evaluators or their figures; "
                "without the file the rows are counted anew"
            )
        return found

    def rows(self, count: int) -> StoredRows:
        """Return the rows that were written, so and so many."""
        return StoredRows(self._results, count)

    def samples(self) -> Iterator[dict[str, Any]]:
        """Read the samples with a row that did not pass, each a mapping of its fields.

        Raises InputError where a line is none.
        """
        with self._samples.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.endswith(b"\n"):
                    yield parse_object(line, f"{self._samples}: line {number}")


class Journal:
    """The files of a run while it is written.

    Rows come sample by sample, in the order of the data, each sample with one row of each
    evaluator. What a killed process has written in part is cut off, so that no row is lost
    and none is there twice.
    """

    def __init__(
        self, directory: RunDirectory, results: BinaryIO, samples: BinaryIO, evaluators: int
    ) -> None:
        self.directory = directory
        """Where it is."""
        self.done = 0
        """How many samples have all their rows."""
        self.failing = 0
        """How many samples were kept, in a run that is gone on with, since they did not pass."""
        self._results = results
        self._samples = samples
        self._evaluators = evaluators

    def find_the_end(self) -> None:
        """Count the samples that are done, and cut off what comes after them.

        Raises InputError where the file of samples is damaged.
        """
        end = lines = 0
        for number, line in enumerate(self._results, 1):
            if not line.endswith(b"\n"):
                break
            lines += len(line)
            if number % self._evaluators == 0:
                self.done, end = number // self._evaluators, lines
        cut(self._results, end)
        end = 0
        for number, line in enumerate(self._samples, 1):
            place = line.removeprefix(_PLACE).partition(b",")[0]
            if not line.endswith(b"\n"):
                break
            if not place.isdigit():
                raise InputError(f"{self.directory.path / SAMPLES}: line {number} is not a sample")
            if int(place) >= self.done:
                break
            end += len(line)
            self.failing += 1
        cut(self._samples, end)

    def require_kept(self, failing: int) -> None:
        """Raise InputError unless so many samples were kept."""
        if self.failing != failing:
            raise InputError(
                f"{self.directory.path / SAMPLES} is damaged: it has {self.failing} samples, and "
                f"{failing} did not pass; put it back, or overwrite the run (overwrite)"
            )

    def rows(self) -> Iterator[list[Row]]:
        """Read the rows of the samples that are done, sample by sample."""
        rows = iter(self.directory.rows(self.done * self._evaluators))
        for _ in range(self.done):
            yield [next(rows) for _ in range(self._evaluators)]

    @contextmanager
    def anew(self) -> Iterator[Journal]:
        """Write all rows anew; they take the place of those that there are once all are written."""
        directory = self.directory
        with writing(directory.path):
            new = Journal(directory, *directory.begin_anew(), self._evaluators)
        with closing(new):
            yield new
        self.close()
        with writing(directory.path):
            directory.replace()
            self._results, self._samples = directory.reopen()

    def close(self) -> None:
        """Close the files; raises InputError where what is left to write cannot be written."""
        with writing(self.directory.path):
            try:
                self._results.close()
            finally:
                self._samples.close()

    def write(self, columns: Sequence[Column], sample_of: Callable[[int], object]) -> None:
        """Add the rows of further samples; `sample_of` gives the so-manieth of these samples.

        Raises InputError where that cannot be written.
        """
        written = write_rows(by_sample(columns))
        self.append(len(columns[0].rows), written, sample_lines(columns, sample_of))

    def append(self, samples: int, rows: bytes, failing: Iterable[tuple[int, bytes]]) -> None:
        """Add so many further samples as `write_rows` and `sample_lines` have written them."""
        lines = [b"%s%d,%s" % (_PLACE, self.done + place, line) for place, line in failing]
        with writing(self.directory.path):
            self._samples.write(b"".join(lines))  # line by line would be many small writes
            self._samples.flush()
            self._results.write(rows)
            self._results.flush()
        self.done += samples
