"""LangChain's evaluators of JSON, by their own names and arguments."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from llmeval_integrations.core import catalog
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator, plain
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse


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

    The score is True or False. Accepts the options of JsonSchema.
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

    def _sample(self, prediction: Any, reference: Any = None, *args: Any, **further: Any) -> Sample:
        if type(self)._parse_json is not JsonComparisonEvaluator._parse_json:  # noqa: SLF001
            prediction = self._parse_json(prediction)
            reference = None if reference is None else self._parse_json(reference)
        return super()._sample(prediction, reference, *args, **further)


class JsonEqualityEvaluator(JsonComparisonEvaluator):
    """Is the output the same JSON as the reference, with top-level arrays in any order?

    The score is True or False. Accepts LangChain's `operator` and the options of JsonEquality. With
    `list_order="strict"` the order of top-level arrays counts too.
    """

    core_name = "json_equality"

    def __init__(self, operator: Any = None, **options: Any) -> None:
        if operator is not None:
            options["operator"] = operator
        super().__init__(**{"list_order": "top_level_any", **options})


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
