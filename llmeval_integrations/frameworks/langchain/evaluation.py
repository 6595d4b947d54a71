"""LangChain's own evaluation package, where there is one."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import Any


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


StringEvaluator: Any = getattr(evaluation("schema"), "StringEvaluator", object)
"""LangChain's base class, or none."""


PairwiseStringEvaluator: Any = getattr(evaluation("schema"), "PairwiseStringEvaluator", object)
"""LangChain's base class of what compares two outputs, or none."""


class _EvaluatorType(str, Enum):
    """LangChain's enumeration of names, as far as we have them, where LangChain's own is absent."""

    JSON_VALIDITY = "json_validity"
    JSON_EQUALITY = "json_equality"
    JSON_EDIT_DISTANCE = "json_edit_distance"
    JSON_SCHEMA_VALIDATION = "json_schema_validation"
    EXACT_MATCH = "exact_match"
    REGEX_MATCH = "regex_match"
    STRING_DISTANCE = "string_distance"
    EMBEDDING_DISTANCE = "embedding_distance"
    PAIRWISE_STRING_DISTANCE = "pairwise_string_distance"
    PAIRWISE_EMBEDDING_DISTANCE = "pairwise_embedding_distance"


EvaluatorType: Any = getattr(evaluation("schema"), "EvaluatorType", _EvaluatorType)
"""LangChain's enumeration of names, so that one line imports it and `load_evaluator`."""
