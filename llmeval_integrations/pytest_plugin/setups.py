"""How an evaluator is set up, in a few words that tell it from another of its name."""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields, is_dataclass
from hashlib import blake2b
from typing import Any, Final

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.llm.client import Client
from llmeval_integrations.runs.manifest import described
from llmeval_integrations.runs.rows import write_in_order

_LONGEST: Final = 40
_MOST_KNOWN: Final = 1_000


class Setups:
    """Knows how the evaluators of a session are set up, most of which many tests share."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Evaluator, tuple[str, ...]]] = {}

    def of(self, evaluator: Evaluator) -> tuple[str, ...]:
        """Return how an evaluator is set up."""
        known = self._known.get(id(evaluator))  # no other has it as long as it is kept here
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[id(evaluator)] = evaluator, _setup_of(evaluator)
        return known[1]


def _setup_of(evaluator: Evaluator) -> tuple[str, ...]:
    """Return the options that are not the default ones, as `threshold=0.9`.

    Of a long value stand there its beginning and a few digits that another value does not have.
    """
    options: tuple[Field[Any], ...] = fields(evaluator) if is_dataclass(evaluator) else ()
    return tuple(
        f"{each.name}={_short(_text(evaluator, each.name))}"
        for each in options
        if not _is_default(each, getattr(evaluator, each.name))
    )


def _is_default(option: Field[Any], value: Any) -> bool:
    default = option.default if option.default_factory is MISSING else option.default_factory()
    return value is default or (type(value) is type(default) and bool(value == default))


def _text(evaluator: Evaluator, name: str) -> str:
    """Write an option as a manifest does; a function is its name, and so is a client."""
    value = getattr(evaluator, name)
    if isinstance(value, Client):
        return str(value.identity().get("name"))
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # which takes several times as long
        return write_in_order(described(evaluator)["options"][name]).decode()


def _short(text: str) -> str:
    shown = make_printable(text)
    if len(shown) <= _LONGEST:
        return shown
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=3)
    return f"{shown[:_LONGEST]}... #{digest.hexdigest()}"
