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
from typing import Any

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
        """Evaluate everything, and keep the rows in memory; raise Interrupted at an interrupt."""
        return self._run(Memory(len(self._tallies)), None)

    def run_into(self, directory: RunDirectory, journal: Journal, *, retry: bool) -> Run:
        """Evaluate what the journal lacks, and write it; raise Interrupted at an interrupt."""
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
        is_counted = isinstance(self._engine, Here)
        size = min(self._judging.concurrency, CHUNK) if self._judging else CHUNK
        begun: deque[tuple[Callable[[], Answers], float | None]] = deque()

        def finish() -> None:
            wait, share = begun.popleft()
            answers = wait()
            with hold_interrupts():  # both are done, or neither
                keeper.append(answers)
                self._count(answers.rows, elsewhere=not is_counted)
            if self._on_progress is not None:
                self._on_progress(keeper.done, share)

        with rare_collection():
            for chunk in self._source.chunks(size):
                begun.append((self._engine.begin(chunk), self._source.share))
                while len(begun) > self._engine.ahead:
                    finish()
            while begun:
                finish()

    def _count(self, rows: list[Row], *, elsewhere: bool = False) -> None:
        """Count rows in; `elsewhere`, where this process asked no judge."""
        self._origins.add(rows)
        width = len(self._tallies)
        for place, tally in enumerate(self._tallies.values()):
            tally.add(rows[place::width])
        if self._judging is not None:
            for row in rows:
                self._judging.count(row, elsewhere=elsewhere)

    def _retry(self, journal: Journal) -> None:
        """Do error and unscored rows again, and leave the others as they are.

        Chunks are begun ahead, as in a first pass, so that one batch asks about all of them.
        """
        begun: deque[tuple[list[Record], list[Row], list[Callable[[], None]]]] = deque()

        def finish() -> None:
            records, rows, replacements = begun.popleft()
            for replace_rows in replacements:
                replace_rows()
            new.append(keep(self._job, samples_of(self._job.columns, records), rows))
            self._count(rows)

        with journal.rewrite() as new:
            for records, rows in self._done(journal):
                again = [self._begin_again(name, records, rows) for name in self._tallies]
                begun.append((records, rows, again))
                while len(begun) > self._engine.ahead:
                    finish()
            while begun:
                finish()

    def _begin_again(self, name: str, records: list[Record], rows: list[Row]) -> Callable[[], None]:
        """Begin to evaluate an evaluator's rows that have no score; gives what replaces them."""
        first, width = [*self._tallies].index(name), len(self._tallies)
        own = range(first, len(rows), width)
        places = [place for place in own if rows[place].unscored or rows[place].error]
        evaluator, columns = self._job.evaluators[name], self._job.columns[name]
        job = Job({name: evaluator}, {name: columns})
        wait = begin(job, [records[place // width] for place in places], self._judging)

        def replace_rows() -> None:
            for place, row in zip(places, wait().rows, strict=True):
                if evaluator.is_judge:
                    add_earlier(row, rows[place])
                rows[place] = row

        return replace_rows

    def _done(self, journal: Journal) -> Iterator[tuple[list[Record], list[Row]]]:
        """Read what is done, chunk by chunk: the records, and their rows.

        Raises InputError where the records are others.
        """
        names = [*self._tallies]
        first = self._job.columns[names[0]]
        stored = islice(journal.rows, journal.done * len(names))
        while rows := list(islice(stored, CHUNK * len(names))):
            records = list(islice(self._source.records, len(rows) // len(names)))
            for place, row in enumerate(rows[:: len(names)]):
                own = rows[place * len(names) : (place + 1) * len(names)]
                if [each.evaluator for each in own] != names:
                    raise InputError(
                        f"{journal.folder} is damaged: {own} are not those of a sample"
                    )
                if place == len(records):
                    raise InputError(_word_other(journal, row, self._source, "ends before it"))
                number, record = records[place]
                given = first.id(record, number)
                # What JSON has no form for is not compared.
                if isinstance(given, (str, float, Integral)) and as_stored(given) != row.id:
                    now = f"has {quote(given)} in its place"
                    raise InputError(_word_other(journal, row, self._source, now))
            yield records, rows


@contextmanager
def rare_collection() -> Iterator[None]:
    """Have the garbage collector look no more than once a chunk, which takes a tenth less time."""
    before = gc.get_threshold()
    if before[0]:  # else it is off
        gc.set_threshold(max(before[0], 50_000), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Hand an interrupt on once the block is done."""
    before = signal.getsignal(signal.SIGINT)
    # Python raises interrupts in the main thread alone.
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


def _word_other(journal: Journal, row: Row, source: Source, now: str) -> str:
    return (
        f"{journal.folder} holds a run of other data: it has a sample {quote(row.id)}, and "
        f"{source.name} {now}"
    )
