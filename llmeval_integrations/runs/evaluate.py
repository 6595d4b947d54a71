"""Evaluates samples with evaluators."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.runs.chunk import Engine, Here, Job
from llmeval_integrations.runs.columns import columns_by_evaluator, describe_columns, ids_of
from llmeval_integrations.runs.data.source import Source, open_source
from llmeval_integrations.runs.directory import RunDirectory
from llmeval_integrations.runs.evaluation import Evaluation
from llmeval_integrations.runs.judges import Judging, open_judges
from llmeval_integrations.runs.manifest import manifest_of
from llmeval_integrations.runs.options import (
    Evaluators,
    RunOptions,
    check_options,
    name_evaluators,
    read_judging_options,
)
from llmeval_integrations.runs.run import Run

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
        samples: The path of a JSONL, JSON, CSV, TSV or Parquet file, "-" for standard input,
            `hf://OWNER/NAME/SPLIT` for a data set of Hugging Face; a DataFrame of pandas or polars,
            a table of pyarrow; or any iterable of samples and mappings. Columns are the fields of a
            sample: output, reference, input, contexts, schema, variables, id, group.
        evaluators: One evaluator, a list, or a mapping from names in this run. An evaluator may be
            given by its name.
        options: See `RunOptions`: columns, the directory of the run, the part of the data, and how
            judges are asked.

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
    asking = read_judging_options(options, None if directory is None else directory.replies)
    if directory is not None:
        overwrite = options.get("overwrite", False)
        directory.check(samples, asking.cache, overwrite=overwrite, resume=resume)
    judges = stack.enter_context(open_judges(evaluators, asking))
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
        return evaluation.run()
    journal = stack.enter_context(directory.journal(manifest, resume=resume))
    return evaluation.run_into(directory, journal, retry=options.get("retry_errors", False))


def _engine(job: Job, source: Source, options: RunOptions, judges: Judging | None) -> Engine:
    """Return the engine: a cluster, processes of this machine, or this process."""
    make, workers = options.get("engine"), options.get("workers", 1)
    if make is not None:
        return make(job, read_judging_options(options), judges)
    if workers > 1 and judges is None and len(source.peek(_FEW)) == _FEW:
        from llmeval_integrations.runs.workers import start_workers

        if started := start_workers(workers, job):
            return started
    return Here(job, judges)
