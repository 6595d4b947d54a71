"""Distances of meanings, and distances of two outputs, as LangChain has them."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.errors import MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.embedding_distance import EmbeddingDistance
from llmeval_integrations.evaluators.string_distance import StringDistance
from llmeval_integrations.frameworks._base import Wrapper
from llmeval_integrations.frameworks.langchain.evaluation import PairwiseStringEvaluator
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator


class EmbeddingDistanceEvaluator(LangChainEvaluator):
    """How far is the output's meaning from the reference's?"""

    def __init__(self, embeddings: Any, distance_metric: str = "cosine", **options: Any) -> None:
        super().__init__(_embedding_distance(embeddings, distance_metric, options))

    @property
    def evaluation_name(self) -> str:
        """LangChain's name for it."""
        return _name_of(self.evaluator)


class PairDistanceEvaluator(Wrapper, PairwiseStringEvaluator):  # type: ignore[misc]
    """How far are two outputs from each other?"""

    requires_reference = False
    requires_input = False

    @property
    def evaluation_name(self) -> str:
        """LangChain's name for it."""
        return f"pairwise_{_name_of(self.evaluator)}"

    def evaluate_string_pairs(
        self, *, prediction: Any, prediction_b: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """Return the distance of two outputs as `score`; whatever else LangChain hands on stops."""
        return self._evaluate_string_pairs(
            prediction=prediction, prediction_b=prediction_b, **kwargs
        )

    async def aevaluate_string_pairs(
        self, *, prediction: Any, prediction_b: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """Return the same without going through a thread."""
        return await self._aevaluate_string_pairs(
            prediction=prediction, prediction_b=prediction_b, **kwargs
        )

    # LangChain's subclasses override these two.

    def _evaluate_string_pairs(
        self, *, prediction: Any, prediction_b: Any, **_: Any
    ) -> dict[str, Any]:
        return {"score": self.evaluator.evaluate(_pair(prediction, prediction_b)).score}

    async def _aevaluate_string_pairs(
        self, *, prediction: Any, prediction_b: Any, **_: Any
    ) -> dict[str, Any]:
        result = await self.evaluator.aevaluate(_pair(prediction, prediction_b))
        return {"score": result.score}


class PairwiseStringDistanceEvaluator(PairDistanceEvaluator):
    """How far are the texts of two outputs from each other?"""

    def __init__(self, **options: Any) -> None:
        plain = {name: getattr(value, "value", value) for name, value in options.items()}
        super().__init__(StringDistance(**plain))


class PairwiseEmbeddingDistanceEvaluator(PairDistanceEvaluator):
    """How far are the meanings of two outputs from each other?"""

    def __init__(self, embeddings: Any, distance_metric: str = "cosine", **options: Any) -> None:
        super().__init__(_embedding_distance(embeddings, distance_metric, options))


def _embedding_distance(embeddings: Any, metric: Any, options: dict[str, Any]) -> Evaluator:
    metric = getattr(metric, "value", metric)  # LangChain has an enumeration
    return EmbeddingDistance(embeddings, metric, **options)


def _pair(prediction: Any, prediction_b: Any) -> Sample:
    if prediction is None or prediction_b is None:
        raise MissingFieldError("prediction and prediction_b are two outputs, and one is None")
    return Sample(prediction, prediction_b)


def _name_of(evaluator: Evaluator) -> str:
    if isinstance(evaluator, EmbeddingDistance):
        return f"embedding_{evaluator.metric}_distance"
    return f"{evaluator.distance}_distance"  # type: ignore[attr-defined]
