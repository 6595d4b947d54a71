"""One pass of evaluators over the data."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from llmeval_integrations.errors import InputError
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.runs.answering import Pending, begin
from llmeval_integrations.runs.chunks import MOST_ROWS, in_chunks
from llmeval_integrations.runs.directory import Journal, RunDirectory
from llmeval_integrations.runs.fields import FIELDS, Columns
from llmeval_integrations.runs.judging import Judging
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run, summary_text
from llmeval_integrations.runs.source import Record, Source
from llmeval_integrations.runs.summary import Tally
from llmeval_integrations.sample import MISSING, Sample
from llmeval_integrations.wording import shown

_Keep = Callable[[list[Row], Callable[[int], Mapping[str, Any]]], None]
"""Takes rows, and what gives the so-manieth of their samples."""

OnProgress = Callable[[int, "float | None"], None]
"""Is told after each chunk how many samples are done, and which share of all where known."""


AHEAD: Final = 32
"""How many times more samples than are judged at a time are begun before the first has ended, so
that one that takes long holds up no other."""


class Evaluating:
    """One pass over the data."""

    def __init__(
        self,
        evaluators: Mapping[str, Evaluator],
        columns: Mapping[str, Columns],
        source: Source,
        judging: Judging | None,
        on_progress: OnProgress | None,
    ) -> None:
        self.samples = 0
        self.tallies = {
            name: Tally(breakdown=evaluator.breakdown()) for name, evaluator in evaluators.items()
        }
        self._evaluators = evaluators
        self._columns = columns
        self._source = source
        self._judging = judging
        self._on_progress = on_progress

    def run(self) -> Run:
        """Evaluate everything, and keep the rows in memory."""
        kept: list[Row] = []
        self._evaluate(lambda rows, _: kept.extend(rows))
        return Run.of(self.samples, self.tallies, kept, None, self._judging)

    def run_into(self, journal: Journal, *, retry_errors: bool) -> Run:
        """Evaluate what the journal lacks, and write it there."""
        directory = journal.directory
        try:
            if retry_errors:
                self._retry(journal)
            else:
                self._take_over(journal)
            self._evaluate(journal.write)
        except KeyboardInterrupt:
            directory.write_summary(
                summary_text({**self._run(directory).summary, "interrupted": True})
            )
            raise
        run = self._run(directory)
        directory.write_summary(summary_text(run.summary))
        return run

    def _run(self, directory: RunDirectory) -> Run:
        rows = directory.rows(self.samples * len(self._evaluators))
        return Run.of(self.samples, self.tallies, rows, directory.path, self._judging)

    def _take_over(self, journal: Journal) -> None:
        """Count in what is done."""
        for _, rows in self._done(journal):
            for row in rows:
                self._count(row, before=True)
            self.samples += 1

    def _retry(self, journal: Journal) -> None:
        """Do error and unscored rows again, and leave the others as they are."""
        done = self._done(journal)
        with journal.anew() as new:
            while chunk := list(islice(done, MOST_ROWS)):
                columns = [*zip(*(rows for _, rows in chunk), strict=True)]
                records = [record for record, _ in chunk]
                again = [
                    self._done_again(name, records, list(rows))
                    for name, rows in zip(self._evaluators, columns, strict=True)
                ]
                flat = list(chain.from_iterable(zip(*again, strict=True)))
                new.write(flat, partial(self._sample, records))
                for row in flat:
                    self._count(row, before=False)
                self.samples += len(chunk)

    def _done_again(self, name: str, records: list[Record], rows: list[Row]) -> list[Row]:
        """Give one evaluator's rows, those without a score evaluated again."""
        places = [place for place, row in enumerate(rows) if row.unscored or row.error is not None]
        chunk = [records[place] for place in places]
        if chunk:
            only = {name: self._evaluators[name]}
            [pending] = begin(only, self._columns, chunk, self._source, self._judging)
            for place, row in zip(places, pending.rows(), strict=True):
                rows[place] = row
        return rows

    def _done(self, journal: Journal) -> Iterator[tuple[Record, list[Row]]]:
        """Read what is done with its records; raise InputError where these are other ones."""
        given = self._source.records
        names = list(self._evaluators)
        for rows in journal.rows():
            record = next(given, (0, None))
            number, row = record
            here = None if row is None else self._columns[names[0]].id(row, number)
            if [row.evaluator for row in rows] != names or not _same_id(rows[0].id, here):
                raise InputError(
                    f"{journal.directory.path} holds a run of other data: there is a sample "
                    f"{shown(rows[0].id)} where there now is {shown(here)}"
                )
            yield record, rows

    def _count(self, row: Row, *, before: bool) -> None:
        self.tallies[row.evaluator].add([row])
        if self._judging is not None:
            self._judging.count(row, before=before)

    def _evaluate(self, keep: _Keep) -> None:
        """Evaluate chunk by chunk; `keep` gets the rows sample by sample.

        Where judges are asked, chunks are begun ahead, so that the judges are never idle.
        """
        at_a_time = self._judging.concurrency if self._judging else 0
        begun: deque[_Begun] = deque()
        size = min(at_a_time or MOST_ROWS, MOST_ROWS)
        ahead = 0
        for chunk in in_chunks(self._source, size):
            rows = begin(self._evaluators, self._columns, chunk, self._source, self._judging)
            begun.append(_Begun(chunk, rows, self._source.share))
            ahead += len(chunk)
            while begun and ahead > AHEAD * at_a_time:
                ahead -= self._finish(begun.popleft(), keep)
        while begun:
            self._finish(begun.popleft(), keep)

    def _finish(self, begun: _Begun, keep: _Keep) -> int:
        """Wait for a chunk and keep its rows; gives how many samples it has."""
        columns = [pending.rows() for pending in begun.pending]
        keep(
            list(chain.from_iterable(zip(*columns, strict=True))),
            partial(self._sample, begun.chunk),
        )
        for tally, rows in zip(self.tallies.values(), columns, strict=True):
            tally.add(rows)
            if self._judging is not None:
                for row in rows:
                    self._judging.count(row)
        self.samples += len(begun.chunk)
        if self._on_progress is not None:
            self._on_progress(self.samples, begun.share)
        return len(begun.chunk)

    def _sample(self, chunk: Sequence[Record], place: int) -> dict[str, Any]:
        """Give a sample's fields, as the first evaluator sees them."""
        number, row = chunk[place]
        columns = next(iter(self._columns.values()))
        sample = columns.sample(row, number)
        if not isinstance(sample, Sample):
            return {"id": columns.id(row, number)}
        present = {name: getattr(sample, name) for name in FIELDS}
        return {name: value for name, value in present.items() if value is not MISSING}


def _same_id(stored: Any, given: Any) -> bool:
    """Whether an id that was written is this one; what JSON has no form for is not compared."""
    return stored == given or not isinstance(given, (str, int, float))


class _Begun(NamedTuple):
    """A chunk that is being evaluated."""

    chunk: Sequence[Record]
    """Its records."""

    pending: list[Pending]
    """What waits for each evaluator's rows."""

    share: float | None
    """The share of the data that was read with it."""
