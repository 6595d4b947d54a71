"""`llmeval run`: evaluate a file of outputs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from llmeval_integrations.cli.commands.parts.configuration import (
    SUFFIXES,
    Configuration,
    read_configuration,
)
from llmeval_integrations.cli.commands.parts.default_cache import default_cache
from llmeval_integrations.cli.commands.parts.specification import build, parse_specification
from llmeval_integrations.cli.commands.parts.thresholds import (
    check_thresholds,
    missed,
    parse_bound,
    parse_threshold,
    too_many_errors,
)
from llmeval_integrations.cli.commands.terminal import (
    MISSED,
    OK,
    WRONG_CALL,
    open_page,
    put,
    put_view,
    say,
)
from llmeval_integrations.cli.commands.warning import has_only_errors, warn_of
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs import Interrupted, Run, evaluate
from llmeval_integrations.runs.columns import parse_column
from llmeval_integrations.runs.directory import RunDirectory
from llmeval_integrations.runs.engine import Engine
from llmeval_integrations.runs.evaluating import OnProgress
from llmeval_integrations.runs.judging import JudgingOptions
from llmeval_integrations.runs.numbers import counted
from llmeval_integrations.runs.reading.opening import FORMATS
from llmeval_integrations.runs.run import summary_text

Value = TypeVar("Value")

ENGINES: Final = ("local", "ray")
"""Where samples are evaluated."""

_OF_JUDGES: Final = ("concurrency", "frozen", "max_cost", "max_tokens")

HELP: Final = "evaluate a file of outputs"
USAGE: Final = "llmeval run DATA -e EVALUATOR [-e EVALUATOR ...] [options]"
DESCRIPTION: Final = """\
Evaluate every row of the data with every evaluator. Columns are called like a sample's fields:
output, reference, input, contexts, schema, variables, id, group; --column names others. An option
is JSON, else text; @FILE is what is in the file. A YAML file, or [tool.llmeval] in a
pyproject.toml, holds data, evaluators, columns and options.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the data, the evaluators and the options of a run."""
    parser.add_argument("data", help="JSONL, JSON, CSV, TSV, Parquet, YAML or TOML; - for stdin")
    _add_what_is_evaluated(parser.add_argument_group("what is evaluated"))
    _add_where_it_is_kept(parser.add_argument_group("where it is kept"))
    _add_gates(parser.add_argument_group("when it fails"))
    _add_judges(parser.add_argument_group("judges"))
    _add_how(parser.add_argument_group("how"))


def _add_what_is_evaluated(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "-e",
        "--evaluator",
        action="append",
        metavar="[NAME=]EVALUATOR[:OPTION=VALUE,...]",
        help="an evaluator; give one -e for each",
    )
    add(
        "--column",
        action="append",
        metavar="[EVALUATOR.]FIELD=COLUMN",
        help="a field's or a variables.NAME's column",
    )
    add("--group", metavar="COLUMN", help="what repeats of a task share; variables.NAME")
    add("--format", choices=FORMATS, metavar="NAME", help=f"of the data: {', '.join(FORMATS)}")
    add("--limit", type=int, metavar="N", help="evaluate the first rows only")
    add("--sample", type=int, metavar="N", help="evaluate so many rows, drawn by chance")
    add("--seed", type=int, metavar="S", help="which rows are drawn (0)")


def _add_where_it_is_kept(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--out", metavar="DIR", help="write results.jsonl and summary.json there")
    add("--overwrite", action="store_true", default=None, help="replace a run that is there")
    add("--resume", action="store_true", default=None, help="go on with a run that is there")
    add("--retry-errors", action="store_true", default=None, help="with --resume, errors as well")
    add("--open", action="store_true", help="with --out, open the report in a browser")


def _add_gates(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--fail-under",
        action="append",
        metavar="NAME=RATE",
        help="exit 1 below; NAME.mean, NAME.micro, NAME/FIELD",
    )
    group.add_argument(
        "--max-errors", metavar="N|P%", help="exit 1 where more rows of an evaluator are errors"
    )


def _add_judges(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--concurrency", type=int, metavar="N", help="judge so many rows at a time (32)")
    cache = group.add_mutually_exclusive_group()
    cache.add_argument(
        "--cache", metavar="FILE", help="keep judges' replies there, not in the user's folder"
    )
    cache.add_argument(
        "--no-cache", action="store_const", const=False, dest="cache", help="keep no replies"
    )
    add("--frozen", action="store_true", default=None, help="ask nothing that the cache lacks")
    add("--max-cost", type=float, metavar="DOLLARS", help="ask judges no more beyond this")
    add("--max-tokens", type=int, metavar="N", help="the same, in tokens")
    add("--dry-run", action="store_true", help="say what would be done, asked and paid")


def _add_how(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--workers", type=int, metavar="N", help="use so many processes, after half a second (1)")
    add("--engine", choices=ENGINES, help="where JSON Lines are evaluated: here, or on a cluster")
    add("-q", "--quiet", action="store_true", help="print no table and no progress")
    add("--json", action="store_true", help="print the summary as JSON, not as a table")


def run(call: argparse.Namespace) -> int:
    """Evaluate, show the summary, and say by the exit code what was missed."""
    configuration = _configuration(call)
    if configuration.data is None:
        raise InputError(f"{call.data} does not say which data")
    if not configuration.evaluators:
        raise InputError("no evaluator is given; add -e NAME (llmeval list shows which there are)")
    evaluators = build(configuration.evaluators)
    thresholds = configuration.fail_under or {}
    most_errors = parse_bound(
        "100%" if configuration.max_errors is None else configuration.max_errors, "max errors"
    )
    check_thresholds(thresholds, evaluators)
    JudgingOptions(**_judging(configuration))  # which says what is wrong with them
    _refuse_what_would_be_ignored(configuration, dry_run=call.dry_run, opens=call.open)
    _refuse_what_is_for_judges(call, evaluators)
    if call.dry_run:
        return _show_plan(configuration, evaluators, call)
    _refuse_a_run_that_is_there(configuration)
    with _told_how_to_go_on(configuration, call), _progress(quiet=call.quiet) as on_progress:
        run = evaluate(
            configuration.data,
            evaluators,
            columns=configuration.columns,
            out=configuration.out,
            overwrite=bool(configuration.overwrite),
            resume=bool(configuration.resume),
            retry_errors=bool(configuration.retry_errors),
            format=configuration.format,
            limit=configuration.limit,
            sample=configuration.sample,
            seed=configuration.seed or 0,
            workers=1 if configuration.workers is None else configuration.workers,
            engine=_engine(configuration.engine),
            on_columns=None if call.quiet else _say_columns,
            on_progress=on_progress,
            **_judging(configuration),
        )
    _show(run, call)
    warn_of(run, evaluators, cached=_cache(configuration) is not None)
    not_asked = [*_not_asked(run, frozen=bool(configuration.frozen))]
    misses = [*missed(run, thresholds), *too_many_errors(run, most_errors), *not_asked]
    for miss in misses:
        say(f"llmeval run: {miss}")
    figures = run.summary["evaluators"].values()
    if any(map(has_only_errors, figures)):
        return WRONG_CALL  # a column that no row has, or the like: nothing was evaluated
    if all(each["n"] == each["unscored"] + each["errors"] for each in figures):
        say("llmeval run: no row has a result, so nothing was evaluated")
        return WRONG_CALL
    if configuration.frozen and not_asked:
        return WRONG_CALL
    return MISSED if misses else OK


def _show_plan(
    configuration: Configuration, evaluators: Mapping[str, Evaluator], call: argparse.Namespace
) -> int:
    """Say what would be done, or what is wrong with it as a real run would."""
    from llmeval_integrations.cli.commands.parts.planning import plan, plan_text

    if configuration.out is not None:  # a run that is there stays, so it may be there
        RunDirectory(configuration.out).check(
            configuration.data, _cache(configuration), overwrite=True, resume=False
        )
    found = plan(
        configuration.data,
        evaluators,
        columns=configuration.columns,
        format=configuration.format,
        limit=configuration.limit,
        sample=configuration.sample,
        seed=configuration.seed or 0,
        engine=_engine(configuration.engine),
        cache=_cache(configuration),
        max_cost=configuration.max_cost,
    )
    put(json.dumps(found.summary(), indent=2) + "\n" if call.json else plan_text(found))
    return OK


def _refuse_what_would_be_ignored(
    configuration: Configuration, *, dry_run: bool, opens: bool
) -> None:
    """Raise InputError for an option that says nothing beside the others, or against them."""
    resume, retry = bool(configuration.resume), bool(configuration.retry_errors)
    workers = configuration.workers
    wrong = {
        "a dry run plans a whole run; leave out --resume and --retry-errors": (
            dry_run and (resume or retry)
        ),
        "--retry-errors is for a run that is gone on with; add --resume": retry and not resume,
        "--resume goes on with the run that --overwrite replaces; leave one of them out": (
            resume and configuration.overwrite
        ),
        "--resume goes on with a run in a directory; say which with --out DIR": (
            resume and configuration.out is None
        ),
        "--open shows the report of a run in a directory; add --out DIR": (
            opens and configuration.out is None
        ),
        "--seed says which rows --sample draws; add --sample N": (
            configuration.seed is not None and configuration.sample is None
        ),
        f"--workers {workers} is not a whole number above 0": workers is not None and workers < 1,
        f"--workers {workers} are processes of this machine, not of --engine ray; leave one of "
        "them out": workers is not None and workers > 1 and configuration.engine == "ray",
    }
    for sentence, is_so in wrong.items():
        if is_so:
            raise InputError(sentence)


def _refuse_a_run_that_is_there(configuration: Configuration) -> None:
    """Raise InputError where a run would be neither gone on with nor replaced."""
    out = configuration.out
    if out is None or configuration.resume or configuration.overwrite:
        return
    if RunDirectory(out).holds_a_run():
        raise InputError(
            f"{out} already holds a run; add --resume to go on with it or --overwrite to replace "
            "it, or choose another --out DIR"
        )


def _refuse_what_is_for_judges(
    call: argparse.Namespace, evaluators: Mapping[str, Evaluator]
) -> None:
    """Raise InputError for an option of judges where no evaluator asks one.

    In a configuration file it may stand, for that may be of runs with judges and without.
    """
    if any(isinstance(each, JudgedEvaluator) for each in evaluators.values()):
        return
    for name in (*_OF_JUDGES, "cache"):
        value = getattr(call, name)
        if value is not None:
            option = "--no-cache" if value is False else f"--{name.replace('_', '-')}"
            asks = "asks" if len(evaluators) == 1 else "ask"
            raise InputError(
                f"{option} is for judges, and {', '.join(evaluators)} {asks} none; leave it out"
            )


def _engine(name: str | None) -> Engine | None:
    """Return who evaluates instead of this machine, None where nobody does."""
    if name not in (None, *ENGINES):
        raise InputError(f"engine: {name!r} is not one of {', '.join(ENGINES)}")
    if name != "ray":
        return None
    from llmeval_integrations.frameworks.ray import RayEngine

    return RayEngine


def _cache(configuration: Configuration) -> str | PathLike[str] | None:
    """Return the file of judges' replies, None where none is wanted."""
    return default_cache() if configuration.cache is None else configuration.cache or None


