"""Samples × evaluators → rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.runs.columns import (
    Columns,
    absent_columns,
    columns_by_evaluator,
    optional_columns,
    with_ids_of,
)
from llmeval_integrations.runs.directory import RunDirectory
from llmeval_integrations.runs.engine import Engine, Helpers, lines_of
from llmeval_integrations.runs.evaluating import Evaluating, OnProgress
from llmeval_integrations.runs.judging import Judging, JudgingOptions, judging
from llmeval_integrations.runs.manifest import manifest_of
from llmeval_integrations.runs.naming import name_evaluators
from llmeval_integrations.runs.reading.opening import open_source
from llmeval_integrations.runs.reading.selecting import select
from llmeval_integrations.runs.run import Run

if TYPE_CHECKING:
    from llmeval_integrations.runs.parts import Job

_log = logging.getLogger(__name__)


def evaluate(
    samples: Any,
    evaluators: str | Evaluator | Mapping[str, str | Evaluator] | Iterable[str | Evaluator],
    *,
    columns: Mapping[str, str | None] | None = None,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
    resume: bool = False,
    retry_errors: bool = False,
    format: str | None = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    workers: int = 1,
    engine: Engine | None = None,
    on_columns: Callable[[dict[str, str], list[str]], None] | None = None,
    on_progress: OnProgress | None = None,
    concurrency: int = 32,
    cache: str | PathLike[str] | None = None,
    frozen: bool = False,
    max_cost: float | None = None,
    max_tokens: int | None = None,
) -> Run:
    """Evaluate every sample with every evaluator.

    samples: the path of a JSONL, JSON, CSV, TSV or Parquet file, "-" for standard input,
        `hf://OWNER/NAME/SPLIT` for a data set of Hugging Face; a DataFrame of pandas or polars, a
        table of pyarrow; or any iterable of samples and mappings.
        Columns are a sample's fields: output, reference, input, contexts, schema, variables, id,
        group.
    evaluators: one, a list, or a mapping from the names they shall have in this run; a text is the
        name of an evaluator, as `evaluate(rows, "json_fields")`.
    columns: other columns, as `{"output": "response", "exact_match.reference": "title"}`: a field
        of all evaluators or of one, and its column; None for a field that no column is.
    out: a directory for the run: `manifest.json`, what was run; `results.jsonl`, the rows as they
        come; `samples.jsonl`, the samples with a row that did not pass; `summary.json`. Without one
        the rows stay in memory; with one, memory use does not grow with the number of samples.
    overwrite: whether a run that is already there may be replaced.
    resume: whether a run that was interrupted there, even by a kill, is gone on with: the same
        evaluators over the same data do what is left. Where there is none, it is begun. Of what
        can be read once (an iterator, standard input) the ids are compared, and a known length.
    retry_errors: whether, in a run that is resumed, rows without a score are done again: those of
        errors and those that are unscored. A reply that a cache holds is the same again.
    format: jsonl, json, csv, tsv or parquet, where the file's name does not tell.
    limit, sample, seed: evaluate the first rows only, so many; of these so many drawn by chance,
        the same ones for the same seed.
    workers: the processes that evaluate a whole file of JSON Lines where no judge is asked; they
        are started after half a second. A script that asks for them calls `evaluate` under
        `if __name__ == "__main__":`, as with Python's multiprocessing; evaluators that cannot be
        pickled stay in this process.
    engine: who evaluates a file of JSON Lines instead, such as `frameworks.ray.RayEngine`; None is
        this machine.
    on_columns: is told before the first row which columns are the samples' `schema` and `group`,
        and, in words, which are looked for that none of the first rows has.
    on_progress: is told how far the run has come.

    The rest is for judges, and says nothing where none is asked:

    concurrency: the most samples that are judged, and calls made to one server, at a time.
    cache: the file in which judges' replies are kept, so that the same call is never paid twice;
        it is made where there is none. None keeps none.
    frozen: whether nothing is asked that the cache lacks; such rows are unscored ("not_cached").
    max_cost, max_tokens: US dollars and tokens after which no further call begins; the calls that
        are then under way, at most `concurrency`, end and count. The rows that are left are
        unscored ("budget"). Prices are those of the package genai-prices.

    An interrupt (Ctrl-C) writes the summary of what is done and is raised as `Interrupted`, a
    KeyboardInterrupt whose `run` is what was done; while rows of a run that is resumed are counted
    or done again it is a plain KeyboardInterrupt, and the directory is as it was.

    A row that cannot be read, lacks a column or makes an evaluator raise is an error row; the run
    goes on. Raises InputError for data or columns that cannot be used at all, and
    InvalidOptionError for what is not an evaluator, and for `max_cost` where a price is not known.
    """
    named = name_evaluators(evaluators)
    by_evaluator = columns_by_evaluator(columns or {}, named)
    directory = None if out is None else RunDirectory(out)
    options = JudgingOptions(
        concurrency, cache, frozen=frozen, max_cost=max_cost, max_tokens=max_tokens
    )
    _check_workers(workers, engine)
    _check_resuming(out, overwrite=overwrite, resume=resume, retry_errors=retry_errors)
    if directory is not None:
        directory.check(samples, cache, overwrite=overwrite, resume=resume)
        if not frozen:
            options = replace(options, replies=directory.replies)
    with judging(named, options) as judges, ExitStack() as stack:
        source = open_source(samples, format)
        select(source, limit, sample, seed)
        by_evaluator = with_ids_of(source, by_evaluator)
        if on_columns is not None:
            absent = absent_columns(source, by_evaluator, named)
            on_columns(optional_columns(source, by_evaluator), absent)
        if workers > 1 and judges is None and source.lines_of is not None:
            engine = _processes(workers)
        helpers = None
        if engine is not None:
            job = _job(lines_of(source), named, by_evaluator)
            helpers = stack.enter_context(closing(engine(job, options, judges)))
        one_pass = Evaluating(
            named, by_evaluator, source, judging=judges, on_progress=on_progress, workers=helpers
        )
        _log.info("evaluating %s with %s", source.name, ", ".join(named))
        if directory is None:
            return one_pass.run()
        reading = {"format": format, "limit": limit, "sample": sample, "seed": seed}
        ids = next(iter(by_evaluator.values())).ids
        manifest = manifest_of(named, columns, samples, reading, ids=ids)
        with directory.journal(manifest, overwrite=overwrite, resume=resume) as journal:
            run = one_pass.run_into(journal, retry_errors=retry_errors)
    directory.forget_replies()
    _log.info("%d samples are evaluated; written to %s", run.summary["samples"], directory.path)
    return run


def _job(path: str, evaluators: Mapping[str, Evaluator], columns: Mapping[str, Columns]) -> Job:
    """Make the job of a file's lines; its module is imported where there is one."""
    from llmeval_integrations.runs.parts import Job

    return Job(path, evaluators, columns)


