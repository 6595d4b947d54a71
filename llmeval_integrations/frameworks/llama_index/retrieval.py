"""LlamaIndex's evaluators of retrieval and of meaning, on Retrieval and EmbeddingDistance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core import Settings
from llama_index.core.async_utils import asyncio_run
from llama_index.core.evaluation import RetrievalEvalResult
from llama_index.core.evaluation.retrieval.metrics_base import RetrievalMetricResult

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quote import hint
from llmeval_integrations.core.result import Result
from llmeval_integrations.evaluators.embedding_distance import EmbeddingDistance
from llmeval_integrations.evaluators.retrieval import METRICS, Retrieval
from llmeval_integrations.frameworks.llama_index.evaluator import (
    LabelledEvaluationResult,
    LlamaIndexEvaluator,
)


class SemanticSimilarityEvaluator(LlamaIndexEvaluator):
    """How near is the response's meaning to the reference's? 1 minus their cosine distance.

    It passes from `similarity_threshold` on; `embed_model` is `Settings.embed_model` unless given.
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


class RetrieverEvaluator:
    """Which of the documents that it should find does a retriever find?

    Gives LlamaIndex's `RetrievalEvalResult`; the metrics are those of Retrieval.
    """

    def __init__(
        self, retriever: Any, metrics: Sequence[str] = METRICS, node_postprocessors: Any = None
    ) -> None:
        for name in metrics:
            if name not in METRICS:
                raise InvalidOptionError(f"there is no metric {name!r}; {hint(name, METRICS)}")
        self.retriever, self.metrics = retriever, metrics
        self.node_postprocessors = node_postprocessors or ()

    @classmethod
    def from_metric_names(cls, metric_names: Sequence[str], **options: Any) -> RetrieverEvaluator:
        """Build it, as LlamaIndex's is built."""
        return cls(metrics=metric_names, **options)

    def evaluate(self, query: str, expected_ids: list[str], **further: Any) -> RetrievalEvalResult:
        """Retrieve for a query, and compare the ids with those that are expected."""
        return asyncio_run(self.aevaluate(query, expected_ids, **further))

    async def aevaluate(
        self, query: str, expected_ids: list[str], expected_texts: Any = None, **_: Any
    ) -> RetrievalEvalResult:
        """Retrieve for a query as `evaluate` does, and await it."""
        nodes = await self.retriever.aretrieve(query)
        for processor in self.node_postprocessors:
            nodes = processor.postprocess_nodes(nodes, query_str=query)
        ids = [node.node.node_id for node in nodes]
        figures = Retrieval()(None, retrieved=ids, relevant=expected_ids).metadata
        return RetrievalEvalResult(
            query=query,
            expected_ids=expected_ids,
            expected_texts=expected_texts,
            retrieved_ids=ids,
            retrieved_texts=[node.text for node in nodes],
            metric_dict={name: RetrievalMetricResult(score=figures[name]) for name in self.metrics},
        )

    async def aevaluate_dataset(self, dataset: Any, **_: Any) -> list[RetrievalEvalResult]:
        """Evaluate every query of LlamaIndex's `EmbeddingQAFinetuneDataset`."""
        return [
            await self.aevaluate(query, dataset.relevant_docs[key])
            for key, query in dataset.queries.items()
        ]
