"""What the evaluators of a run are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import free_name, quote


def name_evaluators(
    evaluators: Mapping[str, Evaluator] | Iterable[Evaluator],
) -> dict[str, Evaluator]:
    """Give each evaluator a name of its own.

    A mapping's keys are the names. In a list an evaluator keeps its class's name; where it comes
    twice, the second is `name_2`. Raises InvalidOptionError for what is not an evaluator.
    """
    if isinstance(evaluators, Mapping):
        named = dict(evaluators)
    elif isinstance(evaluators, (str, Evaluator)) or not isinstance(evaluators, Iterable):
        raise InvalidOptionError(
            f"expected a list of evaluators or a mapping, got {quote(evaluators)}"
        )
    else:
        named = {}
        for evaluator in evaluators:
            named[free_name(getattr(evaluator, "name", ""), named)] = evaluator
    if not named:
        raise InvalidOptionError("a run needs at least one evaluator")
    for name, evaluator in named.items():
        if not isinstance(evaluator, Evaluator):
            raise _no_evaluator(evaluator)
        if not isinstance(name, str) or not name:
            raise InvalidOptionError(f"{name!r} is not the name of an evaluator, which is a text")
    return named


def _no_evaluator(thing: Any) -> InvalidOptionError:
    hint = f"; write load_evaluator({thing!r})" if isinstance(thing, str) else ""
    if isinstance(thing, type):
        hint = f"; write {thing.__name__}()"
    return InvalidOptionError(f"expected an Evaluator, got {quote(thing)}{hint}")
