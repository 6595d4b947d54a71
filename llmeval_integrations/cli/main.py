"""The command `llmeval`: each file of `commands/` that has a `run` is a subcommand."""

from __future__ import annotations

import argparse
import logging
import os
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Final, NoReturn

from llmeval_integrations.cli import commands
from llmeval_integrations.cli.commands.terminal import INTERRUPTED, WRONG_CALL, say
from llmeval_integrations.core.errors import EvalError
from llmeval_integrations.core.quoting import hint
from llmeval_integrations.version import __version__

_EPILOG: Final = """\
examples:
  llmeval init && llmeval run eval.yaml
  llmeval run outputs.jsonl -e json_validity -e json_match --out runs/first
  llmeval list json_schema
  llmeval compare runs/first runs/second --fail-on-regression
  llmeval runs
  llmeval show runs/first
  llmeval report runs/first --open
  llmeval export runs/first --to csv
  llmeval view runs/first
  llmeval test-evaluator json_match:strict_order=false --list-order any
  llmeval completion bash

exit codes: 0 done; 1 a threshold is missed, too many rows are errors, a run is
worse, test-evaluator found something or the budget ended; 2 a wrong call, no
result at all, or with --frozen a reply that the cache lacks; 130 interrupted
"""

_LOG: Final = "%(relativeCreated)d ms %(name)s: %(message)s"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code: 0 done, 1 threshold missed, 2 wrong call."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us, as `>&-` does
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what a terminal cannot show must not end the program
            stream.reconfigure(errors="backslashreplace")
    command = "llmeval"
    try:
        parser = _parser()
        given = sys.argv[1:] if arguments is None else arguments
        known = [name for name, _ in _commands()]
        if given and not given[0].startswith("-") and given[0] not in known:
            parser.error(f"there is no command {given[0]!r}; {hint(given[0], known)}")
        call, unknown = parser.parse_known_args(arguments)
        if call.subcommand is None and unknown:
            parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        if call.subcommand is None:
            parser.print_help()
            return 0
        if unknown:
            call.refuse(f"unrecognized arguments: {' '.join(unknown)}")
        command += f" {call.subcommand}"
        if call.verbose:
            logging.basicConfig(format=_LOG)
            ours = logging.getLogger("llmeval_integrations")
            ours.setLevel(logging.INFO)  # other packages log addresses with keys in them
        code: int = call.run(call)
    except (EvalError, OSError) as error:
        say(f"{command}: error: {error}")
        return WRONG_CALL
    except KeyboardInterrupt:
        say(f"{command}: interrupted")
        return INTERRUPTED
    return code


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with a call."""

    def error(self, message: str) -> NoReturn:
        say(f"{self.prog}: error: {message}; see {self.prog} --help")
        raise SystemExit(WRONG_CALL)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="llmeval",
        description="Evaluate what language models write.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="log what is done on stderr")
    parser.add_argument("--version", action="version", version=f"llmeval {__version__}")
    subparsers = parser.add_subparsers(dest="subcommand", metavar="COMMAND")
    for name, command in _commands():
        subparser = subparsers.add_parser(
            name,
            help=command.HELP,
            usage=getattr(command, "USAGE", None),
            description=getattr(command, "DESCRIPTION", None),
            allow_abbrev=False,
        )
        subparser.set_defaults(run=command.run, refuse=subparser.error, parser=parser)
        command.add_arguments(subparser)
    return parser


def _commands() -> Iterator[tuple[str, ModuleType]]:
    for found in pkgutil.iter_modules(commands.__path__):
        module = import_module(f"{commands.__name__}.{found.name}")
        if hasattr(module, "run"):
            yield found.name.replace("_", "-"), module
