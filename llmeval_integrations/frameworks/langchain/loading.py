"""Evaluators by name, ours and LangChain's."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from enum import Enum
from typing import Any, Final

from llmeval_integrations.core import catalog
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quote import hint
from llmeval_integrations.frameworks._base import takes_model
from llmeval_integrations.frameworks.langchain import distances, json, judges
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator, as_prompt

CLASSES: Final[dict[str, Any]] = {
    "qa": judges.QAEvalChain,
    "cot_qa": judges.CotQAEvalChain,
    "context_qa": judges.ContextQAEvalChain,
    "criteria": judges.CriteriaEvalChain,
    "labeled_criteria": judges.LabeledCriteriaEvalChain,
    "score_string": judges.ScoreStringEvalChain,
    "labeled_score_string": judges.LabeledScoreStringEvalChain,
    "pairwise_string": judges.PairwiseStringEvalChain,
    "labeled_pairwise_string": judges.LabeledPairwiseStringEvalChain,
    "trajectory": judges.TrajectoryEvalChain,
    "json_validity": json.JsonValidityEvaluator,
    "json_equality": json.JsonEqualityEvaluator,
    "json_edit_distance": json.JsonEditDistanceEvaluator,
    "json_schema": json.JsonSchemaEvaluator,
    "json_schema_validation": json.JsonSchemaEvaluator,
    "embedding_distance": distances.EmbeddingDistanceEvaluator,
    "pairwise_string_distance": distances.PairwiseStringDistanceEvaluator,
    "pairwise_embedding_distance": distances.PairwiseEmbeddingDistanceEvaluator,
}
"""LangChain's classes by its names; those of judges take the model as `llm`."""

_CORE_NAMES: Final = {
    "json_schema_validation": "json_schema",
    "pairwise_string_distance": "string_distance",
    "pairwise_embedding_distance": "embedding_distance",
}
"""The evaluator of the core whose options a class takes, where its name is another."""


def load_evaluator(evaluator: str, *, llm: Any = None, **kwargs: Any) -> Any:
    """Build an evaluator by its name, LangChain's or ours.

    The name is a text or LangChain's `EvaluatorType`. `llm` is the model of those that ask one, a
    chat model or whatever else `load_client` takes; the others leave it alone, as in LangChain.
    A judge's `prompt` may be a template of LangChain's.
    Raises UnknownNameError for the name, InvalidOptionError for an option.
    """
    name = _plain(evaluator)
    kind = CLASSES.get(name)
    if kind is not None and issubclass(kind, judges.ModelEvaluator):
        if llm is None:
            raise InvalidOptionError(f"{name} needs the option llm, the model to ask")
        return kind(llm, **kwargs)
    if kind is not None:
        return kind(**kwargs)
    ours = catalog.evaluator_class(name)
    options = {key: _plain(value) for key, value in kwargs.items()}
    if "prompt" in options:
        options["prompt"] = as_prompt(options["prompt"])
    if llm is not None and takes_model(ours):
        options.setdefault("model", llm)
    return LangChainEvaluator(catalog.load_evaluator(name, **options))


def load_evaluators(
    evaluators: Sequence[str], *, llm: Any = None, config: Any = None, **kwargs: Any
) -> list[Any]:
    """Build several evaluators by their names.

    Each gets those of `kwargs` that it takes; `config` maps a name to the options of that evaluator
    alone. Raises as `load_evaluator` does, and InvalidOptionError for an option that none takes.
    """
    taken = {name: _options(_plain(name)) for name in evaluators}
    for option in kwargs:
        known = [each for options in taken.values() for each in options]
        if option not in known:
            raise InvalidOptionError(
                f"none of them has the option {option!r}; {hint(option, known)}"
            )
    loaded = []
    for name in evaluators:
        options = {option: value for option, value in kwargs.items() if option in taken[name]}
        loaded.append(load_evaluator(name, llm=llm, **options, **(config or {}).get(name, {})))
    return loaded


def _options(name: str) -> list[str]:
    """List the options that the evaluator of a name takes."""
    kind = CLASSES.get(name)
    own = [] if kind is None else list(inspect.signature(kind).parameters)
    if kind is not None and issubclass(kind, judges.ModelEvaluator):
        return own
    core = catalog.evaluator_class(_CORE_NAMES.get(name, name))
    return [*own, *getattr(core, "__dataclass_fields__", ())]


def _plain(value: Any) -> Any:
    """Return the text behind a member of LangChain's enumerations, such as StringDistance."""
    return value.value if isinstance(value, Enum) and isinstance(value, str) else value
