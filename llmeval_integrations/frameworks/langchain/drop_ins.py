"""LangChain's evaluators of JSON, by their own names."""

from __future__ import annotations

from typing import Final

from llmeval_integrations.frameworks._drop_ins import (
    JsonEditDistanceDropIn,
    JsonEqualityDropIn,
    JsonSchemaDropIn,
    JsonValidityDropIn,
)
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator


class JsonValidityEvaluator(JsonValidityDropIn, LangChainEvaluator):
    """Does the output parse as JSON?"""


class JsonEqualityEvaluator(JsonEqualityDropIn, LangChainEvaluator):
    """Is the output the same JSON as the reference, top-level arrays in any order?"""


class JsonEditDistanceEvaluator(JsonEditDistanceDropIn, LangChainEvaluator):
    """How much of the reference's JSON, as `json.dumps` writes it, would have to be typed anew?"""


class JsonSchemaEvaluator(JsonSchemaDropIn, LangChainEvaluator):
    """Does the output conform to the JSON Schema?

    A violation is worded as by the package `jsonschema`; in our own words, in the same form, where
    that is not installed, finds nothing wrong or would need more than 20,000 steps, and where the
    schema has `patternProperties` or a second `$schema` inside, or a number is beyond a float.
    """

    @property
    def evaluation_name(self) -> str:
        """LangChain's name for it."""
        return "json_schema_validation"


DROP_INS: Final[dict[str, type[LangChainEvaluator]]] = {
    "json_validity": JsonValidityEvaluator,
    "json_equality": JsonEqualityEvaluator,
    "json_edit_distance": JsonEditDistanceEvaluator,
    "json_schema": JsonSchemaEvaluator,
    "json_schema_validation": JsonSchemaEvaluator,
}
"""The names that LangChain has for them, and ours."""
