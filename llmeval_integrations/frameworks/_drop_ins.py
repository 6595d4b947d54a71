"""What the classes of all frameworks share: one of our evaluators inside, and LangChain's ways.

A framework's file joins these to its own class of evaluators, so that a drop-in takes the same
arguments and gives the same result in each. An option that the evaluator does not have raises
InvalidOptionError.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from operator import eq
from typing import Any, Final

from llmeval_integrations.core.catalog import evaluator_class, load_evaluator
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote


def python_canonical(value: Any) -> str:
    """Write a value as LangChain's edit distance does: characters beyond ASCII are escaped."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "json_equality": {"list_order": "top_level_any"},
    "json_edit_distance": {"canonicalize": python_canonical},
}
"""The options in which the drop-ins of any framework differ from the evaluator of that name."""


def load_drop_in(name: str, **options: Any) -> Evaluator:
    """Build an evaluator with LangChain's defaults; None stands for a default, as there.

    Raises InvalidOptionError for an option that it does not have.
    """
    known = getattr(evaluator_class(name), "__dataclass_fields__", ())
    given = {
        option: value
        for option, value in options.items()
        if value is not None or option not in known
    }
    return load_evaluator(name, **{**DEFAULTS.get(name, {}), **given})


class Wrapper:
    """A framework's evaluator that has one of ours inside.

    Raises InvalidOptionError for what is not an Evaluator.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        if not isinstance(evaluator, Evaluator):
            raise InvalidOptionError(
                f"{type(self).__name__}: {quote(evaluator)} is not an Evaluator; "
                "load_evaluator(name) makes one by name"
            )
        self.evaluator = evaluator

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.evaluator!r})"


class JsonValidityDropIn(Wrapper):
    """Takes the options of JsonValidity."""

    def __init__(self, **options: Any) -> None:
        super().__init__(load_drop_in("json_validity", **options))


@dataclass(frozen=True)
class LangChainComparison:
    """Compares two values as LangChain's evaluator of equality does, whatever JSON says."""

    operator: Callable[[Any, Any], Any] = eq
    """By default Python's, for which `true` is `1`."""

    def __call__(self, output: Any, reference: Any) -> Any:
        """Return False for anything else against an array; two arrays come sorted by `str`."""
        if isinstance(reference, list):
            if not isinstance(output, list):
                return False
            output, reference = sorted(output, key=str), sorted(reference, key=str)
        return self.operator(output, reference)


class JsonEqualityDropIn(Wrapper):
    """Takes the options of JsonEquality.

    As in LangChain, and unlike JsonEquality, the items of two top-level arrays may come in any
    order; `list_order="strict"` is the other way. With `parsing="lenient"` and no list order of
    your own, values are compared as in LangChain too, where `true` is `1`.
    """

    def __init__(self, operator: Any = None, **options: Any) -> None:
        if options.get("parsing") == "lenient" and options.get("list_order") is None:
            options["list_order"] = "strict"
            if operator is None or callable(operator):
                operator = LangChainComparison(operator or eq)
        super().__init__(load_drop_in("json_equality", operator=operator, **options))


class JsonEditDistanceDropIn(Wrapper):
    """Takes the options of JsonEditDistance.

    As in LangChain, and unlike JsonEditDistance, the canonical text is what `json.dumps` writes,
    keys sorted; `canonicalize=json_value.canonical` is the other way.
    """

    def __init__(
        self, string_distance: Any = None, canonicalize: Any = None, **options: Any
    ) -> None:
        options.update(string_distance=string_distance, canonicalize=canonicalize)
        super().__init__(load_drop_in("json_edit_distance", **options))


class JsonSchemaDropIn(Wrapper):
    """Takes the options of JsonSchema; without a schema each `schema` or reference is one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(load_drop_in("json_schema", **options))
