"""Samples × evaluators → rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from os import PathLike
from typing import Any, Final, NamedTuple

from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.runs.answering import Pending, begin
from llmeval_integrations.runs.chunks import MOST_ROWS, in_chunks
from llmeval_integrations.runs.directory import RunDirectory
from llmeval_integrations.runs.fields import Columns, columns_by_evaluator
from llmeval_integrations.runs.judging import Judging, JudgingOptions, judging
from llmeval_integrations.runs.naming import name_evaluators
from llmeval_integrations.runs.reading import open_source
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.source import Source
from llmeval_integrations.runs.summary import Tally

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
    format: str | None = None,
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
    out: a directory for `results.jsonl` and `summary.json`; without one the rows stay in memory.
        With one, memory use does not grow with the number of samples.
    overwrite: whether a run that is already there may be replaced.
    format: jsonl, json, csv, tsv or parquet, where the file's name does not tell.
    on_progress: is told how far the run has come.

    concurrency: the most samples that are judged, and calls made to one server, at a time.
    cache: the file in which judges' replies are kept, so that the same call is never paid twice;
        it is made where there is none. None keeps none.
    frozen: whether nothing is asked that the cache lacks; such rows are unscored ("not_cached").
    max_cost, max_tokens: US dollars and tokens after which no further call begins; the calls that
        are then under way, at most `concurrency`, end and count. The rows that are left are
        unscored ("budget"). Prices are those of the package genai-prices.

    A row that cannot be read, lacks a column or makes an evaluator raise is an error row; the run
    goes on. Raises InputError for data or columns that cannot be used at all, and
    InvalidOptionError for what is no evaluator, and for `max_cost` where a price is not known.
    """
    named = name_evaluators(evaluators)
    columns = columns_by_evaluator(fields or {}, named)
    directory = None if out is None else RunDirectory(out)
    if directory is not None:
        directory.check(samples, overwrite=overwrite)
    options = JudgingOptions(concurrency, cache, frozen, max_cost, max_tokens)
    with judging(named, options) as judges:
        job = _Job(named, columns, open_source(samples, format), judges, on_progress)
        if directory is None:
            kept: list[Row] = []
            job.run(kept.extend)
            return Run.of(job.samples, job.tallies, kept, None, judges)
        with directory.writer(overwrite=overwrite) as write:
            job.run(write)
    rows = directory.rows(job.samples * len(named))
    run = Run.of(job.samples, job.tallies, rows, directory.path, judges)
    directory.write_summary(run.summary)
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

    def run(self, keep: Callable[[list[Row]], None]) -> None:
        """Evaluate chunk by chunk; `keep` gets the rows sample by sample.

        Where judges are asked, chunks are begun ahead, so that the judges are never idle.
        """
        at_a_time = self._judging.concurrency if self._judging else 0
        begun: deque[_Begun] = deque()
        size = min(at_a_time or MOST_ROWS, MOST_ROWS)
        ahead = 0
        for chunk in in_chunks(self._source, size):
            rows = begin(self._evaluators, self._columns, chunk, self._source, self._judging)
            begun.append(_Begun(len(chunk), rows, self._source.share))
            ahead += len(chunk)
            while begun and ahead > AHEAD * at_a_time:
                ahead -= self._finish(begun.popleft(), keep)
        while begun:
            self._finish(begun.popleft(), keep)

    def _finish(self, chunk: _Begun, keep: Callable[[list[Row]], None]) -> int:
        """Wait for a chunk and keep its rows; gives how many samples it has."""
        columns = [pending.rows() for pending in chunk.pending]
        for tally, rows in zip(self.tallies.values(), columns, strict=True):
            tally.add(rows)
        keep(list(chain.from_iterable(zip(*columns, strict=True))))
        self.samples += chunk.size
        if self._on_progress is not None:
            self._on_progress(self.samples, chunk.share)
        return chunk.size


class _Begun(NamedTuple):
    """A chunk that is being evaluated."""

    size: int
    """How many samples it has."""

    pending: list[Pending]
    """What waits for each evaluator's rows."""

    share: float | None
    """The share of the data that was read with it."""
