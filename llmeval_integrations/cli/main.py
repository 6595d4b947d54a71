"""The command `llmeval`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from codecs import register_error
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, NoReturn

from llmeval_integrations.cli.terminal import (
    INTERRUPTED,
    WRONG_CALL,
    replace_unwritable,
    say,
    unless_closed,
)
from llmeval_integrations.core.errors import EvalError
from llmeval_integrations.core.quote import hint
from llmeval_integrations.version import __version__

_FILES: Final = {
    "start": ("demo", "init"),
    "run": ("run",),
    "reports": ("show", "runs", "view", "report", "export", "threshold"),
    "compare": ("compare", "prefer"),
    "evaluators": ("list", "test-evaluator"),
}
"""The modules and their commands, in the order of the help."""

_EPILOG: Final = """\
examples:
  llmeval demo --open
  llmeval run outputs.jsonl -e json_validity -e json_match --out runs/first
  llmeval report runs/first --open
  llmeval compare runs/first runs/second --fail-on-regression
  llmeval list json_schema

exit codes: 0 done; 1 gate missed; 2 wrong call or no result; 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller has closed it, as `2>&-` does
            setattr(sys, name, Path(os.devnull).open("r+"))  # noqa: SIM115 - until the end
    register_error("llmeval", replace_unwritable)
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):
            output.reconfigure(errors="llmeval")
    name = "llmeval"
    try:
        with unless_closed():  # older versions of Python raise while they print help
            given = sys.argv[1:] if arguments is None else list(arguments)
            parser, commands = parsers(given[0] if given else "")
            if given and not given[0].startswith("-") and given[0] not in commands:
                parser.error(f"there is no command {given[0]!r}; {hint(given[0], commands)}")
            call, unknown = parser.parse_known_args(given)
            if unknown:
                commands.get(call.command, parser).refuse(unknown[0])
            if call.command is None:
                parser.print_help()
                return 0
            name += f" {call.command}"
            if call.verbose:
                logging.basicConfig(format="%(relativeCreated)d ms %(name)s: %(message)s")
                # Other packages log addresses with keys in them.
                logging.getLogger("llmeval_integrations").setLevel(logging.INFO)
            return int(call.run(call))
    except (EvalError, OSError) as error:
        say(f"{name}: error: {error}")
        return WRONG_CALL
    except KeyboardInterrupt:
        say(f"{name}: interrupted")
        return INTERRUPTED
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser that reports a wrong call in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})

    def refuse(self, word: str) -> NoReturn:
        """Report an argument that the command does not have."""
        from difflib import get_close_matches

        options = [name for action in self._actions for name in action.option_strings]
        guesses = [f"; did you mean {name}?" for name in get_close_matches(word, options, 1)]
        self.error(f"unrecognized argument: {word}{''.join(guesses)}")

    def error(self, message: str) -> NoReturn:
        say(f"{self.prog}: error: {message}; see {self.prog} --help")
        raise SystemExit(WRONG_CALL)


def parsers(command: str = "") -> tuple[_Parser, dict[str, _Parser]]:
    """Return the parser of the command line, and the parsers of the commands by name.

    Only the module of `command` is imported, or all of them for any other word.
    """
    parser = _Parser(
        prog="llmeval",
        description="Evaluate what language models write.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="log each step on stderr")
    parser.add_argument("--version", action="version", version=f"llmeval {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for file in [name for name, own in _FILES.items() if command in own] or _FILES:
        import_module(f"llmeval_integrations.cli.{file}").add_commands(commands)
    return parser, commands.choices
