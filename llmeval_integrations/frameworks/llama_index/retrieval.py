"""LlamaIndex's evaluators of retrieval and of meaning, on Retrieval and EmbeddingDistance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core import Settings
from llama_index.core.evaluation import RetrievalEvalResult
from llama_index.core.evaluation import RetrieverEvaluator as BaseRetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics_base import RetrievalMetricResult

from llmeval_integrations.core.result import Result
from llmeval_integrations.evaluators.embedding_distance import EmbeddingDistance
from llmeval_integrations.evaluators.retrieval import Retrieval
from llmeval_integrations.frameworks.llama_index.evaluator import (
    LabelledEvaluationResult,
    LlamaIndexEvaluator,
)


class SemanticSimilarityEvaluator(LlamaIndexEvaluator):
    """How similar are the meanings of the response and the reference?

    The score is 1 minus their cosine distance. It passes if it is at least `similarity_threshold`.
    `embed_model` is `Settings.embed_model` by default.
    """

    def __init__(self, embed_model: Any = None, similarity_threshold: float = 0.8) -> None:
        model = Settings.embed_model if embed_model is None else embed_model
        super().__init__(EmbeddingDistance(model, threshold=1 - similarity_threshold))

    def _answer(
        self, result: Result, answer: Any, fields: Mapping[str, Any]
    ) -> LabelledEvaluationResult:
        found = super()._answer(result, answer, fields)
        if found.score is not None:
            found.score = 1 - found.score
            found.feedback = f"Similarity score: {found.score:.4g}"
        return found


class RetrieverEvaluator(BaseRetrieverEvaluator):  # type: ignore[misc]
    """Which of the expected documents does a retriever find? The metrics are those of Retrieval.

    Example:
        >>> metrics = RetrieverEvaluator.from_metric_names(
        ...     ["mrr", "ndcg"], retriever=retriever
        ... )  # doctest: +SKIP
    """

    async def aevaluate(
        self, query: str, expected_ids: list[str], expected_texts: Any = None, **_: Any
    ) -> RetrievalEvalResult:
        """Retrieve for a query, and compare the ids with the expected ones."""
        ids, texts = await self._aget_retrieved_ids_and_texts(query)
        figures = Retrieval()(None, retrieved=ids, relevant=expected_ids).metadata
        names = [metric.metric_name for metric in self.metrics]
        return RetrievalEvalResult(
            query=query,
            expected_ids=expected_ids,
            expected_texts=expected_texts,
            retrieved_ids=ids,
            retrieved_texts=texts,
            metric_dict={name: RetrievalMetricResult(score=figures[name]) for name in names},
        )

    async def aevaluate_dataset(self, dataset: Any, **_: Any) -> list[RetrievalEvalResult]:
        """Evaluate each query of LlamaIndex's `EmbeddingQAFinetuneDataset`."""
        return [
            await self.aevaluate(query, dataset.relevant_docs[key])
            for key, query in dataset.queries.items()
        ]
