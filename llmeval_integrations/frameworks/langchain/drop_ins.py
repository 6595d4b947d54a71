"""LangChain's evaluators that are evaluators of our catalog, by their own names and arguments."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from llmeval_integrations.core import catalog
from llmeval_integrations.core.errors import MissingFieldError
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.frameworks.langchain.evaluator import (
    LangChainEvaluator,
    evaluation_class,
    plain,
)
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse

PairwiseStringEvaluator: Any = evaluation_class("PairwiseStringEvaluator")


def python_canonical(value: Any) -> str:
    """Write a value as LangChain's edit distance does: characters beyond ASCII are escaped."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


class CatalogEvaluator(LangChainEvaluator):
    """One of LangChain's evaluators that is an evaluator of our catalog."""

    core_name: ClassVar[str]

    def __init__(self, **options: Any) -> None:
        options = {name: plain(value) for name, value in options.items()}
        super().__init__(catalog.load_evaluator(self.core_name, **options))


class JsonValidityEvaluator(CatalogEvaluator):
    """Is the output JSON? The score is 1 or 0. Accepts the options of JsonValidity."""

    core_name = "json_validity"


class JsonSchemaEvaluator(CatalogEvaluator):
    """Does the output conform to the JSON Schema, that of the options or of each call?

    The score is True or False. Accepts the options of JsonSchema. The reason is the message of the
    package `jsonschema`. If the package is not installed, finds no error or could take very long,
    it is our own message.
    """

    core_name = "json_schema"
    evaluation_name = "json_schema_validation"


class JsonComparisonEvaluator(CatalogEvaluator):
    """Compares the output with the reference."""

    def _parse_json(self, string: Any) -> Any:
        """Return the value of a text, or any other value unchanged; raise ValueError if not JSON.

        A subclass may override it to read output and reference, as in LangChain.
        """
        value = parse(string, self.evaluator.parsing)  # type: ignore[attr-defined]
        if isinstance(value, Defect):
            raise ValueError(value.reason)  # noqa: TRY004 - as LangChain's raises
        return value

    def _sample(self, prediction: Any, reference: Any = None, **further: Any) -> Sample:
        if type(self)._parse_json is not JsonComparisonEvaluator._parse_json:  # noqa: SLF001
            prediction = self._parse_json(prediction)
            reference = None if reference is None else self._parse_json(reference)
        return super()._sample(prediction, reference=reference, **further)


class JsonEqualityEvaluator(JsonComparisonEvaluator):
    """Is the output the same JSON as the reference, with top-level arrays in any order?

    The score is True or False. Accepts LangChain's `operator` and the options of JsonEquality. With
    `list_order="strict"` the order counts.
    """

    core_name = "json_equality"

    def __init__(self, operator: Any = None, **options: Any) -> None:
        super().__init__(**{"list_order": "top_level_any", "operator": operator, **options})


class JsonEditDistanceEvaluator(JsonComparisonEvaluator):
    """Which share of the JSON, as `json.dumps` writes it, differs between output and reference?

    Accepts LangChain's `string_distance` and `canonicalize`, and the options of JsonEditDistance.
    """

    core_name = "json_edit_distance"

    def __init__(
        self, string_distance: Any = None, canonicalize: Any = None, **options: Any
    ) -> None:
        if string_distance is not None:
            options["string_distance"] = string_distance
        super().__init__(canonicalize=canonicalize or python_canonical, **options)


class EmbeddingDistanceEvaluator(CatalogEvaluator):
    """How far is the output's meaning from the reference's?"""

    core_name = "embedding_distance"
    evaluation_name = "embedding_{}_distance"

    def __init__(
        self, embeddings: Any = None, distance_metric: Any = "cosine", **options: Any
    ) -> None:
        super().__init__(embeddings=embeddings, metric=distance_metric, **options)
        self.evaluation_name = self.evaluation_name.format(plain(distance_metric))


class PairEvaluator(LangChainEvaluator, PairwiseStringEvaluator):  # type: ignore[misc]
    """Evaluates two outputs: `prediction` and `prediction_b`."""

    requires_reference: ClassVar[bool] = False

    def evaluate_string_pairs(self, **fields: Any) -> dict[str, Any]:
        """Compare `prediction` with `prediction_b`; None is an empty output."""
        return self.evaluate_strings(**fields)

    async def aevaluate_string_pairs(self, **fields: Any) -> dict[str, Any]:
        """Compare `prediction` with `prediction_b` asynchronously."""
        return await self.aevaluate_strings(**fields)

    _evaluate_string_pairs = evaluate_string_pairs  # abstract in LangChain

    def _sample(self, prediction: Any, prediction_b: Any = MISSING, **further: Any) -> Sample:
        if prediction_b is MISSING:
            raise MissingFieldError(f"{type(self).__name__} requires prediction_b.")
        other = "" if prediction_b is None else prediction_b
        return super()._sample(prediction, prediction_b=other, **further)


class PairDistanceEvaluator(CatalogEvaluator):
    """Measures the distance of two outputs."""

    def _sample(self, prediction: Any, prediction_b: Any = None, **further: Any) -> Sample:
        return super()._sample(prediction, **{**further, "reference": prediction_b})


class PairwiseStringDistanceEvaluator(PairEvaluator, PairDistanceEvaluator):
    """How far are the texts of two outputs from each other?"""

    core_name = "string_distance"

    def __init__(self, distance: Any = "jaro_winkler", **options: Any) -> None:
        super().__init__(distance=distance, **options)
        self.evaluation_name = f"pairwise_{plain(distance)}_distance"


class PairwiseEmbeddingDistanceEvaluator(
    PairEvaluator, PairDistanceEvaluator, EmbeddingDistanceEvaluator
):
    """How far are the meanings of two outputs from each other?"""

    evaluation_name = "pairwise_embedding_{}_distance"
