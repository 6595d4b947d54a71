"""Look up evaluators by name."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError, UnknownNameError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import hint

ENTRY_POINTS = "llmeval_integrations.evaluators"
"""The entry point group in which other packages name their evaluator classes."""

# These rooms are imported only when an evaluator is looked up by name.
_ROOMS = ("evaluators", "judges")


def load_evaluator(name: str, /, **options: Any) -> Evaluator:
    """Build an evaluator by its name: the class name in snake case, or an alias.

    Raises UnknownNameError if there is no such evaluator, or InvalidOptionError for an option.
    """
    kind = evaluator_class(name)
    known = inspect.signature(kind).parameters
    check_options(name, options, known)
    for option, parameter in known.items():
        if parameter.default is parameter.empty and option not in options:
            such = ", a model such as 'openai:gpt-5-mini'" if option == "model" else ""
            raise InvalidOptionError(f"{name} needs the option {option}{such}")
    return kind(**options)


def check_options(name: str, options: Iterable[str], known: Collection[str]) -> None:
    """Raise InvalidOptionError for an option that does not exist."""
    for option in options:
        if option not in known:
            raise InvalidOptionError(
                f"{name} has no option {option!r}; {hint(option, known, 'it has')}"
            )


def list_evaluators() -> list[str]:
    """Return the names of all evaluators, also of other packages, without aliases."""
    return sorted(
        {*(kind.name for kind in _own_classes()), *(point.name for point in _entry_points())}
    )


def evaluator_class(name: str, others: Iterable[str] = ()) -> type[Evaluator]:
    """Return the evaluator class with this name or alias.

    Raises UnknownNameError if there is none. Its message may also suggest `others`, a framework's
    own names.
    """
    for kind in _own_classes(name):
        if name == kind.name or name in kind.aliases:
            return kind
    for point in _entry_points():
        if name == point.name:
            return _import_class(point)
    known = sorted({*list_evaluators(), *others})
    raise UnknownNameError(f"no evaluator is called {name!r}; {hint(name, known)}")


def _import_class(point: Any) -> type[Evaluator]:
    """Import an evaluator class of another package."""
    try:
        kind = point.load()
    except (ImportError, AttributeError) as error:
        raise UnknownNameError(f"{point.name!r} names {point.value}: {error}") from error
    if not (inspect.isclass(kind) and issubclass(kind, Evaluator)) or inspect.isabstract(kind):
        raise UnknownNameError(f"{point.name!r} names {kind!r}, which is not an Evaluator")
    return kind


def _own_classes(first: str = "") -> Iterator[type[Evaluator]]:
    """Yield the evaluator classes of this package, judges last.

    The file with the name `first` is imported first. If it has the class, no other is imported.
    """
    package = Path(__file__).parents[1]
    files = [
        found.name
        for room in _ROOMS
        for found in pkgutil.iter_modules([str(package / room)], f"{package.name}.{room}.")
    ]
    for file in sorted(files, key=lambda file: file.rpartition(".")[2] != first):
        yield from _classes_in(file)


@cache
def _classes_in(file: str) -> tuple[type[Evaluator], ...]:
    module = import_module(file)
    return tuple(
        thing
        for thing in vars(module).values()
        if inspect.isclass(thing)
        and thing.__module__ == module.__name__  # checked first: Python 3.10 calls `X[Y]` a class
        and issubclass(thing, Evaluator)
        and not inspect.isabstract(thing)
        and not thing.__name__.startswith("_")
    )


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINTS)
