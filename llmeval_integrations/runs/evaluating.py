"""One pass of evaluators over the data."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs.answering import Pending, begin
from llmeval_integrations.runs.chunks import MOST_ROWS, in_chunks, seldom_collected
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.directory import RESULTS, Journal, RunDirectory
from llmeval_integrations.runs.engine import Helpers
from llmeval_integrations.runs.interrupting import Interrupted, Interrupts
from llmeval_integrations.runs.judging import Judging, add_earlier
from llmeval_integrations.runs.reading.source import Record, RowNumber, Source, on_line, place_of
from llmeval_integrations.runs.rows import (
    Column,
    Row,
    StoredRows,
    as_stored,
    by_sample,
    is_failing,
    read_many,
)
from llmeval_integrations.runs.run import INTERRUPTED, Run, summary_text
from llmeval_integrations.runs.samples import samples_of, stored_of
from llmeval_integrations.runs.summary import Tally

if TYPE_CHECKING:
    from llmeval_integrations.runs.parts import Answer

_log = logging.getLogger(__name__)

OnProgress = Callable[[int, "float | None"], None]
"""Is told after each chunk how many samples are done, and which share of all where known."""


AHEAD: Final = 32
"""How many times more samples than are judged at a time are begun before the first has ended, so
that one that takes long holds up no other."""


class Memory:
    """Keeps the rows of a run that has no directory."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def write(self, columns: Sequence[Column], _: object) -> None:
        """Add rows."""
        self.rows += by_sample(columns)

    def append(self, _: int, rows: bytes, __: object) -> None:
        """Add rows that are written already."""
        self.rows += read_many(rows)