def _judging(configuration: Configuration) -> dict[str, Any]:
    """Return what a configuration says of judges, as options of `evaluate`."""
    options = {name: getattr(configuration, name) for name in _OF_JUDGES}
    return {
        "cache": _cache(configuration),
        **{name: value for name, value in options.items() if value is not None},
    }


def _not_asked(run: Run, *, frozen: bool) -> Iterator[str]:
    """Word that judges were not asked about everything."""
    judging = run.summary.get("judging", {})
    if judging.get("not_asked"):
        why = _why_not_asked(run, judging["budget_reached"], frozen=frozen)
        were = "was" if judging["not_asked"] == 1 else "were"
        yield f"{counted(judging['not_asked'], 'request')} {were} not made: {why}"


def _why_not_asked(run: Run, reached: str | None, *, frozen: bool) -> str:
    """Word whether it was this call that left them out, or an earlier one, as the rows say."""
    if reached:
        return f"the budget {reached} was spent"
    labels = {label for each in run.summary["evaluators"].values() for label in each["labels"]}
    here = "the cache is frozen and lacks them"
    if frozen and "budget" not in labels:
        return here
    earlier = (
        "an earlier call left them out, for its budget or its frozen cache; "
        "--resume --retry-errors makes them"
    )
    return f"{here}, or {earlier}" if frozen and "not_cached" in labels else earlier


