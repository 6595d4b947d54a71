"""`llmeval run`: evaluate a file of outputs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any, Final

from msgspec.structs import asdict, replace

from llmeval_integrations.cli.configuration import (
    SUFFIXES,
    Configuration,
    choose_cache,
    read_configuration,
)
from llmeval_integrations.cli.gates import check_gates, find_misses, parse_gate
from llmeval_integrations.cli.specification import build, parse_specification
from llmeval_integrations.cli.terminal import (
    MISSED,
    OK,
    WRONG_CALL,
    Commands,
    open_page,
    put,
    put_run,
    say,
)
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs import Interrupted, Run, evaluate
from llmeval_integrations.runs.columns import parse_column
from llmeval_integrations.runs.data.source import FORMATS
from llmeval_integrations.runs.directory import RunDirectory
from llmeval_integrations.runs.files import open_file
from llmeval_integrations.runs.numbers import say_once, write_count
from llmeval_integrations.runs.options import OnProgress
from llmeval_integrations.runs.summary import find_cause

_OF_RUNS: Final = ("out", "overwrite", "resume", "retry_errors", "workers")
"""Options that a plan does not use."""

_OURS: Final = ("data", "evaluators", "fail_under", "engine", "cache")
"""Keys that are not passed on to `evaluate` as options."""

_AGAIN: Final = (
    "; with --out DIR, --resume --retry-errors asks again, and with --no-cache also if a reply is "
    "unreadable"
)

_FLAG: Final[dict[str, Any]] = {"action": "store_true", "default": None}


def add_commands(commands: Commands) -> None:
    """Add the command, with its options in groups."""
    parser = commands.add_parser(
        "run",
        help="evaluate a file of outputs",
        usage="llmeval run DATA -e EVALUATOR [-e EVALUATOR ...] [options]",
        description="Evaluate every row of the data with every evaluator. Columns have the names "
        "of a sample's fields: output, reference, input, contexts, schema, variables, id, group; "
        "--column maps other names. The value of an option is JSON or text; @FILE inserts the "
        "content of a file. DATA may also be a configuration: a YAML file, or a pyproject.toml "
        "with [tool.llmeval], that contains data, evaluators, columns and options.",
    )
    parser.add_argument("data", help="JSONL, JSON, CSV, TSV, Parquet, YAML or TOML; - for stdin")
    add = parser.add_argument_group("what is evaluated").add_argument
    specification = "[NAME=]EVALUATOR[:OPTION=VALUE,...]"
    add("-e", "--evaluator", action="append", metavar=specification, help="repeat -e for several")
    column = "[EVALUATOR.]FIELD=COLUMN"
    add("--column", action="append", metavar=column, help="column of a field or of variables.NAME")
    add("--group", metavar="COLUMN", help="column shared by repeats, or variables.NAME")
    add("--format", choices=FORMATS, metavar="NAME", help=f"data format: {', '.join(FORMATS)}")
    add("--limit", type=int, metavar="N", help="evaluate only the first N rows")
    add("--sample", type=int, metavar="N", help="evaluate N rows, drawn at random")
    add("--seed", type=int, metavar="S", help="seed of the random sample (0)")
    add = parser.add_argument_group("where the run is kept").add_argument
    add("-o", "--out", metavar="DIR", help="write results.jsonl and summary.json to DIR")
    add("--overwrite", **_FLAG, help="replace the run in DIR")
    add("--resume", **_FLAG, help="continue the run in DIR")
    repeated = "with --resume, repeat error and unscored rows, in this process"
    add("--retry-errors", **_FLAG, help=repeated)
    add("--open", action="store_true", help="with --out, open the report in a browser")
    _add_gates_and_judges(parser)
    add = parser.add_argument_group("how it runs").add_argument
    add("--workers", type=int, metavar="N", help="use N processes for a long file (1)")
    engines = "where rows are evaluated: here, or on a cluster"
    add("--engine", choices=("local", "ray"), help=engines)
    add("-q", "--quiet", action="store_true", help="print no table and no progress")
    add("--json", action="store_true", help="print the summary as JSON, not as a table")
    parser.set_defaults(run=_run)


def _add_gates_and_judges(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("when the run fails").add_argument
    gates = "exit 1 below this; also NAME.mean, NAME.micro, NAME/FIELD"
    add("--fail-under", action="append", metavar="NAME=RATE", help=gates)
    add = parser.add_argument_group("judges").add_argument
    add("--concurrency", type=int, metavar="N", help="judge N rows at a time (32)")
    kept = "keep judges' replies in FILE, not in the user's folder"
    add("--cache", metavar="FILE", help=kept)
    add("--no-cache", action="store_const", const=False, dest="cache", help="keep no replies")
    add("--frozen", **_FLAG, help="use only replies from the cache")
    add("--max-cost", type=float, metavar="DOLLARS", help="stop asking judges at this cost")
    add("--max-tokens", type=int, metavar="N", help="stop asking judges at this number of tokens")
    add("--batch", **_FLAG, help="batches: half the price, within a day; needs --out")
    add("--dry-run", action="store_true", help="print what the run would ask and cost, and stop")


def _run(call: argparse.Namespace) -> int:
    """Evaluate, print the summary, and return the exit code."""
    asked = _read_call(call)
    if asked.data is None:
        raise InputError(f"{call.data} names no data; add the key data")
    if not asked.evaluators:
        raise InputError("no evaluator is given; add -e NAME (llmeval list shows them all)")
    if call.open and asked.out is None:
        raise InputError("--open shows the report of a run in a directory; add --out DIR")
    evaluators = build(asked.evaluators)
    check_gates(asked.fail_under or {}, evaluators)
    given = asdict(asked).items()
    options = {name: value for name, value in given if name not in _OURS and value is not None}
    options["cache"] = choose_cache(asked.cache)
    if asked.engine == "ray":
        from llmeval_integrations.frameworks.ray import RayEngine

        options["engine"] = RayEngine
    if call.dry_run:
        from llmeval_integrations.cli.plan import plan

        options = {name: value for name, value in options.items() if name not in _OF_RUNS}
        put("".join(f"{line}\n" for line in plan(asked.data, evaluators, options)))
        return OK
    options["on_columns"] = None if call.quiet else _say_columns
    try:
        with _show_progress(quiet=call.quiet) as on_progress:
            run = evaluate(asked.data, evaluators, on_progress=on_progress, **options)
    except KeyboardInterrupt as interrupt:
        _explain(interrupt, asked.out, call)
        raise
    if call.json or not call.quiet:
        put_run(run, as_json=call.json)
    code = _conclude(run, asked)
    if run.out or code != WRONG_CALL:
        _put_next_step(run, call)
    return code


def _read_call(call: argparse.Namespace) -> Configuration:
    """Merge the configuration and the command line; the command line takes precedence."""
    said = {
        key: value for key, value in vars(call).items() if key in Configuration.__struct_fields__
    }
    said["data"] = None  # it may be a configuration
    said["evaluators"] = call.evaluator and [*map(parse_specification, call.evaluator)]
    columns = dict(map(parse_column, call.column or ()))
    said["columns"] = columns | ({"group": call.group} if call.group else {}) or None
    said["fail_under"] = dict(map(parse_gate, call.fail_under or ())) or None
    asked = Configuration(**said)
    if Path(call.data).suffix.lower() not in SUFFIXES:
        return replace(asked, data=call.data)
    written = read_configuration(Path(call.data))
    if call.resume or call.overwrite:  # either option overrides both keys
        written = replace(written, resume=None, overwrite=None)
    return written.update(asked)


def _say_columns(columns: Mapping[str, str], absent: Iterable[str]) -> None:
    """Report the columns used as schema and group, and the columns that seem to be missing."""
    for line in absent:
        say(f"llmeval run: {line}")
    if columns:
        named = ", ".join(f"{field} is column {column}" for field, column in columns.items())
        say(f"llmeval run: {named}; --column {next(iter(columns))}= turns this off")


@contextmanager
def _show_progress(*, quiet: bool) -> Iterator[OnProgress | None]:
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


def _explain(interrupt: KeyboardInterrupt, out: str | None, call: argparse.Namespace) -> None:
    """Print the summary so far, and say how to continue the run."""
    if isinstance(interrupt, Interrupted) and (call.json or not call.quiet):
        put_run(interrupt.run, as_json=call.json)
    if out is None:
        say("llmeval run: no row was kept; with --out DIR a run can be continued")
    elif RunDirectory(out).holds_a_run():
        done = f"the finished rows are in {out}"
        say(f"llmeval run: {done}; to continue, repeat the call with --resume")


def _put_next_step(run: Run, call: argparse.Namespace) -> None:
    """Print where the run is and the next commands, and open its report if asked."""
    if not (call.json or call.quiet):
        path = quote(str(run.out))
        put(
            f"written: {run.out}/results.jsonl and summary.json\n"
            f"next: llmeval view {path} shows its samples; "
            f"llmeval compare {path} OTHER compares another run with it\n"
            if run.out
            else "next: --out DIR keeps the run; llmeval view DIR then shows its samples\n"
        )
    if call.open and run.out:
        from llmeval_integrations.reports import html

        page = run.out.resolve() / "report.html"
        with open_file(page, "wb") as file:
            html.write([run], file)
        open_page(page.as_uri())


def _conclude(run: Run, asked: Configuration) -> int:
    """Print warnings and missed gates on stderr, and return the exit code."""
    for warning in say_once(_warnings(run)):
        say(f"llmeval run: warning: {warning}")
    left_out = _word_gaps(run.summary.get("judging", {}), frozen=bool(asked.frozen))
    misses = [*find_misses(run.summary, asked.fail_under or {}), *left_out]
    for miss in misses:
        say(f"llmeval run: {miss}")
    figures = run.summary["evaluators"].values()
    if any(0 < each["errors"] == each["n"] for each in figures):
        return WRONG_CALL  # for example, no row has the column
    if all(each["n"] == each["unscored"] + each["errors"] for each in figures):
        say("llmeval run: no row has a result, so nothing was evaluated")
        return WRONG_CALL
    if asked.frozen and left_out:
        return WRONG_CALL
    return MISSED if misses else OK


def _warnings(run: Run) -> Iterator[tuple[str, str]]:
    """Describe by evaluator the paths that no sample has, and what is left out of figures."""
    for name, figures in run.summary["evaluators"].items():
        for path in figures.get("unmet_paths", ()):
            yield name, f"no sample has a leaf at the path {path!r}"
        if "unread_confidences" in figures:
            count = write_count(figures["unread_confidences"], "confidence")
            yield name, f"{count} left out, as only numbers from 0 to 1 are read"
        errors, unscored = figures["errors"], figures["unscored"]
        lost = ((errors, "error", "are errors"), (unscored, "unscored", "have no score"))
        for count, kind, verb in lost:
            if count:
                rows = (row for row in run.rows if row.evaluator == name and getattr(row, kind))
                (_, label), reason = find_cause(next(rows))
                said = f"{count} of {figures['n']} rows {verb} and are left out of rates"
                again = _AGAIN if "judge" in figures and kind == "unscored" else ""
                yield name, f"{said}, for example ({label}): {reason}{again}"


def _word_gaps(judging: Mapping[str, Any], *, frozen: bool) -> list[str]:
    """Word how many requests to judges this call or an earlier one left out, and why."""
    if not judging.get("not_asked"):
        return []
    why = "an earlier call left them out; --resume --retry-errors makes them"
    if judging["budget_reached"]:
        why = f"the budget {judging['budget_reached']} was spent"
    elif frozen:
        why = f"the cache is frozen and lacks them, or {why}"
    were = "was" if judging["not_asked"] == 1 else "were"
    return [f"{write_count(judging['not_asked'], 'request')} {were} not made: {why}"]
