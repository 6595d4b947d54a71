"""Evaluators for what language models write: is it JSON, the right JSON, in the right format."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.catalog import list_evaluators, load_evaluator
from llmeval_integrations.core.errors import (
    EvalError,
    InputError,
    InvalidOptionError,
    InvalidReferenceError,
    InvalidSchemaError,
    MissingDependencyError,
    MissingFieldError,
    RegexTimeoutError,
    UnknownNameError,
)
from llmeval_integrations.core.evaluator import Evaluator, snake_case
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.version import __version__

if TYPE_CHECKING:
    from llmeval_integrations.evaluators.embedding_distance import EmbeddingDistance
    from llmeval_integrations.evaluators.exact_match import ExactMatch
    from llmeval_integrations.evaluators.json_edit_distance import JsonEditDistance
    from llmeval_integrations.evaluators.json_equality import JsonEquality
    from llmeval_integrations.evaluators.json_evaluator import JsonEvaluator
    from llmeval_integrations.evaluators.json_fields import JsonFields
    from llmeval_integrations.evaluators.json_grounded import JsonGrounded
    from llmeval_integrations.evaluators.json_match import JsonMatch
    from llmeval_integrations.evaluators.json_schema import JsonSchema
    from llmeval_integrations.evaluators.json_similarity import JsonSimilarity
    from llmeval_integrations.evaluators.json_validity import JsonObject, JsonValidity
    from llmeval_integrations.evaluators.length_penalty import LengthPenalty
    from llmeval_integrations.evaluators.ngram_repetition_penalty import NgramRepetitionPenalty
    from llmeval_integrations.evaluators.python_type import PythonType
    from llmeval_integrations.evaluators.reasoning_format import (
        ReasoningFormat,
        ReasoningToolCallFormat,
    )
    from llmeval_integrations.evaluators.regex_match import RegexMatch
    from llmeval_integrations.evaluators.retrieval import Retrieval
    from llmeval_integrations.evaluators.string_distance import StringDistance
    from llmeval_integrations.evaluators.text_evaluator import TextEvaluator
    from llmeval_integrations.evaluators.tool_call_schema import ToolCallSchema
    from llmeval_integrations.evaluators.tool_calls import ToolCalls
    from llmeval_integrations.evaluators.tool_evaluator import ToolEvaluator
    from llmeval_integrations.evaluators.weighted_sum import WeightedSum
    from llmeval_integrations.messages.read import read_messages
    from llmeval_integrations.reports.explain import explain
    from llmeval_integrations.runs import (
        Comparison,
        Run,
        RunOptions,
        compare,
        evaluate,
        evaluate_batch,
    )

__all__ = [
    "MISSING",
    "Comparison",
    "EmbeddingDistance",
    "EvalError",
    "Evaluator",
    "ExactMatch",
    "InputError",
    "InvalidOptionError",
    "InvalidReferenceError",
    "InvalidSchemaError",
    "JsonEditDistance",
    "JsonEquality",
    "JsonEvaluator",
    "JsonFields",
    "JsonGrounded",
    "JsonMatch",
    "JsonObject",
    "JsonSchema",
    "JsonSimilarity",
    "JsonValidity",
    "LengthPenalty",
    "MissingDependencyError",
    "MissingFieldError",
    "NgramRepetitionPenalty",
    "PythonType",
    "ReasoningFormat",
    "ReasoningToolCallFormat",
    "RegexMatch",
    "RegexTimeoutError",
    "Result",
    "Retrieval",
    "Run",
    "RunOptions",
    "Sample",
    "StringDistance",
    "TextEvaluator",
    "ToolCallSchema",
    "ToolCalls",
    "ToolEvaluator",
    "UnknownNameError",
    "WeightedSum",
    "__version__",
    "compare",
    "evaluate",
    "evaluate_batch",
    "explain",
    "list_evaluators",
    "load_evaluator",
    "read_messages",
]


_FILES: Final = {
    "JsonObject": "evaluators.json_validity",
    "ReasoningToolCallFormat": "evaluators.reasoning_format",
    "explain": "reports.explain",
    "read_messages": "messages.read",
    **dict.fromkeys(("Comparison", "Run", "RunOptions"), "runs"),
    **dict.fromkeys(("compare", "evaluate", "evaluate_batch"), "runs"),
}
"""Where public names are; any other evaluator is in the file of its own name."""


def __getattr__(name: str) -> Any:
    """Import a public name where it is asked for: all of them take four times as long as one."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file = _FILES.get(name) or f"evaluators.{snake_case(name)}"
    return getattr(import_module(f"llmeval_integrations.{file}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
