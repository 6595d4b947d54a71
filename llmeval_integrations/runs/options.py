"""What a run can be asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, TypeAlias, TypedDict

from llmeval_integrations.core.catalog import load_evaluator
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import free_name, hint, quote
from llmeval_integrations.runs.chunk import EngineMaker
from llmeval_integrations.runs.judges import JudgingOptions

Evaluators: TypeAlias = (
    "str | Evaluator | Mapping[str, str | Evaluator] | Iterable[str | Evaluator]"
)
"""One, a list, or a mapping from names; a text is the name of an evaluator."""

OnProgress = Callable[[int, "float | None"], None]
"""Is told after each chunk how many samples are done, and which share of all where known."""


class JudgeOptions(TypedDict, total=False):
    """How judges are asked; without one, these options say nothing."""

    concurrency: int
    """The most samples that are judged, and calls made to one server, at a time (32)."""

    cache: str | PathLike[str] | None
    """The file in which replies are kept, so that the same call is never paid twice; it is made
    where there is none. None keeps none."""

    frozen: bool
    """Whether nothing is asked that the cache lacks; such rows are unscored ("not_cached")."""

    max_cost: float | None
    """US dollars after which no further call begins; the calls that are then under way, at most
    `concurrency`, end and count. The rows that are left are unscored ("budget"). Prices are those
    of the package genai-prices."""

    max_tokens: int | None
    """The same, in tokens."""

    batch: bool
    """Whether models of OpenAI and Anthropic are asked by their batch interfaces, for half the
    price and within a day; with `out`. The run may be left meanwhile and gone on with by
    `resume`."""


class RunOptions(JudgeOptions, total=False):
    """How `evaluate` reads its data, keeps its rows and, by `JudgeOptions`, asks judges."""

    columns: Mapping[str, str | None] | None
    """Other columns than those called as the fields of a sample, such as
    `{"output": "response", "exact_match.reference": "title"}`: a field of all evaluators or of one,
    and its column; None for a field that no column is."""

    out: str | PathLike[str] | None
    """A directory for the run: `manifest.json`, what was run; `results.jsonl`, the rows as they
    come; `samples.jsonl`, the samples with a row that did not pass, or all where the data is not a
    file; `summary.json`. Without one the rows stay in memory; with one, memory use does not grow
    with the number of samples."""

    overwrite: bool
    """Whether a run that is already there may be replaced."""

    resume: bool
    """Whether a run that was interrupted there, even by a kill, is continued: the same evaluators
    over the same data do what is left. Where there is none, it is begun. Of what can be read once
    (an iterator, standard input) the ids are compared."""

    retry_errors: bool
    """Whether, in a run that is resumed, rows without a score are done again: those of errors and
    those that are unscored. A reply that a cache holds is the same again."""

    format: str | None
    """jsonl, json, csv, tsv or parquet, where the name of the file does not tell."""

    limit: int | None
    """Evaluate the first rows only, so many."""

    sample: int | None
    """Evaluate so many rows, drawn by chance."""

    seed: int
    """Which rows are drawn (0): the same ones for the same seed."""

    workers: int
    """The processes (1) that evaluate 1,000 rows or more where no judge is asked. A script that
    asks for them calls `evaluate` under `if __name__ == "__main__":`, as with Python's
    multiprocessing; evaluators that cannot be pickled stay in this process."""

    engine: EngineMaker | None
    """Who evaluates instead of this machine, as `frameworks.ray.RayEngine`."""

    on_columns: Callable[[dict[str, str], list[str]], None] | None
    """Is told before the first row which columns are the samples' `schema` and `group`, and, in
    words, which are looked for that none of the first rows has."""

    on_progress: OnProgress | None
    """Is told how far the run has come: the samples that are done, and the share of all."""


def check_options(options: RunOptions) -> None:
    """Raise InvalidOptionError or InputError for options that make no sense, or none together."""
    check_names(options, RunOptions)
    out, resume = options.get("out"), options.get("resume")
    if options.get("overwrite") and (resume or out is None):
        other = "resume goes on with it" if resume else "without out=... there is none"
        raise InputError(f"overwrite replaces a run in a directory, and {other}; leave one out")
    if options.get("retry_errors") and not resume:
        raise InputError("retry_errors is for a run that is resumed; say resume=True, too")
    if resume and out is None:
        raise InputError("resume goes on with a run in a directory; say which, with out=...")


def check_names(options: Mapping[str, Any], kind: type) -> None:
    """Raise InvalidOptionError for an option that there is not."""
    for name in options:
        if name not in kind.__annotations__:
            known = hint(name, kind.__annotations__)
            raise InvalidOptionError(f"no option is called {name!r}; {known}")


def read_judging_options(
    options: Mapping[str, Any], replies: str | PathLike[str] | None = None
) -> JudgingOptions:
    """Return the options of judges; `replies` is the file of the run's own replies."""
    own = {name: options[name] for name in JudgeOptions.__annotations__ if name in options}
    return JudgingOptions(**own, replies=None if own.get("frozen") else replies)


def name_evaluators(evaluators: Evaluators) -> dict[str, Evaluator]:
    """Give each evaluator a name of its own.

    One evaluator, a list, or a mapping, whose keys are the names; a text is the name of an
    evaluator in the catalog. In a list an evaluator keeps its class's name; where it comes twice,
    the second is `name_2`. Raises InvalidOptionError for what is not an evaluator, UnknownNameError
    for a name that the catalog lacks.
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
        return load_evaluator(thing)
    call = f"; write {thing.__name__}()" if isinstance(thing, type) else ""
    raise InvalidOptionError(f"expected an Evaluator or its name, got {quote(thing)}{call}")
