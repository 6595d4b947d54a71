"""Evaluators for LlamaIndex by name, and those of JSON by LangChain's names."""

from __future__ import annotations

from typing import Any

from llama_index.core import Settings

from llmeval_integrations.core import catalog
from llmeval_integrations.frameworks import _json
from llmeval_integrations.frameworks._base import takes_model
from llmeval_integrations.frameworks.llama_index.evaluator import LlamaIndexEvaluator
from llmeval_integrations.frameworks.llama_index.prompts import as_prompt


def load_evaluator(name: str, /, *, llm: Any = None, **options: Any) -> LlamaIndexEvaluator:
    """Build an evaluator by its name in the catalog.

    `llm` is the model of those that ask one, `Settings.llm` by default; the others leave it alone.
    A judge's `prompt` may be LlamaIndex's, as for `update_prompts`.
    Raises UnknownNameError for the name, InvalidOptionError for an option.
    """
    if takes_model(catalog.evaluator_class(name)):
        options.setdefault("model", Settings.llm if llm is None else llm)
    if "prompt" in options:
        options["prompt"] = as_prompt(options["prompt"])
    return LlamaIndexEvaluator(catalog.load_evaluator(name, **options))


class JsonValidityEvaluator(LlamaIndexEvaluator):
    """Does the response parse as JSON?"""

    def __init__(self, **options: Any) -> None:
        super().__init__(_json.build("json_validity", **options))


class JsonEqualityEvaluator(LlamaIndexEvaluator):
    """Is the response the same JSON as the reference, top-level arrays in any order?"""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(_json.json_equality(*args, **options))


class JsonEditDistanceEvaluator(LlamaIndexEvaluator):
    """How much of the reference's JSON, as `json.dumps` writes it, would have to be typed anew?"""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(_json.json_edit_distance(*args, **options))


class JsonSchemaEvaluator(LlamaIndexEvaluator):
    """Does the response conform to the JSON Schema?"""

    def __init__(self, **options: Any) -> None:
        super().__init__(_json.build("json_schema", **options))
