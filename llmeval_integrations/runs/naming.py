"""What the evaluators of a run are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmeval_integrations.core.catalog import load_evaluator
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import free_name, quote


def name_evaluators(
    evaluators: str | Evaluator | Mapping[str, str | Evaluator] | Iterable[str | Evaluator],
) -> dict[str, Evaluator]:
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
    elif isinstance(evaluators, Iterable):
        named = {}
        for each in map(_load, evaluators):
            named[free_name(each.name, named)] = each
    else:
        raise _refuse(evaluators)
    if not named:
        raise InvalidOptionError("a run needs at least one evaluator")
    for name in named:
        if not isinstance(name, str) or not name:
            raise InvalidOptionError(f"{name!r} is not the name of an evaluator, which is a text")
    return named


def _load(thing: Any) -> Evaluator:
    if isinstance(thing, Evaluator):
        return thing
    if isinstance(thing, str):
        return load_evaluator(thing)
    raise _refuse(thing)


def _refuse(thing: Any) -> InvalidOptionError:
    hint = f"; write {thing.__name__}()" if isinstance(thing, type) else ""
    return InvalidOptionError(
        "expected an Evaluator or its name, or a list or mapping of these, got "
        f"{quote(thing)}{hint}"
    )
