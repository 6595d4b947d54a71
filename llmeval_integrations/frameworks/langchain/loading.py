"""Build evaluators by name, ours and LangChain's."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Final

from llmeval_integrations.core import catalog
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.frameworks._base import takes_model
from llmeval_integrations.frameworks.langchain import drop_ins, judges
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator, as_prompt, plain

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
    "json_validity": drop_ins.JsonValidityEvaluator,
    "json_equality": drop_ins.JsonEqualityEvaluator,
    "json_edit_distance": drop_ins.JsonEditDistanceEvaluator,
    "json_schema": drop_ins.JsonSchemaEvaluator,
    "json_schema_validation": drop_ins.JsonSchemaEvaluator,
    "embedding_distance": drop_ins.EmbeddingDistanceEvaluator,
    "pairwise_string_distance": drop_ins.PairwiseStringDistanceEvaluator,
    "pairwise_embedding_distance": drop_ins.PairwiseEmbeddingDistanceEvaluator,
}
"""LangChain's classes by its names."""


def load_evaluator(evaluator: str, *, llm: Any = None, **kwargs: Any) -> Any:
    """Build an evaluator by its name, LangChain's or ours.

    The name is a text or LangChain's `EvaluatorType`. A judge asks `llm`, a chat model or anything
    else that `load_client` accepts, and its `prompt` may be a template of LangChain. All other
    evaluators ignore `llm`. Raises UnknownNameError for the name, InvalidOptionError for an option.
    """
    name = plain(evaluator)
    kind = CLASSES.get(name)
    if kind is None:
        options = {key: as_prompt(plain(value)) for key, value in kwargs.items()}
        core = catalog.evaluator_class(name, CLASSES)
        if llm is not None and takes_model(core):
            options.setdefault("model", llm)
        return LangChainEvaluator(catalog.load_evaluator(name, **options))
    if issubclass(kind, judges.ModelEvaluator):
        if llm is None:
            raise InvalidOptionError(f"{name} needs the option llm, the model to ask")
        catalog.check_options(name, kwargs, _options(name))
        kwargs["llm"] = llm
    return kind(**kwargs)


def load_evaluators(
    evaluators: Sequence[str], *, llm: Any = None, config: Any = None, **kwargs: Any
) -> list[Any]:
    """Build several evaluators by their names.

    Each receives those of `kwargs` that it accepts. `config` maps a name to the options of only
    that evaluator, which count before those of `kwargs`. Raises as `load_evaluator`, and
    InvalidOptionError for an option that none accepts, and for a name that is not loaded.
    """
    accepted = {name: _options(plain(name)) for name in evaluators}
    known = dict.fromkeys(option for options in accepted.values() for option in options)
    catalog.check_options("load_evaluators", kwargs, known)
    own = config or {}
    catalog.check_options("config", own, accepted)
    loaded = []
    for name in evaluators:
        shared = {option: value for option, value in kwargs.items() if option in accepted[name]}
        loaded.append(load_evaluator(name, **{"llm": llm, **shared, **own.get(name, {})}))
    return loaded


def _options(name: str) -> list[str]:
    """Return the options of the evaluator with a name."""
    kind = CLASSES.get(name)
    kinds = [] if kind is None else [kind]
    if kind is None or issubclass(kind, drop_ins.CatalogEvaluator):
        kinds.append(catalog.evaluator_class(getattr(kind, "core_name", name), CLASSES))
    parameters = [one for each in kinds for one in inspect.signature(each).parameters.values()]
    return [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]
