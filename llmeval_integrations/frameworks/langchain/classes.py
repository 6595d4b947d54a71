"""LangChain's own classes and names of evaluators, where it is installed."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import Any

NAMES = (
    *("qa", "cot_qa", "context_qa", "criteria", "labeled_criteria", "trajectory"),
    *("score_string", "labeled_score_string", "pairwise_string", "labeled_pairwise_string"),
    *("string_distance", "embedding_distance", "exact_match", "regex_match"),
    *("pairwise_string_distance", "pairwise_embedding_distance"),
    *("json_validity", "json_equality", "json_edit_distance", "json_schema_validation"),
)
"""The names that LangChain has for evaluators."""


def evaluation(module: str) -> Any:
    """Import a module of LangChain's evaluation package; None where no LangChain has one."""
    for package in ("langchain_classic", "langchain"):
        try:
            return import_module(f"{package}.evaluation.{module}")
        except ModuleNotFoundError as error:
            # A package that is there and lacks something itself is broken, not absent.
            if error.name not in (package, f"{package}.evaluation"):
                raise
    return None


def _class(name: str) -> Any:
    """Return a base class of LangChain's, or an empty one."""
    return getattr(evaluation("schema"), name, None) or type(name, (), {})


StringEvaluator: Any = _class("StringEvaluator")
PairwiseStringEvaluator: Any = _class("PairwiseStringEvaluator")
AgentTrajectoryEvaluator: Any = _class("AgentTrajectoryEvaluator")
EvaluatorType: Any = getattr(evaluation("schema"), "EvaluatorType", None) or Enum(
    "EvaluatorType",
    {("agent_trajectory" if name == "trajectory" else name).upper(): name for name in NAMES},
    type=str,
)
"""LangChain's enumeration of names, so that one line imports it and `load_evaluator`."""


class StringPairEvaluator(PairwiseStringEvaluator):  # type: ignore[misc]
    """What compares two outputs; subclasses have LangChain's hooks, `_evaluate_string_pairs`."""

    def evaluate_string_pairs(self, **fields: Any) -> dict[str, Any]:
        """Compare `prediction` with `prediction_b`."""
        found: dict[str, Any] = self._evaluate_string_pairs(**fields)
        return found

    async def aevaluate_string_pairs(self, **fields: Any) -> dict[str, Any]:
        """Compare `prediction` with `prediction_b`, and await what has to be waited for."""
        found: dict[str, Any] = await self._aevaluate_string_pairs(**fields)
        return found
