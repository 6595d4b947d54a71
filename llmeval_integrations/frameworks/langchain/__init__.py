"""Our evaluators for LangChain: its interface, its result dicts, its names, and LCEL.

Works with langchain-core alone. Where `langchain_classic`, or the `langchain.evaluation` of
before 1.0, is installed, the classes here are true subclasses of its `StringEvaluator`.
"""

from llmeval_integrations.core.errors import MissingDependencyError

try:
    import langchain_core  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "langchain_core":
        raise
    raise MissingDependencyError.of("langchain-core", "langchain") from error

from llmeval_integrations.frameworks.langchain.distances import (
    EmbeddingDistanceEvaluator,
    PairwiseEmbeddingDistanceEvaluator,
    PairwiseStringDistanceEvaluator,
)
from llmeval_integrations.frameworks.langchain.drop_ins import (
    JsonEditDistanceEvaluator,
    JsonEqualityEvaluator,
    JsonSchemaEvaluator,
    JsonValidityEvaluator,
)
from llmeval_integrations.frameworks.langchain.evaluation import EvaluatorType
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator
from llmeval_integrations.frameworks.langchain.loading import (
    load_evaluator,
    load_evaluators,
    register,
)

__all__ = [
    "EmbeddingDistanceEvaluator",
    "EvaluatorType",
    "JsonEditDistanceEvaluator",
    "JsonEqualityEvaluator",
    "JsonSchemaEvaluator",
    "JsonValidityEvaluator",
    "LangChainEvaluator",
    "PairwiseEmbeddingDistanceEvaluator",
    "PairwiseStringDistanceEvaluator",
    "load_evaluator",
    "load_evaluators",
    "register",
]