def _processes(count: int) -> Engine:
    """Return an engine of processes of this machine, imported where there are any."""

    def engine(job: Job, options: JudgingOptions, judges: Judging | None) -> Helpers:  # noqa: ARG001
        from llmeval_integrations.runs.workers import Workers

        return Workers(count, job)

    return engine


def _check_resuming(out: object, *, overwrite: bool, resume: bool, retry_errors: bool) -> None:
    if overwrite and (resume or out is None):
        other = "resume goes on with it" if resume else "without out=... there is none"
        raise InputError(f"overwrite replaces a run in a directory, and {other}; leave one out")
    if retry_errors and not resume:
        raise InputError("retry_errors is for a run that is resumed; say resume=True, too")
    if resume and out is None:
        raise InputError("resume goes on with a run in a directory; say which, with out=...")


def _check_workers(workers: int, engine: Engine | None) -> None:
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise InvalidOptionError(f"workers={workers!r} is not a whole number above 0")
    if engine is not None and not callable(engine):
        raise InvalidOptionError(
            f"engine={quote(engine)} is not an engine; give an object such as "
            "llmeval_integrations.frameworks.ray.RayEngine, or None for this machine"
        )
    if engine is not None and workers > 1:
        raise InvalidOptionError(
            f"workers={workers} are processes of this machine, not an engine's"
        )
