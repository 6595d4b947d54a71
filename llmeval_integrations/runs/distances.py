"""Which evaluators measure a distance, so that less is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from llmeval_integrations.evaluator import Evaluator

_CEILING: Final = "max_distance"
"""The option of evaluators that pass at a distance or below."""


def distances_of(evaluators: Mapping[str, Evaluator]) -> frozenset[str]:
    """Name those that measure a distance, by their options."""
    return frozenset(
        name
        for name, evaluator in evaluators.items()
        if is_dataclass(evaluator) and any(each.name == _CEILING for each in fields(evaluator))
    )


def distances_in(manifest: Mapping[str, Any]) -> frozenset[str]:
    """Name the same of a run's manifest."""
    return frozenset(
        name
        for name, described in manifest["evaluators"].items()
        if _CEILING in described.get("options", {})
    )
