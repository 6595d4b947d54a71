"""A run shown to a person or to another program: one file per format, found by its name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import BinaryIO, Protocol, cast

from llmeval_integrations.errors import UnknownNameError
from llmeval_integrations.runs.run import Run


class Format(Protocol):
    """What a file in this room has."""

    IS_TABLE: bool
    """Whether it holds the rows and nothing else, for other programs to read."""

    def write(self, runs: Sequence[Run], out: BinaryIO) -> None:
        """Write one run, or several beside each other."""


def formats() -> list[str]:
    """List the names of the formats."""
    return sorted(found.name for found in iter_modules(__path__) if not found.ispkg)


def load_format(name: str) -> Format:
    """Give a format by its name; raises UnknownNameError for one that is not there."""
    if name not in formats():
        raise UnknownNameError(f"no format is called {name!r}; there are {', '.join(formats())}")
    return cast(Format, import_module(f"{__name__}.{name}"))
