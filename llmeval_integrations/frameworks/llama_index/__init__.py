"""Our evaluators for LlamaIndex: a `BaseEvaluator` that its `BatchEvalRunner` can run."""

from llmeval_integrations.frameworks._base import optional

with optional("llama_index.core", "llama-index-core", "llamaindex"):
    import llama_index.core  # noqa: F401

from llmeval_integrations.frameworks.llama_index.evaluator import (
    LabelledEvaluationResult,
    LlamaIndexEvaluator,
    load_evaluator,
)
from llmeval_integrations.frameworks.llama_index.judges import (
    AnswerRelevancyEvaluator,
    ContextRelevancyEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    PairwiseComparisonEvaluator,
    RelevancyEvaluator,
)
from llmeval_integrations.frameworks.llama_index.retrieval import (
    QuestionDataset,
    QuestionGenerator,
    RetrieverEvaluator,
    SemanticSimilarityEvaluator,
)

__all__ = [
    "AnswerRelevancyEvaluator",
    "ContextRelevancyEvaluator",
    "CorrectnessEvaluator",
    "FaithfulnessEvaluator",
    "GuidelineEvaluator",
    "LabelledEvaluationResult",
    "LlamaIndexEvaluator",
    "PairwiseComparisonEvaluator",
    "QuestionDataset",
    "QuestionGenerator",
    "RelevancyEvaluator",
    "RetrieverEvaluator",
    "SemanticSimilarityEvaluator",
    "load_evaluator",
]