class Evaluating:
    """One pass over the data."""

    def __init__(
        self,
        evaluators: Mapping[str, Evaluator],
        columns: Mapping[str, Columns],
        source: Source,
        *,
        judging: Judging | None = None,
        on_progress: OnProgress | None = None,
        workers: Helpers | None = None,
    ) -> None:
        self.samples = 0
        self.tallies = {
            name: Tally(breakdown=evaluator.breakdown()) for name, evaluator in evaluators.items()
        }
        self._evaluators = evaluators
        self._columns = columns
        self._first = next(iter(columns.values()))
        self._source = source
        self._judging = judging
        self._on_progress = on_progress
        self._workers = workers
        self._interrupts = Interrupts()

    def run(self) -> Run:
        """Evaluate everything, and keep the rows in memory.

        Raises Interrupted at an interrupt.
        """
        memory = Memory()
        try:
            with self._interrupts.watched(), seldom_collected():
                self._evaluate(memory)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(self._incomplete(memory.rows)) from interrupt
        return self._made(memory.rows)

    def run_into(self, journal: Journal, *, retry_errors: bool) -> Run:
        """Evaluate what the journal lacks, and write it there.

        Raises Interrupted at an interrupt.
        """
        directory = journal.directory
        if retry_errors:
            self._retry(journal)
        else:
            self._take_over(journal)
        directory.forget_summary()
        try:
            with self._interrupts.watched(), seldom_collected():
                self._evaluate(journal)
        except KeyboardInterrupt as interrupt:
            run = self._incomplete(self._stored(directory), directory.path)
            directory.write_summary(summary_text(run.summary))
            raise Interrupted(run) from interrupt
        run = self._made(self._stored(directory), directory.path)
        directory.write_summary(summary_text(run.summary))
        return run

    def _stored(self, directory: RunDirectory) -> StoredRows:
        return directory.rows(self.samples * len(self._evaluators))

    def _made(self, rows: list[Row] | StoredRows, path: Path | None = None) -> Run:
        return Run.of(
            *(self.samples, self.tallies, rows, path, self._judging),
            lower_is_better=frozenset(
                name for name, each in self._evaluators.items() if each.lower_is_better
            ),
        )

    def _incomplete(self, rows: list[Row] | StoredRows, path: Path | None = None) -> Run:
        run = self._made(rows, path)
        return replace(run, summary={**run.summary, "interrupted": True}, incomplete=INTERRUPTED)

    def _take_over(self, journal: Journal) -> None:
        """Count in what is done."""
        _log.info("%d samples are done already", journal.done)
        failing = 0
        for _, rows in self._done(journal):
            for row in rows:
                self._count(row, before=True)
            failing += any(map(is_failing, rows))
            self.samples += 1
        journal.require_kept(failing)

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
                new.write(again, stored_of(samples_of(self._columns, records)))
                for row in by_sample(again):
                    self._count(row, before=False)
                self.samples += len(chunk)

    def _done_again(self, name: str, records: list[Record], rows: list[Row]) -> Column:
        """Return one evaluator's rows, those without a score evaluated again."""
        places = [place for place, row in enumerate(rows) if row.unscored or row.error is not None]
        chunk = [records[place] for place in places]
        if chunk:
            only = {name: self._evaluators[name]}
            [pending] = begin(only, self._columns, chunk, self._source, self._judging)
            for place, row in zip(places, pending.column().rows, strict=True):
                if isinstance(self._evaluators[name], JudgedEvaluator):
                    add_earlier(row, rows[place])
                rows[place] = row
        return Column(rows, [], [*range(len(rows))])

    def _done(self, journal: Journal) -> Iterator[tuple[Record, list[Row]]]:
        """Read what is done with its records; raise InputError where these are other ones."""
        given = self._source.records
        names = list(self._evaluators)
        for rows in journal.rows():
            record = next(given, None)
            here = None if record is None else self._first.id(record[1], record[0])
            found = [row.evaluator for row in rows]
            if found != names:
                raise InputError(
                    f"{journal.directory.path / RESULTS} is damaged: a sample has rows of "
                    f"{', '.join(map(str, found))}, and not of {', '.join(names)}"
                )
            if record is None or not _same_id(rows[0].id, here):
                raise InputError(
                    f"{journal.directory.path} holds a run of other data: there is a sample "
                    f"{quote(rows[0].id)} where there now is "
                    f"{'none' if record is None else quote(here)}"
                )
            yield record, rows

    def _count(self, row: Row, *, before: bool) -> None:
        self.tallies[row.evaluator].add([row])
        if self._judging is not None:
            self._judging.count(row, elsewhere=before)

    def _evaluate(self, kept: Journal | Memory) -> None:
        """Evaluate chunk by chunk, and keep the rows sample by sample.

        Where judges are asked, chunks are begun ahead, so that the judges are never idle. The rest
        is left to other processes once these are ready for it.
        """
        at_a_time = self._judging.concurrency if self._judging else 0
        begun: deque[_Begun] = deque()
        size = min(at_a_time or MOST_ROWS, MOST_ROWS)
        ahead = 0
        for chunk in in_chunks(self._source, size):
            rows = begin(self._evaluators, self._columns, chunk, self._source, self._judging)
            begun.append(_Begun(rows, len(chunk), self._source.share))
            ahead += len(chunk)
            while begun and ahead > AHEAD * at_a_time:
                ahead -= self._finish(begun.popleft(), kept)
            if self._workers is not None and self._workers.ready(self._source):
                while begun:
                    self._finish(begun.popleft(), kept)
                last, line = place_of(chunk[-1][0])
                self._share_out(self._workers, on_line(last + 1, line + 1), kept)
                break
        while begun:
            self._finish(begun.popleft(), kept)

    def _share_out(self, workers: Helpers, number: RowNumber, kept: Journal | Memory) -> None:
        """Have the rows from `number` on evaluated by other processes."""
        for answer, end in workers.answers(self._source.done, number):
            with self._interrupts:
                self._keep(answer, kept)
            self._source.done = end
            if self._on_progress is not None:
                self._on_progress(self.samples, self._source.share)

    def _keep(self, answer: Answer, kept: Journal | Memory) -> None:
        """Keep what another process said, and count it in."""
        kept.append(answer.samples, answer.rows, answer.failing)
        for tally, (scores, rows) in zip(self.tallies.values(), answer.counted, strict=True):
            tally.add_plain(scores)
            tally.add(rows)
            if self._judging is not None:
                for row in rows:
                    self._judging.count(row, elsewhere=True)
        self.samples += answer.samples

    def _finish(self, begun: _Begun, kept: Journal | Memory) -> int:
        """Wait for a chunk and keep its rows; gives how many samples it has."""
        columns = [pending.column() for pending in begun.pending]
        samples = {pending.name: pending.samples for pending in begun.pending}
        with self._interrupts:
            kept.write(columns, stored_of(samples))
            for tally, column in zip(self.tallies.values(), columns, strict=True):
                tally.add_column(column)
                if self._judging is not None:
                    for row in column.rows:
                        self._judging.count(row)
            self.samples += begun.samples
        if self._on_progress is not None:
            self._on_progress(self.samples, begun.share)
        return begun.samples


def _same_id(stored: Any, given: Any) -> bool:
    """Whether an id that was written is this one; what JSON has no form for is not compared."""
    return stored == as_stored(given) or not isinstance(given, (str, float, Integral))


class _Begun(NamedTuple):
    """A chunk that is being evaluated."""

    pending: list[Pending]
    """What waits for each evaluator's rows."""

    samples: int
    """How many samples it has."""

    share: float | None
    """The share of the data that was read with it."""
