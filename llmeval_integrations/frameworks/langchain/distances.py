"""Distances of meanings, and distances of two outputs, as LangChain has them."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.errors import MissingFieldError
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.embedding_distance import EmbeddingDistance
from llmeval_integrations.evaluators.string_distance import StringDistance
from llmeval_integrations.frameworks._base import Wrapper
from llmeval_integrations.frameworks.langchain.evaluator import (
    LangChainEvaluator,
    evaluation_class,
)

PairwiseStringEvaluator: Any = evaluation_class("PairwiseStringEvaluator")


class EmbeddingDistanceEvaluator(LangChainEvaluator):
    """How far is the output's meaning from the reference's?"""

    def __init__(self, embeddings: Any, distance_metric: Any = "cosine", **options: Any) -> None:
        metric = getattr(distance_metric, "value", distance_metric)  # LangChain has an enumeration
        super().__init__(EmbeddingDistance(embeddings, metric, **options))
        self.evaluation_name = f"embedding_{metric}_distance"


class PairDistanceEvaluator(Wrapper, PairwiseStringEvaluator):  # type: ignore[misc]
    """How far are two outputs from each other? Whatever else LangChain hands on stops here."""

    requires_reference = False
    requires_input = False

    def evaluate_string_pairs(self, **fields: Any) -> dict[str, Any]:
        """Compare `prediction` with `prediction_b`."""
        return {"score": self.evaluator.evaluate(_pair(**fields)).score}

    async def aevaluate_string_pairs(self, **fields: Any) -> dict[str, Any]:
        """Compare `prediction` with `prediction_b`, and await what has to be waited for."""
        return {"score": (await self.evaluator.aevaluate(_pair(**fields))).score}

    _evaluate_string_pairs = evaluate_string_pairs  # abstract in LangChain


class PairwiseStringDistanceEvaluator(PairDistanceEvaluator):
    """How far are the texts of two outputs from each other?"""

    def __init__(self, **options: Any) -> None:
        plain = {name: getattr(value, "value", value) for name, value in options.items()}
        super().__init__(StringDistance(**plain))
        self.evaluation_name = f"pairwise_{plain.get('distance', 'jaro_winkler')}_distance"


class PairwiseEmbeddingDistanceEvaluator(PairDistanceEvaluator):
    """How far are the meanings of two outputs from each other?"""

    def __init__(self, embeddings: Any, distance_metric: Any = "cosine", **options: Any) -> None:
        alone = EmbeddingDistanceEvaluator(embeddings, distance_metric, **options)
        super().__init__(alone.evaluator)
        self.evaluation_name = f"pairwise_{alone.evaluation_name}"


def _pair(prediction: Any, prediction_b: Any, **_: Any) -> Sample:
    if prediction is None or prediction_b is None:
        raise MissingFieldError("prediction and prediction_b are two outputs, and one is None")
    return Sample(prediction, prediction_b)
