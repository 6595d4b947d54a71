"""The options of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, TypeAlias, TypedDict

from llmeval_integrations.core import catalog
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_count
from llmeval_integrations.core.quote import free_name, quote
from llmeval_integrations.runs.engine import EngineMaker

Evaluators: TypeAlias = (
    "str | Evaluator | Mapping[str, str | Evaluator] | Iterable[str | Evaluator]"
)
"""One evaluator, a list, or a mapping from names; a text is the name of an evaluator."""

OnProgress = Callable[[int, "float | None"], None]
"""Is called after each chunk with the number of samples that are done, and their share if known."""


class JudgeOptions(TypedDict, total=False):
    """How judges are asked. Without a judge, these options have no effect."""

    concurrency: int
    """The largest number of samples and of calls to one server at a time (32)."""

    cache: str | PathLike[str] | None
    """The file that keeps replies, so that no call is paid twice. It is created if missing."""

    frozen: bool
    """Whether only the cache answers. Rows that it lacks are unscored ("not_cached")."""

    max_cost: float | None
    """The US dollars after which no further call begins. Calls under way, at most `concurrency`,
    end and count. The other rows are unscored ("budget"). Prices are those of the package
    genai-prices."""

    max_tokens: int | None
    """The number of tokens after which no further call begins."""

    batch: bool
    """Whether OpenAI and Anthropic are asked in batches, for half the price and within a day. It
    needs `out`. The run may be stopped meanwhile, and resumed."""


class RunOptions(JudgeOptions, total=False):
    """How `evaluate` reads its data, keeps its rows and, by `JudgeOptions`, asks judges."""

    columns: Mapping[str, str | None] | None
    """The columns of fields of all evaluators or of one, if the names differ, such as
    `{"output": "response", "exact_match.reference": "title"}`; None for no column."""

    out: str | PathLike[str] | None
    """A directory for the run: `manifest.json`, its configuration; `results.jsonl`, the rows;
    `samples.jsonl`, the samples that did not pass, or all if the data is not a file;
    `summary.json`. With it, the use of memory does not grow with the number of samples."""

    overwrite: bool
    """Whether a run in this directory may be replaced."""

    resume: bool
    """Whether an interrupted or killed run in this directory is continued, with the same evaluators
    and data. If there is none, it is begun."""

    retry_errors: bool
    """Whether a resumed run evaluates error rows and unscored rows again, in this process. A reply
    in a cache stays the same. An interrupt leaves all rows as they were."""

    format: str | None
    """jsonl, json, csv, tsv or parquet, if the suffix of the file is another one."""

    limit: int | None
    """The number of first rows to evaluate."""

    sample: int | None
    """The number of random rows to evaluate."""

    seed: int
    """The seed of the random rows (0)."""

    workers: int
    """The number of processes (1) for 1,000 rows or more without a judge. As with Python's
    multiprocessing, a script calls `evaluate` under `if __name__ == "__main__":`. Evaluators that
    cannot be pickled, or that a notebook defines, and rows that cannot be pickled stay in this
    process."""

    engine: EngineMaker | None
    """Evaluates elsewhere, such as `frameworks.ray.RayEngine`, unless there is a judge."""

    on_columns: Callable[[dict[str, str], list[str]], None] | None
    """Is called before the first row with the columns of `schema` and `group`, and with warnings of
    columns that none of the first rows has."""

    on_progress: OnProgress | None
    """Is called with the number of samples that are done, and their share."""


def check_options(options: RunOptions) -> None:
    """Raise InvalidOptionError or InputError for unknown options, or for a wrong combination."""
    catalog.check_options("evaluate", options, RunOptions.__annotations__)
    check_count("workers", options.get("workers", 1))
    columns, engine = options.get("columns"), options.get("engine")
    if columns is not None and not isinstance(columns, Mapping):
        raise InvalidOptionError(
            f"columns={quote(columns)} is not a mapping from fields to columns"
        )
    if engine is not None and not callable(engine):
        raise InvalidOptionError(
            f"engine={quote(engine)} is not a class of engines, such as RayEngine"
        )
    out, resume = options.get("out"), options.get("resume")
    if options.get("overwrite") and resume:
        raise InputError("overwrite replaces a run, and resume continues it; leave one out")
    if options.get("retry_errors") and not resume:
        raise InputError("retry_errors is for a run that is resumed; set resume, too")
    for name in ("overwrite", "resume"):
        if options.get(name) and out is None:
            raise InputError(f"{name} is for a run in a directory; set out, too")


def name_evaluators(evaluators: Evaluators) -> dict[str, Evaluator]:
    """Return the evaluators by name.

    The keys of a mapping are the names. In a list, an evaluator has the name of its class, and a
    second one is `name_2`. Raises InvalidOptionError if something is not an evaluator, and
    UnknownNameError for a name that is not in the catalog.
    """
    if isinstance(evaluators, (str, Evaluator)):
        evaluators = [evaluators]
    if isinstance(evaluators, Mapping):
        named = {name: _load(each) for name, each in evaluators.items()}
    else:
        named = {}
        for each in map(_load, evaluators if isinstance(evaluators, Iterable) else [evaluators]):
            named[free_name(each.name, named)] = each
    if not named:
        raise InvalidOptionError("a run needs at least one evaluator")
    return named


def _load(thing: Any) -> Evaluator:
    if isinstance(thing, Evaluator):
        return thing
    if isinstance(thing, str):
        return catalog.load_evaluator(thing)
    call = f"; write {thing.__name__}()" if isinstance(thing, type) else ""
    raise InvalidOptionError(f"expected an Evaluator or its name, got {quote(thing)}{call}")
