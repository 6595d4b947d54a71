"""One pass of evaluators over the data."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice
from numbers import Integral
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs.chunk import begin, samples_of
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.data.source import CHUNK, Record, Source
from llmeval_integrations.runs.directory import RESULTS, RunDirectory
from llmeval_integrations.runs.journal import Journal, Memory
from llmeval_integrations.runs.judging import Judging, add_earlier
from llmeval_integrations.runs.options import OnProgress
from llmeval_integrations.runs.parts import Answer, Helpers
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
        self._tallies = {
            name: Tally(breakdown=evaluator.breakdown()) for name, evaluator in evaluators.items()
        }

    def run(self, helpers: Helpers | None) -> Run:
        """Evaluate everything, and keep the rows in memory; raise Interrupted at an interrupt."""
        memory = Memory()
        try:
            self._evaluate(memory, helpers)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(_incomplete(self._run(memory.done, memory.rows))) from interrupt
        return self._run(memory.done, memory.rows)

    def run_into(
        self,
        directory: RunDirectory,
        journal: Journal,
        helpers: Helpers | None,
        *,
        retry_errors: bool,
    ) -> Run:
        """Evaluate what the journal lacks, and write it; raise Interrupted at an interrupt."""
        _log.info("%d samples are done already", journal.done)
        if retry_errors:
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
        lower = (name for name, each in self._evaluators.items() if each.lower_is_better)
        run = Run.of(samples, self._tallies, rows, judging=self._judging)
        return replace(run, lower_is_better=frozenset(lower))

    def _retry(self, journal: Journal) -> None:
        """Do error and unscored rows again, and leave the others as they are."""
        with journal.rewrite() as new:
            for records, rows in self._done(journal):
                again = [
                    self._evaluate_again(name, records, [*column])
                    for name, column in zip(self._evaluators, rows, strict=True)
                ]
                new.write(samples_of(self._columns, records), again)
                self._count(again)

    def _evaluate_again(self, name: str, records: list[Record], rows: list[Row]) -> list[Row]:
        """Return one evaluator's rows, those without a score evaluated again."""
        places = [place for place, row in enumerate(rows) if row.unscored or row.error is not None]
        if places:
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
        done = journal.rows()
        while rows := list(islice(done, CHUNK)):
            records = list(islice(self._source.records, len(rows)))
            for place, own in enumerate(rows):
                self._check_same(own, records[place] if place < len(records) else None, journal)
            yield records, [*zip(*rows, strict=True)]

    def _check_same(self, rows: Sequence[Row], record: Record | None, journal: Journal) -> None:
        """Raise InputError where the rows that were written are not those of this record."""
        names = [row.evaluator for row in rows]
        if names != [*self._evaluators]:
            raise InputError(
                f"{journal.folder / RESULTS} is damaged: a sample has rows of "
                f"{', '.join(map(str, names))}, and not of {', '.join(self._evaluators)}"
            )
        first = next(iter(self._columns.values()))
        own = None if record is None else first.id(record[1], record[0])
        # What JSON has no form for is not compared.
        is_same = rows[0].id == as_stored(own) or not isinstance(own, (str, float, Integral))
        if record is None or not is_same:
            now = "ends before it" if record is None else f"has {quote(own)} in its place"
            raise InputError(
                f"{journal.folder} holds a run of other data: it has a sample {quote(rows[0].id)}, "
                f"and {self._source.name} {now}"
            )

    def _count(self, rows: Sequence[Sequence[Row]], *, elsewhere: bool = False) -> None:
        """Count in the rows of each evaluator; `elsewhere`, where this process asked no judge."""
        for tally, own in zip(self._tallies.values(), rows, strict=True):
            tally.add(own)
            if self._judging is not None:
                for row in own:
                    self._judging.count(row, elsewhere=elsewhere)

    def _evaluate(self, keeper: Journal | Memory, helpers: Helpers | None) -> None:
        """Evaluate the rest chunk by chunk, and keep the rows sample by sample.

        An interrupt is raised in the main thread alone, so another one keeps and counts: both are
        done, or neither.
        """
        with ThreadPoolExecutor(1) as thread:

            def keep(work: Callable[[], None], share: float | None) -> None:
                future = thread.submit(work)
                try:
                    future.result()
                finally:
                    future.result()
                if self._on_progress is not None:
                    self._on_progress(keeper.done, share)

            if helpers is None:
                self._evaluate_here(keeper, keep)
                return
            for answer in helpers.answers(keeper.done):
                self._source.done = answer.end
                keep(partial(self._keep_answer, keeper, answer), self._source.share)

    def _evaluate_here(
        self,
        keeper: Journal | Memory,
        keep: Callable[[Callable[[], None], float | None], None],
    ) -> None:
        """Evaluate in this process; where judges are asked, chunks are begun ahead."""
        concurrency = self._judging.concurrency if self._judging else 0
        begun: deque[tuple[Any, int, float | None]] = deque()
        ahead = 0

        def finish() -> int:
            pending, count, share = begun.popleft()
            rows = [each.rows() for each in pending]
            samples = {each.name: each.samples for each in pending}

            def work() -> None:
                keeper.write(samples, rows)
                self._count(rows)

            keep(work, share)
            return count

        for chunk in self._source.chunks(min(concurrency or CHUNK, CHUNK)):
            pending = begin(self._evaluators, self._columns, chunk, self._judging)
            begun.append((pending, len(chunk), self._source.share))
            ahead += len(chunk)
            while begun and ahead > _AHEAD * concurrency:
                ahead -= finish()
        while begun:
            finish()

    def _keep_answer(self, keeper: Journal | Memory, answer: Answer) -> None:
        """Keep what another process said, and count it in."""
        keeper.append(answer.size, answer.rows, answer.samples)
        rows = parse_rows(answer.rows)
        width = len(self._evaluators)
        self._count([rows[place::width] for place in range(width)], elsewhere=True)


def _incomplete(run: Run) -> Run:
    return replace(run, summary={**run.summary, "interrupted": True}, incomplete=INTERRUPTED)
