"""LangChain's evaluators of JSON, by their own names."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.sample import Sample
from llmeval_integrations.frameworks import _json
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse


class JsonValidityEvaluator(LangChainEvaluator):
    """Does the output parse as JSON?

    Takes the options of JsonValidity. Score 1 or 0, as in LangChain.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(_json.build("json_validity", **options))


class JsonEqualityEvaluator(LangChainEvaluator):
    """Is the output the same JSON as the reference, top-level arrays in any order?

    Takes LangChain's `operator` and the options of JsonEquality; `list_order="strict"` is an order
    that counts, as there. With `parsing="lenient"` values are compared as in LangChain, where
    `true` is `1`. Score True or False, as in LangChain.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(_json.json_equality(*args, **options))

    def _parse_json(self, string: Any) -> Any:
        """Return the value of a text, any other value as it is; raise ValueError for no JSON.

        A subclass may have its own, as in LangChain, by which output and reference are read.
        """
        value = parse(string, self.evaluator.parsing)  # type: ignore[attr-defined]
        if isinstance(value, Defect):
            raise ValueError(value.reason)  # noqa: TRY004 - as LangChain's raises
        return value

    def _sample(self, prediction: Any, reference: Any = None, *args: Any, **further: Any) -> Sample:
        if type(self)._parse_json is not JsonEqualityEvaluator._parse_json:  # noqa: SLF001
            prediction = self._parse_json(prediction)
            reference = None if reference is None else self._parse_json(reference)
        return super()._sample(prediction, reference, *args, **further)


class JsonEditDistanceEvaluator(JsonEqualityEvaluator):
    """How much of the reference's JSON, as `json.dumps` writes it, would have to be typed anew?

    Takes LangChain's `string_distance` and `canonicalize`, and the options of JsonEditDistance.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        LangChainEvaluator.__init__(self, _json.json_edit_distance(*args, **options))


class JsonSchemaEvaluator(LangChainEvaluator):
    """Does the output conform to the JSON Schema, that of the options or of each call?

    Takes the options of JsonSchema. Score True or False, as in LangChain. A violation is worded as
    by the package `jsonschema`; in our own words, in the same form, where that is not installed,
    finds nothing wrong or could take very long.
    """

    evaluation_name = "json_schema_validation"

    def __init__(self, **options: Any) -> None:
        super().__init__(_json.build("json_schema", **options))
