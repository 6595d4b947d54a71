"""One pass of evaluators over the data."""

from __future__ import annotations

import gc
import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from numbers import Integral
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs.chunk import Pending, begin, samples_of
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.data.source import CHUNK, Record, Source
from llmeval_integrations.runs.directory import RunDirectory
from llmeval_integrations.runs.helpers import Answer, Helpers
from llmeval_integrations.runs.journal import Journal, Memory
from llmeval_integrations.runs.judging import Judging, add_earlier
from llmeval_integrations.runs.options import OnProgress
from llmeval_integrations.runs.origins import Origins
from llmeval_integrations.runs.rows import Row, as_stored, parse_rows
from llmeval_integrations.runs.run import INTERRUPTED, Interrupted, Run, summary_text
from llmeval_integrations.runs.summary import Tally

_log = logging.getLogger(__name__)

_AHEAD: Final = 32
"""How many times more samples than are judged at a time are begun before the first has ended, so
that one that takes long holds up no other."""


class Evaluation:
    """One pass over the data."""

    def __init__(
        self,
        evaluators: Mapping[str, Evaluator],
        columns: Mapping[str, Columns],
        source: Source,
        judging: Judging | None,
        on_progress: OnProgress | None,
    ) -> None:
        self._evaluators = evaluators
        self._columns = columns
        self._source = source
        self._judging = judging
        self._on_progress = on_progress
        self._tallies = {name: Tally(each.breakdown()) for name, each in evaluators.items()}
        self._origins = Origins(evaluators)

    def run(self, helpers: Helpers | None) -> Run:
        """Evaluate everything, and keep the rows in memory; raise Interrupted at an interrupt."""
        memory = Memory()
        try:
            self._evaluate(memory, helpers)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(_incomplete(self._run(memory.done, memory.rows))) from interrupt
        return self._run(memory.done, memory.rows)

    def run_into(
        self, directory: RunDirectory, journal: Journal, helpers: Helpers | None, *, retry: bool
    ) -> Run:
        """Evaluate what the journal lacks, and write it; raise Interrupted at an interrupt."""
        _log.info("%d samples are done already", journal.done)
        if retry:
            self._retry(journal)
        else:
            for _, rows in self._done(journal):
                self._count(rows, elsewhere=True)
        directory.forget_summary()
        interrupt = None
        try:
            self._evaluate(journal, helpers)
        except KeyboardInterrupt as error:
            interrupt = error
        stored = directory.rows(journal.done * len(self._evaluators))
        run = replace(self._run(journal.done, stored), out=directory.path)
        run = run if interrupt is None else _incomplete(run)
        directory.write_summary(summary_text(run.summary))
        if interrupt is not None:
            raise Interrupted(run) from interrupt
        return run

    def _run(self, samples: int, rows: Any) -> Run:
        lower = frozenset(name for name, each in self._evaluators.items() if each.lower_is_better)
        run = Run.of(samples, self._tallies, rows, judging=self._judging)
        self._origins.add_to(run.summary["evaluators"])
        return replace(run, lower_is_better=lower)

    def _retry(self, journal: Journal) -> None:
        """Do error and unscored rows again, and leave the others as they are."""
        with journal.rewrite() as new:
            for records, rows in self._done(journal):
                again = [
                    self._evaluate_again(name, records, [*own])
                    for name, own in zip(self._evaluators, rows, strict=True)
                ]
                new.write(samples_of(self._columns, records), again)
                self._count(again)

    def _evaluate_again(self, name: str, records: list[Record], rows: list[Row]) -> list[Row]:
        """Return one evaluator's rows, those without a score evaluated again."""
        places = [place for place, row in enumerate(rows) if row.unscored or row.error is not None]
        evaluator = self._evaluators[name]
        chunk = [records[place] for place in places]
        [pending] = begin({name: evaluator}, self._columns, chunk, self._judging)
        for place, row in zip(places, pending.rows(), strict=True):
            if isinstance(evaluator, JudgedEvaluator):
                add_earlier(row, rows[place])
            rows[place] = row
        return rows

    def _done(self, journal: Journal) -> Iterator[tuple[list[Record], list[tuple[Row, ...]]]]:
        """Read what is done, chunk by chunk: the records, and the rows of each evaluator.

        Raises InputError where the records are others.
        """
        done, first = journal.rows(), next(iter(self._columns.values()))
        while rows := list(islice(done, CHUNK)):
            records = list(islice(self._source.records, len(rows)))
            for place, own in enumerate(rows):
                if [row.evaluator for row in own] != [*self._evaluators]:
                    raise InputError(
                        f"{journal.folder} is damaged: {own} are not those of a sample"
                    )
                if place == len(records):
                    raise InputError(_word_other(journal, own[0], self._source, "ends before it"))
                number, row = records[place]
                given = first.id(row, number)
                # What JSON has no form for is not compared.
                if isinstance(given, (str, float, Integral)) and as_stored(given) != own[0].id:
                    now = f"has {quote(given)} in its place"
                    raise InputError(_word_other(journal, own[0], self._source, now))
            yield records, [*zip(*rows, strict=True)]

    def _count(self, rows: Sequence[Sequence[Row]], *, elsewhere: bool = False) -> None:
        """Count in the rows of each evaluator; `elsewhere`, where this process asked no judge."""
        self._origins.add(rows)
        for tally, own in zip(self._tallies.values(), rows, strict=True):
            tally.add(own)
            if self._judging is not None:
                for row in own:
                    self._judging.count(row, elsewhere=elsewhere)

    def _evaluate(self, keeper: Journal | Memory, helpers: Helpers | None) -> None:
        """Evaluate the rest, and keep the rows sample by sample.

        Where judges or helpers are asked, chunks are begun ahead. An interrupt is raised in the
        main thread alone, so another one keeps and counts: both are done, or neither.
        """
        judged = self._judging.concurrency if self._judging else 0
        size = min(judged or CHUNK, CHUNK)
        ahead = helpers.ahead if helpers else _AHEAD * judged // size
        begun: deque[tuple[Any, float | None]] = deque()

        def finish() -> None:
            asked, share = begun.popleft()
            if helpers is None:
                work = partial(self._keep, keeper, asked, [each.rows() for each in asked])
            else:
                work = partial(self._keep_answer, keeper, helpers.wait(asked))
            future = thread.submit(work)
            try:
                future.result()
            finally:
                future.result()
            if self._on_progress is not None:
                self._on_progress(keeper.done, share)

        with ThreadPoolExecutor(1) as thread, _rare_collection():
            for chunk in self._source.chunks(size):
                asked = helpers.ask(chunk) if helpers else self._begin(chunk)
                begun.append((asked, self._source.share))
                while len(begun) > ahead:
                    finish()
            while begun:
                finish()

    def _begin(self, chunk: list[Record]) -> list[Pending]:
        return begin(self._evaluators, self._columns, chunk, self._judging)

    def _keep(
        self, keeper: Journal | Memory, pending: list[Pending], rows: list[list[Row]]
    ) -> None:
        """Keep the rows of each evaluator, and count them in."""
        keeper.write({each.name: each.samples for each in pending}, rows)
        self._count(rows)

    def _keep_answer(self, keeper: Journal | Memory, answer: Answer) -> None:
        """Keep what another process said, and count it in."""
        rows = parse_rows(answer.rows)
        if isinstance(keeper, Journal):
            keeper.append(answer.size, answer.rows, answer.samples)
        else:
            keeper.rows += rows
            keeper.done += answer.size
        width = len(self._evaluators)
        self._count([rows[place::width] for place in range(width)], elsewhere=True)


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Have the garbage collector look no more than once a chunk, which takes a tenth less time."""
    before = gc.get_threshold()
    if before[0]:  # else it is off
        gc.set_threshold(max(before[0], 50_000), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _word_other(journal: Journal, row: Row, source: Source, now: str) -> str:
    return (
        f"{journal.folder} holds a run of other data: it has a sample {quote(row.id)}, and "
        f"{source.name} {now}"
    )


def _incomplete(run: Run) -> Run:
    return replace(run, summary={**run.summary, "interrupted": True}, incomplete=INTERRUPTED)
