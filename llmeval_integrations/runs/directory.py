"""A run's directory: what was run, its rows as they come, its summary."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from os import SEEK_END, PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final

from llmeval_integrations.errors import InputError
from llmeval_integrations.runs.lock import locked
from llmeval_integrations.runs.manifest import differences
from llmeval_integrations.runs.rows import Row, StoredRows, write_rows, write_value

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

_PLACE: Final = b'{"row":'


class RunDirectory:
    """Where one run is written, and found again."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Name the directory; nothing is made yet."""
        self.path = Path(path)
        self._results = self.path / RESULTS
        self._samples = self.path / SAMPLES
        self._summary = self.path / SUMMARY
        self._manifest = self.path / MANIFEST

    @property
    def replies(self) -> Path:
        """Where judges' replies are kept until the run is done."""
        return self.path / REPLIES

    def check(self, samples: object, *, overwrite: bool, resume: bool) -> None:
        """Raise InputError where there is a run already, or where it is itself the data."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is not a directory")
        if not self._results.exists():
            return
        if not overwrite and not resume:
            raise InputError(
                f"{self.path} already holds a run; go on with it (--resume), choose another "
                "directory, or overwrite it (--overwrite)"
            )
        if isinstance(samples, (str, PathLike)) and Path(samples).resolve() == (
            self._results.resolve()
        ):
            raise InputError(f"{self._results} is the data, and would be overwritten")

    @contextmanager
    def journal(
        self, manifest: Mapping[str, Any], *, overwrite: bool, resume: bool
    ) -> Iterator[Journal]:
        """Open the directory for one process, to write rows behind those that are to stay.

        Raises InputError where the directory cannot be made or written to, another process is at
        work in it, or what is to be resumed is another run.
        """
        with ExitStack() as stack:
            with _writing(self.path):
                self.path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(self.path))
                goes_on = resume and self._results.exists()
                if goes_on:
                    self._require_same(manifest)
                else:
                    self._begin(manifest, overwrite=overwrite)
                handles = self._results.open("r+b"), self._samples.open("r+b")
                journal = Journal(self, *handles, len(manifest["evaluators"]))
                stack.callback(journal.close)
                if goes_on:
                    journal.find_the_end()
            yield journal

    def _begin(self, manifest: Mapping[str, Any], *, overwrite: bool) -> None:
        """Make the files anew; the file of rows last, for it says that there is a run."""
        self._summary.unlink(missing_ok=True)
        self.forget_replies()
        self._manifest.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        self._samples.write_bytes(b"")
        with self._results.open("wb" if overwrite else "xb"):
            pass

    def forget_replies(self) -> None:
        """Take away the judges' replies of a run that is done."""
        for file in self.path.glob(f"{REPLIES}*"):
            file.unlink(missing_ok=True)

    def _require_same(self, manifest: Mapping[str, Any]) -> None:
        different = differences(manifest, self.manifest())
        if different:
            raise InputError(f"{self.path} holds another run: {'; '.join(different)[:1000]}")

    def manifest(self) -> dict[str, Any]:
        """Give what was run; raise InputError where that is not known."""
        try:
            found = json.loads(self._manifest.read_bytes())
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path} holds no run: {MANIFEST} cannot be read") from error
        if not isinstance(found, dict):
            raise InputError(f"{self.path} holds no run: {MANIFEST} is no JSON object")
        return found

    def write_summary(self, text: str) -> None:
        """Write the summary, at once or not at all."""
        unfinished = self._summary.with_suffix(".new")
        with _writing(self.path):
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(self._summary)

    def summary(self) -> dict[str, Any] | None:
        """Give the summary, None where there is none yet."""
        try:
            found: dict[str, Any] = json.loads(self._summary.read_bytes())
        except FileNotFoundError:
            return None
        return found

    def rows(self, count: int) -> StoredRows:
        """Give the rows that were written, so and so many."""
        return StoredRows(self._results, count)

    def samples(self) -> Iterator[dict[str, Any]]:
        """Read the samples with a row that did not pass, each a mapping of its fields."""
        with self._samples.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    yield json.loads(line)


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
        self._results = results
        self._samples = samples
        self._evaluators = evaluators

    def find_the_end(self) -> None:
        """Count the samples that are done, and cut off what comes after them."""
        end = lines = 0
        for number, line in enumerate(self._results, 1):
            if not line.endswith(b"\n"):
                break
            lines += len(line)
            if number % self._evaluators == 0:
                self.done, end = number // self._evaluators, lines
        _cut(self._results, end)
        end = 0
        for line in self._samples:
            place = line[len(_PLACE) : line.find(b",")]
            if not line.endswith(b"\n") or int(place) >= self.done:
                break
            end += len(line)
        _cut(self._samples, end)

    def rows(self) -> Iterator[list[Row]]:
        """Read the rows of the samples that are done, sample by sample."""
        rows = iter(self.directory.rows(self.done * self._evaluators))
        for _ in range(self.done):
            yield [next(rows) for _ in range(self._evaluators)]

    @contextmanager
    def anew(self) -> Iterator[Journal]:
        """Write all rows anew; they take the place of those that there are once all are written."""
        folder = self.directory.path
        results, samples = folder / f"{RESULTS}.new", folder / f"{SAMPLES}.new"
        with ExitStack() as stack:
            with _writing(folder):
                rows = stack.enter_context(results.open("wb"))
                kept = stack.enter_context(samples.open("wb"))
            yield Journal(self.directory, rows, kept, self._evaluators)
        with _writing(folder):
            samples.replace(folder / SAMPLES)
            results.replace(folder / RESULTS)
            self._results.close()
            self._samples.close()
            self._results = (folder / RESULTS).open("r+b")
            self._samples = (folder / SAMPLES).open("r+b")
            self._results.seek(0, SEEK_END)
            self._samples.seek(0, SEEK_END)

    def close(self) -> None:
        """Close the files."""
        self._results.close()
        self._samples.close()

    def write(self, rows: list[Row], sample_of: Callable[[int], Mapping[str, Any]]) -> None:
        """Add the rows of further samples; `sample_of` gives the so-manieth of these samples.

        Raises InputError where that cannot be written.
        """
        width = self._evaluators
        self.append(len(rows) // width, write_rows(rows), sample_lines(rows, width, sample_of))

    def append(self, samples: int, rows: bytes, failing: Iterable[tuple[int, bytes]]) -> None:
        """Add so many further samples as `write_rows` and `sample_lines` have written them."""
        with _writing(self.directory.path):
            self._samples.writelines(
                b"%s%d,%s" % (_PLACE, self.done + place, line) for place, line in failing
            )
            self._samples.flush()
            self._results.write(rows)
            self._results.flush()
        self.done += samples


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say what cannot be written, and that nothing is lost by it."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot write to {folder}: {error.strerror or error}; what is written there stands, "
            "and a run that was begun can be resumed"
        ) from error


def _is_failing(row: Row) -> bool:
    return row.passed is False or row.unscored or row.error is not None


def _cut(handle: BinaryIO, end: int) -> None:
    handle.seek(end)
    handle.truncate()


def sample_lines(
    rows: list[Row], width: int, sample_of: Callable[[int], Mapping[str, Any]]
) -> Iterator[tuple[int, bytes]]:
    """Write the samples with a row that did not pass; gives their places, and each line's rest.

    Its beginning is the sample's place among all, which only who writes the file knows.
    """
    for place in range(len(rows) // width):
        if any(map(_is_failing, rows[place * width : (place + 1) * width])):
            yield place, write_value(dict(sample_of(place)))[1:] + b"\n"
