"""Distances of meanings, and distances of two outputs, as in LangChain."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.frameworks.langchain.evaluator import evaluation_class, plain
from llmeval_integrations.frameworks.langchain.json import CatalogEvaluator

PairwiseStringEvaluator: Any = evaluation_class("PairwiseStringEvaluator")


class EmbeddingDistanceEvaluator(CatalogEvaluator):
    """How far is the output's meaning from the reference's?"""

    core_name = "embedding_distance"

    def __init__(self, embeddings: Any, distance_metric: Any = "cosine", **options: Any) -> None:
        super().__init__(embeddings=embeddings, metric=distance_metric, **options)
        self.evaluation_name = f"embedding_{plain(distance_metric)}_distance"


class PairDistanceEvaluator(PairwiseStringEvaluator):  # type: ignore[misc]
    """Measures the distance of two outputs."""

    requires_reference = False

    def evaluate_string_pairs(self, *, prediction_b: Any, **fields: Any) -> dict[str, Any]:
        """Compare `prediction` with `prediction_b`."""
        found = self.evaluate_strings(**{**fields, "reference": prediction_b})
        return {"score": found["score"]}

    async def aevaluate_string_pairs(self, *, prediction_b: Any, **fields: Any) -> dict[str, Any]:
        """Compare `prediction` with `prediction_b` asynchronously."""
        found = await self.aevaluate_strings(**{**fields, "reference": prediction_b})
        return {"score": found["score"]}

    _evaluate_string_pairs = evaluate_string_pairs  # abstract in LangChain


class PairwiseStringDistanceEvaluator(PairDistanceEvaluator, CatalogEvaluator):
    """How far are the texts of two outputs from each other?"""

    core_name = "string_distance"

    def __init__(self, distance: Any = "jaro_winkler", **options: Any) -> None:
        super().__init__(distance=distance, **options)
        self.evaluation_name = f"pairwise_{plain(distance)}_distance"


class PairwiseEmbeddingDistanceEvaluator(PairDistanceEvaluator, EmbeddingDistanceEvaluator):
    """How far are the meanings of two outputs from each other?"""

    def __init__(self, embeddings: Any, distance_metric: Any = "cosine", **options: Any) -> None:
        super().__init__(embeddings, distance_metric, **options)
        self.evaluation_name = f"pairwise_{self.evaluation_name}"
