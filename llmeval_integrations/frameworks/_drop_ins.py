"""LangChain's evaluators of JSON by LangChain's arguments, for the classes of each framework."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import eq
from typing import Any

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.evaluators.json_edit_distance import JsonEditDistance
from llmeval_integrations.evaluators.json_equality import JsonEquality
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.evaluators.json_validity import JsonValidity


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


def python_canonical(value: Any) -> str:
    """Write a value as LangChain's edit distance does: characters beyond ASCII are escaped."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def json_validity(**options: Any) -> Evaluator:
    """Build a JsonValidity."""
    return _build(JsonValidity, options)


def json_equality(operator: Any = None, **options: Any) -> Evaluator:
    """Build a JsonEquality for which the items of two top-level arrays may come in any order.

    `list_order="strict"` is the other way. With `parsing="lenient"` and no list order of your own,
    values are compared as in LangChain too, where `true` is `1`.
    """
    if options.get("parsing") == "lenient" and options.get("list_order") is None:
        options["list_order"] = "strict"
        if operator is None or callable(operator):
            operator = LangChainComparison(operator or eq)
    return _build(JsonEquality, {**options, "operator": operator}, list_order="top_level_any")


def json_edit_distance(
    string_distance: Any = None, canonicalize: Any = None, **options: Any
) -> Evaluator:
    """Build a JsonEditDistance whose canonical text is what `json.dumps` writes, keys sorted.

    `canonicalize=json_value.canonical` is the other way.
    """
    options.update(string_distance=string_distance, canonicalize=canonicalize)
    return _build(JsonEditDistance, options, canonicalize=python_canonical)


def json_schema(**options: Any) -> Evaluator:
    """Build a JsonSchema; without a schema each `schema` or reference is one."""
    return _build(JsonSchema, options)


def _build(kind: Any, options: dict[str, Any], **defaults: Any) -> Evaluator:
    """Build an evaluator; None stands for a default, as in LangChain."""
    from llmeval_integrations.core.catalog import load_evaluator

    known = {field.name for field in fields(kind)}
    given = {
        name: value for name, value in options.items() if value is not None or name not in known
    }
    return load_evaluator(kind.name, **{**defaults, **given})
