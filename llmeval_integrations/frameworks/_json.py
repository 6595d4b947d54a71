"""The core's evaluators of JSON, built by LangChain's arguments for both frameworks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import eq
from typing import Any

from llmeval_integrations.core import catalog
from llmeval_integrations.core.evaluator import Evaluator


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


def json_equality(operator: Any = None, **options: Any) -> Evaluator:
    """Build a JsonEquality for which the items of two top-level arrays may come in any order.

    `list_order="strict"` is the other way. With `parsing="lenient"` and no list order of your own,
    values are compared as in LangChain too, where `true` is `1`.
    """
    if options.get("parsing") == "lenient" and options.get("list_order") is None:
        options["list_order"] = "strict"
        if operator is None or callable(operator):
            operator = LangChainComparison(operator or eq)
    return build("json_equality", {"list_order": "top_level_any"}, operator=operator, **options)


def json_edit_distance(
    string_distance: Any = None, canonicalize: Any = None, **options: Any
) -> Evaluator:
    """Build a JsonEditDistance whose canonical text is what `json.dumps` writes, keys sorted."""
    options.update(string_distance=string_distance, canonicalize=canonicalize)
    return build("json_edit_distance", {"canonicalize": python_canonical}, **options)


def build(name: str, defaults: dict[str, Any] | None = None, **options: Any) -> Evaluator:
    """Build an evaluator of the catalog; None stands for a default, as in LangChain."""
    known = {field.name for field in fields(catalog.evaluator_class(name))}  # type: ignore[arg-type]
    given = {key: value for key, value in options.items() if value is not None or key not in known}
    return catalog.load_evaluator(name, **{**(defaults or {}), **given})
