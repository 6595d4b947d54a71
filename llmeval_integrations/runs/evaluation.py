"""One pass of evaluators over the data."""

from __future__ import annotations

import gc
import logging
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from numbers import Integral
from typing import Any, TypeVar

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.runs.chunk import Answers, Engine, Here, Job, begin, keep, samples_of
from llmeval_integrations.runs.data.source import CHUNK, Record, Source
from llmeval_integrations.runs.directory import RunDirectory
from llmeval_integrations.runs.journal import Journal, Memory
from llmeval_integrations.runs.judges import Judging, add_earlier
from llmeval_integrations.runs.options import OnProgress
from llmeval_integrations.runs.rows import Row, as_stored
from llmeval_integrations.runs.run import INTERRUPTED, Interrupted, Run, summary_text
from llmeval_integrations.runs.summary import Origins, Tally

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Evaluation:
    """One pass over the data."""

    def __init__(
        self,
        job: Job,
        source: Source,
        judging: Judging | None,
        engine: Engine,
        on_progress: OnProgress | None,
    ) -> None:
        self._job = job
        self._source = source
        self._judging = judging
        self._engine = engine
        self._on_progress = on_progress
        self._tallies = {name: Tally(each.breakdown()) for name, each in job.evaluators.items()}
        self._origins = Origins(job.evaluators)

    def run(self) -> Run:
        """Evaluate all samples and keep the rows in memory; raise Interrupted at an interrupt."""
        return self._run(Memory(len(self._tallies)), None)

    def run_into(self, directory: RunDirectory, journal: Journal, *, retry: bool) -> Run:
        """Evaluate the samples that the journal lacks; raise Interrupted at an interrupt."""
        _log.info("%d samples are done already", journal.done)
        if retry:
            self._retry(journal)
        else:
            for _, rows in self._done(journal):
                self._count(rows, elsewhere=True)
        directory.forget_summary()
        return self._run(journal, directory)

    def _run(self, keeper: Journal | Memory, directory: RunDirectory | None) -> Run:
        interrupt = None
        try:
            self._evaluate(keeper)
        except KeyboardInterrupt as error:
            interrupt = error
        evaluators = self._job.evaluators
        run = Run.of(
            keeper.done,
            self._tallies,
            keeper.rows,
            judging=self._judging,
            out=None if directory is None else directory.path,
            lower_is_better=frozenset(n for n, each in evaluators.items() if each.lower_is_better),
            incomplete=None if interrupt is None else INTERRUPTED,
        )
        self._origins.add_to(run.summary["evaluators"])
        if interrupt is not None:
            run.summary["interrupted"] = True
        if directory is not None:
            directory.write_summary(summary_text(run.summary))
        if interrupt is not None:
            raise Interrupted(run) from interrupt
        return run

    def _evaluate(self, keeper: Journal | Memory) -> None:
        """Evaluate the rest, and keep the rows sample by sample."""
        size = min(self._judging.concurrency, CHUNK) if self._judging else CHUNK

        def begun() -> Iterator[Callable[[], tuple[Answers, float | None]]]:
            for chunk in self._source.chunks(size):
                wait, share = self._engine.begin(chunk), self._source.share
                yield lambda wait=wait, share=share: (wait(), share)  # type: ignore[misc]

        with rare_collection():
            for answers, share in finish(begun(), self._engine.ahead):
                with hold_interrupts():  # both are done, or neither
                    keeper.append(answers)
                    self._count(answers.rows, elsewhere=not isinstance(self._engine, Here))
                if self._on_progress is not None:
                    self._on_progress(keeper.done, share)

    def _count(self, rows: list[Row], *, elsewhere: bool = False) -> None:
        """Count rows. `elsewhere` means that this process asked no judge about them."""
        self._origins.add(rows)
        width = len(self._tallies)
        for place, tally in enumerate(self._tallies.values()):
            tally.add(rows[place::width])
        if self._judging is not None:
            for row in rows:
                self._judging.count(row, elsewhere=elsewhere)

    def _retry(self, journal: Journal) -> None:
        """Evaluate error rows and unscored rows again, and leave the others as they are.

        Chunks are begun ahead, as in a first pass, so one batch asks about all of them.
        """
        begun = (self._begin_again(*done) for done in self._done(journal))
        with journal.rewrite() as new:
            for answers in finish(begun, self._engine.ahead):
                new.append(answers)
                self._count(answers.rows)

    def _begin_again(self, records: list[Record], rows: list[Row]) -> Callable[[], Answers]:
        """Begin to evaluate the rows of a chunk that have no score."""
        names, waits = [*self._tallies], []
        for first, name in enumerate(names):
            own = range(first, len(rows), len(names))
            places = [place for place in own if rows[place].unscored or rows[place].error]
            job = Job({name: self._job.evaluators[name]}, {name: self._job.columns[name]})
            again = [records[place // len(names)] for place in places]
            waits.append((places, begin(job, again, self._judging)))

        def replace_rows() -> Answers:
            for places, wait in waits:
                for place, row in zip(places, wait().rows, strict=True):
                    add_earlier(row, rows[place])
                    rows[place] = row
            return keep(self._job, samples_of(self._job.columns, records), rows)

        return replace_rows

    def _done(self, journal: Journal) -> Iterator[tuple[list[Record], list[Row]]]:
        """Read the records and rows that are done, chunk by chunk.

        Raises InputError if the data has other ids.
        """
        columns = next(iter(self._job.columns.values()))
        width = len(self._tallies)
        stored = islice(journal.rows, journal.done * width)
        while rows := list(islice(stored, CHUNK * width)):
            records = list(islice(self._source.records, len(rows) // width))
            given = [columns.id(row, number) for number, row in records]
            for place, row in enumerate(rows[::width]):
                now = "ends before it"
                if place < len(given):
                    own = given[place]
                    # An id that JSON does not have is not compared.
                    if not isinstance(own, (str, float, Integral)) or as_stored(own) == row.id:
                        continue
                    now = f"has {quote(own)} in its place"
                raise InputError(
                    f"{journal.folder} holds a run of other data: it has a sample {quote(row.id)}, "
                    f"and {self._source.name} {now}"
                )
            yield records, rows


def finish(begun: Iterator[Callable[[], T]], ahead: int) -> Iterator[T]:
    """Yield results in order. As many as `ahead` are begun before the first is waited for."""
    waits: deque[Callable[[], T]] = deque()
    for wait in begun:
        waits.append(wait)
        while len(waits) > ahead:
            yield waits.popleft()()
    while waits:
        yield waits.popleft()()


@contextmanager
def rare_collection() -> Iterator[None]:
    """Collect garbage at most once a chunk, which takes a tenth less time."""
    before = gc.get_threshold()
    if before[0]:  # otherwise it is off
        gc.set_threshold(max(before[0], 50_000), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Delay an interrupt until the end of the block."""
    before = signal.getsignal(signal.SIGINT)
    # Python raises interrupts only in the main thread.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[Any] = []
    signal.signal(signal.SIGINT, lambda *interrupt: held.append(interrupt))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            before(*held[0])
