"""Our evaluators for LangChain: its interface, its result dicts, its names, and LCEL.

Only langchain-core is needed. If `langchain_classic`, or the `langchain.evaluation` before 1.0, is
installed, the classes are subclasses of its `StringEvaluator`.
"""

from llmeval_integrations.frameworks._base import optional

with optional("langchain_core", "langchain-core", "langchain"):
    import langchain_core  # noqa: F401

from llmeval_integrations.frameworks.langchain.drop_ins import (
    EmbeddingDistanceEvaluator,
    JsonEditDistanceEvaluator,
    JsonEqualityEvaluator,
    JsonSchemaEvaluator,
    JsonValidityEvaluator,
    PairwiseEmbeddingDistanceEvaluator,
    PairwiseStringDistanceEvaluator,
)
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator
from llmeval_integrations.frameworks.langchain.judges import (
    ContextQAEvalChain,
    CotQAEvalChain,
    CriteriaEvalChain,
    LabeledCriteriaEvalChain,
    LabeledPairwiseStringEvalChain,
    LabeledScoreStringEvalChain,
    PairwiseStringEvalChain,
    QAEvalChain,
    ScoreStringEvalChain,
    TrajectoryEvalChain,
)
from llmeval_integrations.frameworks.langchain.loading import load_evaluator, load_evaluators

__all__ = [
    "ContextQAEvalChain",
    "CotQAEvalChain",
    "CriteriaEvalChain",
    "EmbeddingDistanceEvaluator",
    "JsonEditDistanceEvaluator",
    "JsonEqualityEvaluator",
    "JsonSchemaEvaluator",
    "JsonValidityEvaluator",
    "LabeledCriteriaEvalChain",
    "LabeledPairwiseStringEvalChain",
    "LabeledScoreStringEvalChain",
    "LangChainEvaluator",
    "PairwiseEmbeddingDistanceEvaluator",
    "PairwiseStringDistanceEvaluator",
    "PairwiseStringEvalChain",
    "QAEvalChain",
    "ScoreStringEvalChain",
    "TrajectoryEvalChain",
    "load_evaluator",
    "load_evaluators",
]
