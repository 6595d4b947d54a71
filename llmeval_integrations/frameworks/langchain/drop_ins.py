"""LangChain's evaluators of JSON, by their own names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from llmeval_integrations.core.sample import Sample
from llmeval_integrations.frameworks._drop_ins import (
    JsonEditDistanceDropIn,
    JsonEqualityDropIn,
    JsonSchemaDropIn,
    JsonValidityDropIn,
)
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse


class JsonDropIn(LangChainEvaluator):
    """Reads output and reference by `_parse_json` where a subclass has its own, as in LangChain."""

    def _parse_json(self, string: Any) -> Any:
        """Return the value of a text, any other value as it is; raise ValueError for no JSON."""
        value = parse(string, self.evaluator.parsing)  # type: ignore[attr-defined]
        if isinstance(value, Defect):
            raise ValueError(value.reason)  # noqa: TRY004 - as LangChain's raises
        return value

    def _sample(
        self, prediction: Any, reference: Any, input: Any, further: Mapping[str, Any]
    ) -> Sample:
        if type(self)._parse_json is not JsonDropIn._parse_json:  # noqa: SLF001 - our own
            prediction = self._parse_json(prediction)
            reference = None if reference is None else self._parse_json(reference)
        return super()._sample(prediction, reference, input, further)


class JsonValidityEvaluator(JsonValidityDropIn, LangChainEvaluator):
    """Does the output parse as JSON?

    Score 1 or 0, as in LangChain.
    """


class JsonEqualityEvaluator(JsonEqualityDropIn, JsonDropIn):
    """Is the output the same JSON as the reference, top-level arrays in any order?

    Score True or False, as in LangChain.
    """


class JsonEditDistanceEvaluator(JsonEditDistanceDropIn, JsonDropIn):
    """How much of the reference's JSON, as `json.dumps` writes it, would have to be typed anew?"""


class JsonSchemaEvaluator(JsonSchemaDropIn, LangChainEvaluator):
    """Does the output conform to the JSON Schema?

    Score True or False, as in LangChain. A violation is worded as by the package `jsonschema`; in
    our own words, in the same form, where that is not installed, finds nothing wrong or would need
    more than 20,000 steps, and where the schema has `patternProperties` or a second `$schema`
    inside, or a number is beyond a float.
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