def _configuration(call: argparse.Namespace) -> Configuration:
    """Put together what a configuration and the command line say; the latter counts."""
    here = Path()
    said = {
        name: value for name, value in vars(call).items() if name in Configuration.__struct_fields__
    }
    said["data"] = None  # it may be the configuration
    said["evaluators"] = call.evaluator and [
        parse_specification(text, here) for text in call.evaluator
    ]
    pairs = [*map(parse_column, call.column or ())]
    pairs += [("group", call.group)] if call.group else []
    said["columns"] = _by_name(pairs, "--column") or None
    said["fail_under"] = call.fail_under and _by_name(
        map(parse_threshold, call.fail_under), "--fail-under"
    )
    given = Configuration(**said)
    if Path(call.data).suffix.lower() in SUFFIXES:
        written = read_configuration(Path(call.data))
        if call.resume or call.overwrite:  # the one takes the place of the other
            written = replace(written, resume=None, overwrite=None)
        return written.updated(given)
    return replace(given, data=call.data)


def _by_name(pairs: Iterable[tuple[str, Value]], option: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"{option}: {name!r} is given twice")
        found[name] = value
    return found


@contextmanager
def _told_how_to_go_on(configuration: Configuration, call: argparse.Namespace) -> Iterator[None]:
    """Show after an interrupt what is done, and say how the run is gone on with."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt, Interrupted):
            _show(interrupt.run, call)
        if configuration.out is None:
            say("llmeval run: no row is kept; with --out DIR a run can be gone on with")
        elif RunDirectory(configuration.out).holds_a_run():
            instead = " instead of --overwrite" if configuration.overwrite else ""
            say(
                f"llmeval run: what is done is in {configuration.out}; "
                f"go on with the same call and --resume{instead}"
            )
        raise


def _say_columns(columns: Mapping[str, str], absent: Iterable[str]) -> None:
    """Say which columns are taken that other tools may have written for a purpose of their own.

    And which are looked for, and seem not to be there.
    """
    for line in absent:
        say(f"llmeval run: {line}")
    if columns:
        taken = ", ".join(f"{field} is column {column}" for field, column in columns.items())
        say(f"llmeval run: {taken}; --column {next(iter(columns))}= takes none")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[OnProgress | None]:
    """Show how far a run has come, if there is a terminal to show it on."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("evaluating", total=None)

        def show(samples: int, share: float | None) -> None:
            total = None if share is None else 1.0
            done = f"{samples:,} samples"
            progress.update(task, completed=share or 0, total=total, description=done)

        yield show


def _show(run: Run, call: argparse.Namespace) -> None:
    if call.json:
        put(summary_text(run.summary))
    elif not call.quiet:
        from llmeval_integrations.reports.run_view import view_of_run

        put_view(view_of_run(run))
        put(_next_step(run))
    if call.open and run.out is not None:
        from llmeval_integrations.cli.commands.report import write_page

        open_page(write_page(run))


def _next_step(run: Run) -> str:
    """Say where the run is, and what can be done with it."""
    if run.out is None:
        return "next: --out DIR keeps the run; llmeval view DIR then shows its samples\n"
    return (
        f"written: {run.out}/results.jsonl and summary.json\n"
        f"next: llmeval view {run.out} shows its samples; "
        f"llmeval compare {run.out} OTHER compares another run with it\n"
    )
