"""Samples × evaluators → rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from os import PathLike
from typing import Any, Final, NamedTuple

from llmeval_integrations.errors import InputError
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.runs.answering import Pending, begin
from llmeval_integrations.runs.chunks import MOST_ROWS, in_chunks
from llmeval_integrations.runs.directory import Journal, RunDirectory
from llmeval_integrations.runs.fields import FIELDS, Columns, columns_by_evaluator
from llmeval_integrations.runs.judging import Judging, JudgingOptions, judging
from llmeval_integrations.runs.manifest import manifest_of
from llmeval_integrations.runs.naming import name_evaluators
from llmeval_integrations.runs.reading import open_source
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run, summary_text
from llmeval_integrations.runs.selecting import select
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


def evaluate(
    samples: Any,
    evaluators: Mapping[str, Evaluator] | Iterable[Evaluator],
    *,
    fields: Mapping[str, str] | None = None,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    format: str | None = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
    concurrency: int = 32,
    cache: str | PathLike[str] | None = None,
    frozen: bool = False,
    max_cost: float | None = None,
    max_tokens: int | None = None,
) -> Run:
    """Evaluate every sample with every evaluator.

    samples: the path of a JSONL, JSON, CSV, TSV or Parquet file, "-" for standard input; a
        DataFrame of pandas or polars, a table of pyarrow; or any iterable of samples and mappings.
        Columns are a sample's fields: output, reference, input, contexts, variables, id.
    evaluators: a list, or a mapping from the names they shall have in this run.
    fields: other columns, as `{"output": "response", "json_schema.reference": "schema"}`: a field
        of all evaluators or of one, and its column.
    out: a directory for the run: `manifest.json`, what was run; `results.jsonl`, the rows as they
        come; `samples.jsonl`, the samples with a row that did not pass; `summary.json`. Without one
        the rows stay in memory; with one, memory use does not grow with the number of samples.
    overwrite: whether a run that is already there may be replaced.
    resume: whether a run that was interrupted there, even by a kill, is gone on with: the same
        evaluators over the same data do what is left. Where there is none, it is begun.
    format: jsonl, json, csv, tsv or parquet, where the file's name does not tell.
    limit, sample, seed: evaluate the first rows only, so many; of these so many drawn by chance,
        the same ones for the same seed.
    on_progress: is told how far the run has come.

    concurrency: the most samples that are judged, and calls made to one server, at a time.
    cache: the file in which judges' replies are kept, so that the same call is never paid twice;
        it is made where there is none. None keeps none.
    frozen: whether nothing is asked that the cache lacks; such rows are unscored ("not_cached").
    max_cost, max_tokens: US dollars and tokens after which no further call begins; the calls that
        are then under way, at most `concurrency`, end and count. The rows that are left are
        unscored ("budget"). Prices are those of the package genai-prices.

    An interrupt (Ctrl-C) writes the summary of what is done before it is raised again.

    A row that cannot be read, lacks a column or makes an evaluator raise is an error row; the run
    goes on. Raises InputError for data or columns that cannot be used at all, and
    InvalidOptionError for what is no evaluator, and for `max_cost` where a price is not known.
    """
    named = name_evaluators(evaluators)
    columns = columns_by_evaluator(fields or {}, named)
    directory = None if out is None else RunDirectory(out)
    options = JudgingOptions(
        concurrency, cache, frozen=frozen, max_cost=max_cost, max_tokens=max_tokens
    )
    if directory is None:
        if resume:
            raise InputError("resume goes on with a run in a directory; say which, with out=...")
    else:
        directory.check(samples, overwrite=overwrite, resume=resume)
        if not frozen:
            options = replace(options, replies=directory.replies)
    with judging(named, options) as judges:
        source = open_source(samples, format)
        select(source, limit, sample, seed)
        job = _Job(named, columns, source, judges, on_progress)
        if directory is None:
            return job.run()
        part = {"limit": limit, "sample": sample, "seed": seed}
        manifest = manifest_of(named, fields, samples, {"format": format, **part})
        with directory.journal(manifest, overwrite=overwrite, resume=resume) as journal:
            run = job.run_into(journal)
    directory.forget_replies()
    return run


class _Job:
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

    def run_into(self, journal: Journal) -> Run:
        """Evaluate what the journal lacks, and write it there."""
        directory = journal.directory
        self._take_over(journal)
        try:
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
        """Count in what is done, and read over its samples; raise InputError for other ones."""
        given = self._source.records
        names = list(self._evaluators)
        for rows in journal.rows():
            number, record = next(given, (0, None))
            here = None if record is None else self._columns[names[0]].id(record, number)
            if [row.evaluator for row in rows] != names or not _same_id(rows[0].id, here):
                raise InputError(
                    f"{journal.directory.path} holds a run of other data: there is a sample "
                    f"{shown(rows[0].id)} where there now is {shown(here)}"
                )
            for row in rows:
                self._count(row, before=True)
            self.samples += 1

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
