"""Evaluates samples with evaluators."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.runs.chunk import LocalEngine, samples_of, start_chunk, write_samples
from llmeval_integrations.runs.columns import columns_by_evaluator, describe_columns, ids_of
from llmeval_integrations.runs.data.source import CHUNK, Record, Source, open_source
from llmeval_integrations.runs.directory import RunDirectory
from llmeval_integrations.runs.engine import Answers, Engine, Job, collect_rarely, finish_in_order
from llmeval_integrations.runs.journal import Journal, Memory
from llmeval_integrations.runs.judges import Judging, add_earlier, open_judges
from llmeval_integrations.runs.manifest import describe_evaluators, manifest_of
from llmeval_integrations.runs.options import (
    Evaluators,
    OnProgress,
    RunOptions,
    check_options,
    name_evaluators,
)
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Interrupted, Run
from llmeval_integrations.runs.summary import Origins, Tally

if TYPE_CHECKING:
    from typing_extensions import Unpack

_log = logging.getLogger(__name__)

_FEW: Final = 1_000
"""With fewer rows, this process is done before another one has started."""


def evaluate(samples: Any, evaluators: Evaluators, **options: Unpack[RunOptions]) -> Run:
    """Evaluate every sample with every evaluator.

    A row is an error row if it cannot be read, if it lacks a column, or if an evaluator raises an
    error. The run goes on.

    Example:
        >>> from llmeval_integrations import evaluate
        >>> run = evaluate([{"output": "{}"}, {"output": "{"}], "json_validity")
        >>> run.summary["evaluators"]["json_validity"]["pass_rate"]
        0.5

    Args:
        samples: The path of a JSONL, JSON, CSV, TSV or Parquet file, "-" for standard input, or
            `hf://OWNER/NAME/SPLIT` for a data set of Hugging Face. Also a DataFrame of pandas or
            polars, a table of pyarrow, or any iterable of samples and mappings. Columns are the
            fields of a `Sample`, such as output, reference, input, schema, id and group.
        evaluators: One evaluator, a list, or a mapping from names in this run. An evaluator may be
            given by its name.
        options: Those of `RunOptions` (columns, the directory of the run, the part of the data)
            and of `JudgeOptions` (cache, budget, batches).

    Raises:
        InputError: If the data, the columns or the options cannot be used.
        InvalidOptionError: If something is not an evaluator, or if `max_cost` needs a price that is
            not known.
        Interrupted: At an interrupt (Ctrl-C). It is a KeyboardInterrupt; its `run` has the rows
            until then.
    """
    check_options(options)
    with ExitStack() as stack:
        run = _evaluate(samples, name_evaluators(evaluators), options, stack)
    if run.out is not None:
        RunDirectory(run.out).forget_replies()
        _log.info("%d samples are evaluated; written to %s", run.summary["samples"], run.out)
    return run


def _evaluate(
    samples: Any, evaluators: Mapping[str, Evaluator], options: RunOptions, stack: ExitStack
) -> Run:
    columns = columns_by_evaluator(options.get("columns") or {}, evaluators)
    out, resume = options.get("out"), options.get("resume", False)
    directory = None if out is None else RunDirectory(out)
    if directory is not None:
        overwrite = options.get("overwrite", False)
        directory.check(samples, options.get("cache"), overwrite=overwrite, resume=resume)
    replies = None if directory is None else directory.replies
    judges = stack.enter_context(open_judges(evaluators, options, replies))
    source = open_source(samples, options.get("format"))
    source.select(options.get("limit"), options.get("sample"), options.get("seed", 0))
    if on_columns := options.get("on_columns"):
        on_columns(*describe_columns(source, columns, evaluators))
    job = Job(evaluators, columns)
    if directory is not None:
        manifest = manifest_of(evaluators, samples, options, ids=ids_of(source, columns))
        # Other data than a file cannot be read again.
        job = job._replace(keep="failing" if manifest["data"]["kind"] == "file" else "all")
    engine = stack.enter_context(closing(_engine(job, source, options, judges)))
    evaluation = Evaluation(job, source, judges, engine, options.get("on_progress"))
    _log.info("evaluating %s with %s", source.name, ", ".join(evaluators))
    if directory is None:
        return evaluation.run(Memory(len(evaluators)))
    journal = stack.enter_context(directory.journal(manifest, resume=resume))
    _log.info("%d samples are done already", journal.done)
    if judges is not None:
        judges.charge(journal.rows)
    if options.get("retry_errors"):
        directory.forget_summary()  # before its rows change
        evaluation.retry(journal)
    else:
        evaluation.count(journal)
        directory.forget_summary()
    return evaluation.run(journal, directory)


def _engine(job: Job, source: Source, options: RunOptions, judges: Judging | None) -> Engine:
    """Return the engine: a cluster, processes of this machine, or this process.

    A run with a judge stays in this process, because it mostly waits.
    """
    if judges is not None:
        return LocalEngine(job, judges)
    make, workers = options.get("engine"), options.get("workers", 1)
    if make is not None:
        return make(job)
    if workers > 1 and len(source.peek(_FEW)) == _FEW:
        from llmeval_integrations.runs.workers import start_workers

        if started := start_workers(workers, job):
            return started
    return LocalEngine(job, None)


@dataclass
class Evaluation:
    """One pass over the data."""

    job: Job
    source: Source
    judging: Judging | None
    engine: Engine
    on_progress: OnProgress | None

    def __post_init__(self) -> None:
        evaluators = self.job.evaluators
        self._tallies = {name: Tally(each.breakdown()) for name, each in evaluators.items()}
        self._origins = Origins(self._tallies)

    def count(self, journal: Journal) -> None:
        """Count the rows that are done."""
        for _, rows in self._done(journal):
            self._count(rows)

    def retry(self, journal: Journal) -> None:
        """Evaluate error rows and unscored rows again, and leave the others as they are.

        Chunks are started ahead, as in a first pass, so one batch asks about all of them.
        """
        started = (self._start_again(*done) for done in self._done(journal))
        journal.replace_rows(finish_in_order(started, self.engine.ahead))

    def run(self, keeper: Journal | Memory, directory: RunDirectory | None = None) -> Run:
        """Evaluate the samples that the keeper lacks; raise Interrupted at an interrupt."""
        interrupt = None
        try:
            self._evaluate(keeper)
        except KeyboardInterrupt as error:
            interrupt = error
        run = Run.of(
            keeper.done,
            self._tallies,
            keeper.rows,
            judging=self.judging,
            out=None if directory is None else directory.path,
            evaluators=describe_evaluators(self.job.evaluators),
        )
        self._origins.add_to(run.summary["evaluators"])
        if interrupt is not None:
            run.summary["incomplete"] = "it was interrupted"
        if directory is not None:
            directory.write_summary(run.summary)
        if interrupt is not None:
            raise Interrupted(run) from interrupt
        return run

    def _evaluate(self, keeper: Journal | Memory) -> None:
        """Evaluate the rest, and keep the rows sample by sample."""

        def start(chunk: list[Record]) -> Callable[[], tuple[Answers, float | None]]:
            wait, share = self.engine.start(chunk), self.source.share
            return lambda: (wait(), share)

        started = map(start, self.source.chunks(self.judging.chunk if self.judging else CHUNK))
        with collect_rarely():
            for answers, share in finish_in_order(started, self.engine.ahead):
                with _hold_interrupts():  # both are done, or neither
                    keeper.append(answers)
                    self._count(answers.rows)
                if self.on_progress is not None:
                    self.on_progress(keeper.done, share)

    def _count(self, rows: list[Row]) -> None:
        self._origins.add(rows)
        width = len(self._tallies)
        for place, tally in enumerate(self._tallies.values()):
            tally.add(rows[place::width])
        if self.judging is not None:
            self.judging.count(rows)

    def _start_again(self, records: list[Record], rows: list[Row]) -> Callable[[], list[Row]]:
        """Start to evaluate the rows of a chunk that have no score; its rows are counted then."""
        names, waits = [*self._tallies], []
        for first, name in enumerate(names):
            own = range(first, len(rows), len(names))
            places = [place for place in own if rows[place].unscored or rows[place].error]
            job = Job({name: self.job.evaluators[name]}, {name: self.job.columns[name]})
            again = [records[place // len(names)] for place in places]
            waits.append((places, start_chunk(job, again, self.judging)))

        def finish() -> list[Row]:
            for places, wait in waits:
                for place, row in zip(places, wait().rows, strict=True):
                    add_earlier(row, rows[place])
                    rows[place] = row
            self._count(rows)
            return rows

        return finish

    def _done(self, journal: Journal) -> Iterator[tuple[list[Record], list[Row]]]:
        """Read the records and rows that are done, chunk by chunk.

        Raises InputError if a sample is another one than the run has kept. Of a file, the manifest
        has a digest.
        """
        width = len(self._tallies)
        stored, kept = islice(journal.rows, journal.done * width), journal.samples()
        while rows := list(islice(stored, CHUNK * width)):
            records = list(islice(self.source.records, len(rows) // width))
            if self.job.keep == "all":
                samples = samples_of(self.job.columns, records)
                given = write_samples(self.job, samples, rows[: len(records) * width])
                before = islice(kept, len(rows) // width)
                for row, now, line in zip_longest(rows[::width], given, before):
                    if now is None or now[1] != line:
                        raise InputError(
                            f"{journal.folder} holds a run of other data: its sample "
                            f"{quote(row.id)} is another one in {self.source.name}"
                        )
            yield records, rows


@contextmanager
def _hold_interrupts() -> Iterator[None]:
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
