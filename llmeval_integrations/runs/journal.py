"""Writes the rows of a run so that a kill loses none and duplicates none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from llmeval_integrations.runs.engine import Answers
from llmeval_integrations.runs.files import convert_write_errors, open_file
from llmeval_integrations.runs.rows import Row, StoredRows, write_rows


class Memory:
    """Keeps the rows of a run without a directory."""

    def __init__(self, width: int) -> None:
        self.rows: list[Row] = []
        self._width = width

    @property
    def done(self) -> int:
        """The number of samples that have their rows."""
        return len(self.rows) // self._width

    def append(self, answers: Answers) -> None:
        """Add the rows of further samples."""
        self.rows += answers.rows


class Journal:
    """Keeps the rows and samples of a run in files.

    A sample has one row of every evaluator; their number is the width. If a process was killed
    while it wrote, the rows of its last sample are cut off.
    """

    def __init__(self, results: Path, samples: Path, width: int) -> None:
        self.done = 0
        """The number of samples that have all their rows."""
        self.folder = results.parent
        """The directory of the run."""
        self._paths = results, samples
        self._width = width
        self._open()

    def _open(self) -> None:
        """Open the files, count the samples that are done, and cut off all that follows."""
        self._results, self._samples = (open_file(path, "r+b") for path in self._paths)
        self.done = end = size = 0
        for number, line in enumerate(self._results, 1):
            if not line.endswith(b"\n"):
                break
            size += len(line)
            if number % self._width == 0:
                self.done, end = number // self._width, size
        _cut(self._results, end)
        end = 0
        for line in self._samples:
            place = line.removeprefix(b'{"row":').partition(b",")[0]
            if not line.endswith(b"\n") or not place.isdigit() or int(place) >= self.done:
                break
            end += len(line)
        _cut(self._samples, end)

    @property
    def rows(self) -> StoredRows:
        """The rows of the samples that are done."""
        return StoredRows(self._paths[0], self.done * self._width)

    def samples(self) -> Iterator[bytes]:
        """Read the lines of samples, each without its beginning, as `append` takes them."""
        with self._paths[1].open("rb") as lines:
            yield from (line.partition(b",")[2] for line in lines)

    def replace_rows(self, chunks: Iterable[list[Row]]) -> None:
        """Write rows to a new file, which then replaces the file of rows.

        The samples stay: those of rows that pass now have been kept before.
        """
        results = self._paths[0]
        new = results.with_suffix(".new")
        with convert_write_errors(self.folder):
            with open_file(new, "wb") as file:
                for rows in chunks:
                    file.write(write_rows(rows))
            self.close()
            new.replace(results)
            self._open()

    def append(self, answers: Answers) -> None:
        """Add the rows of further samples."""
        lines = [b'{"row":%d,%s' % (self.done + place, line) for place, line in answers.samples]
        with convert_write_errors(self.folder):
            self._samples.write(b"".join(lines))  # one write, not many small ones
            self._samples.flush()
            self._results.write(answers.write())
            self._results.flush()
        self.done += len(answers.rows) // self._width

    def close(self) -> None:
        """Close the files; raises InputError if the rest cannot be written."""
        with convert_write_errors(self.folder):
            try:
                self._results.close()
            finally:
                self._samples.close()


def _cut(file: BinaryIO, end: int) -> None:
    """Truncate a file and continue there."""
    file.seek(end)
    file.truncate()
