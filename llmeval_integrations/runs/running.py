"""Samples × evaluators → rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from os import PathLike
from typing import Any

from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.runs.answering import answer
from llmeval_integrations.runs.chunks import in_chunks
from llmeval_integrations.runs.directory import RunDirectory
from llmeval_integrations.runs.fields import Columns, columns_by_evaluator
from llmeval_integrations.runs.naming import name_evaluators
from llmeval_integrations.runs.reading import open_source
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.source import Source
from llmeval_integrations.runs.summary import Tally

OnProgress = Callable[[int, "float | None"], None]
"""Is told after each chunk how many samples are done, and which share of all where known."""


def evaluate(
    samples: Any,
    evaluators: Mapping[str, Evaluator] | Iterable[Evaluator],
    *,
    fields: Mapping[str, str] | None = None,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
    format: str | None = None,
    on_progress: OnProgress | None = None,
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

    A row that cannot be read, lacks a column or makes an evaluator raise is an error row; the run
    goes on. Raises InputError for data or columns that cannot be used at all, and
    InvalidOptionError for what is no evaluator.
    """
    named = name_evaluators(evaluators)
    columns = columns_by_evaluator(fields or {}, named)
    directory = None if out is None else RunDirectory(out)
    if directory is not None:
        directory.check(samples, overwrite=overwrite)
    job = _Job(named, columns, open_source(samples, format), on_progress)
    if directory is None:
        kept: list[Row] = []
        job.run(kept.extend)
        return Run.of(job.samples, job.tallies, kept, None)
    with directory.writer(overwrite=overwrite) as write:
        job.run(write)
    rows = directory.rows(job.samples * len(named))
    run = Run.of(job.samples, job.tallies, rows, directory.path)
    directory.write_summary(run.summary)
    return run


class _Job:
    """One pass over the data."""

    def __init__(
        self,
        evaluators: Mapping[str, Evaluator],
        columns: Mapping[str, Columns],
        source: Source,
        on_progress: OnProgress | None,
    ) -> None:
        self.samples = 0
        self.tallies = {name: Tally() for name in evaluators}
        self._evaluators = evaluators
        self._columns = columns
        self._source = source
        self._on_progress = on_progress

    def run(self, keep: Callable[[list[Row]], None]) -> None:
        """Evaluate chunk by chunk; `keep` gets the rows sample by sample."""
        for chunk in in_chunks(self._source):
            columns = list(answer(self._evaluators, self._columns, chunk, self._source))
            for tally, rows in zip(self.tallies.values(), columns, strict=True):
                tally.add(rows)
            keep(list(chain.from_iterable(zip(*columns, strict=True))))
            self.samples += len(chunk)
            if self._on_progress is not None:
                self._on_progress(self.samples, self._source.share)
