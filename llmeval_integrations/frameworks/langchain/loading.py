"""Evaluators by name, ours and LangChain's."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from enum import Enum
from typing import Any, Final

from llmeval_integrations.core import catalog
from llmeval_integrations.core.errors import (
    InvalidOptionError,
    MissingDependencyError,
    UnknownNameError,
)
from llmeval_integrations.core.quoting import hint
from llmeval_integrations.frameworks.langchain import distances, drop_ins, judged
from llmeval_integrations.frameworks.langchain.evaluation import evaluation
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator
from llmeval_integrations.frameworks.langchain.prompts import as_prompt

KINDS: Final[dict[str, Any]] = {
    "json_validity": drop_ins.JsonValidityEvaluator,
    "json_equality": drop_ins.JsonEqualityEvaluator,
    "json_edit_distance": drop_ins.JsonEditDistanceEvaluator,
    "json_schema": drop_ins.JsonSchemaEvaluator,
    "json_schema_validation": drop_ins.JsonSchemaEvaluator,
    "embedding_distance": distances.EmbeddingDistanceEvaluator,
    "pairwise_string_distance": distances.PairwiseStringDistanceEvaluator,
    "pairwise_embedding_distance": distances.PairwiseEmbeddingDistanceEvaluator,
    "qa": judged.QAEvalChain,
    "cot_qa": judged.CotQAEvalChain,
    "context_qa": judged.ContextQAEvalChain,
    "criteria": judged.CriteriaEvalChain,
    "labeled_criteria": judged.LabeledCriteriaEvalChain,
    "score_string": judged.ScoreStringEvalChain,
    "labeled_score_string": judged.LabeledScoreStringEvalChain,
    "pairwise_string": judged.PairwiseStringEvalChain,
    "labeled_pairwise_string": judged.LabeledPairwiseStringEvalChain,
    "trajectory": judged.TrajectoryEvalChain,
}
"""The classes that LangChain has under these names."""

_ALIASES: Final = {
    "json_schema_validation": "json_schema",
    "pairwise_string_distance": "string_distance",
    "pairwise_embedding_distance": "embedding_distance",
}
"""The evaluator of the core whose options a class takes."""


def load_evaluator(evaluator: str, *, llm: Any = None, **kwargs: Any) -> Any:
    """Build an evaluator by its name, LangChain's or ours.

    The name is a text or LangChain's `EvaluatorType`. `llm` is the model of those that ask one, a
    chat model or whatever else `load_client` takes; the others leave it alone, as in LangChain.
    A judge's `prompt` may be a template of LangChain's.
    Raises UnknownNameError for the name, InvalidOptionError for an option.
    """
    kind = KINDS.get(evaluator)
    if kind is not None and issubclass(kind, judged.ModelEvaluator):
        if llm is None:
            raise InvalidOptionError(f"{_plain(evaluator)} needs the option llm, the model to ask")
        return kind(llm, **kwargs)
    if kind is not None:
        return kind(**kwargs)
    options = {name: _plain(value) for name, value in kwargs.items()}
    try:
        model = _model_option(evaluator)
    except UnknownNameError as error:
        known = [*KINDS, *catalog.list_evaluators()]
        raise UnknownNameError(
            f"no evaluator is called {evaluator!r}; {hint(_plain(evaluator), known)}"
        ) from error
    if "prompt" in options:
        options["prompt"] = as_prompt(options["prompt"])
    if llm is not None and model is not None:
        options.setdefault(model, llm)
    return LangChainEvaluator(catalog.load_evaluator(_plain(evaluator), **options))


def load_evaluators(
    evaluators: Sequence[str], *, llm: Any = None, config: Any = None, **kwargs: Any
) -> list[Any]:
    """Build several evaluators by their names.

    Each gets those of `kwargs` that it takes; `config` maps a name to the options of that evaluator
    alone. Raises as `load_evaluator` does, and InvalidOptionError for an option that none takes.
    """
    if isinstance(evaluators, str):
        raise InvalidOptionError(f"expected a list of names, got {evaluators!r} alone")
    taken = {name: _options(name) for name in evaluators}
    for option in kwargs:
        known = [each for options in taken.values() for each in options]
        if option not in known:
            raise InvalidOptionError(
                f"none of them has the option {option!r}; {hint(option, known)}"
            )
    return [
        load_evaluator(
            name,
            llm=llm,
            **{option: value for option, value in kwargs.items() if option in taken[name]},
            **(config or {}).get(name, {}),
        )
        for name in evaluators
    ]


def register(*, replace: bool = False) -> list[str]:
    """Let LangChain's own `load_evaluator` build our evaluators too; give the names it learned.

    Names that LangChain has itself stay LangChain's unless `replace` is true, and always those that
    ask a model. Judges of our catalog take theirs as `model` there, for LangChain hands `llm` to
    its own alone.
    Raises MissingDependencyError where no LangChain that has a `load_evaluator` is installed.
    """
    known = getattr(evaluation("loading"), "_EVALUATOR_MAP", None)
    if not isinstance(known, dict):
        raise MissingDependencyError(
            "there is no langchain_classic.evaluation.loading._EVALUATOR_MAP to register in; run: "
            "pip install 'langchain-classic<2', or use load_evaluator of this package"
        )
    own = {name for name, kind in KINDS.items() if not issubclass(kind, judged.ModelEvaluator)}
    names = sorted({*catalog.list_evaluators(), *own})
    learned = {name: _class_for(name) for name in names if replace or name not in known}
    known.update(learned)
    return list(learned)


def _class_for(name: str) -> Any:
    """Return a class that builds the evaluator of this name: LangChain's map holds classes."""

    def build(_: type, **options: Any) -> Any:
        return load_evaluator(name, **options)

    # What it builds is a plain LangChainEvaluator, which can be pickled.
    return KINDS.get(name) or type(name, (LangChainEvaluator,), {"__new__": build})


def _model_option(name: str) -> str | None:
    """Return the option by which an evaluator of the catalog takes its model; None without one."""
    kind = catalog.evaluator_class(_plain(name))
    has_model = kind.is_judge and "model" in getattr(kind, "__dataclass_fields__", ())
    return "model" if has_model else None


def _options(name: str) -> list[str]:
    """List the options that the evaluator of a name takes."""
    kind = KINDS.get(name)
    if kind is not None and issubclass(kind, judged.ModelEvaluator):
        return list(inspect.signature(kind).parameters)
    own = [] if kind is None else list(inspect.signature(kind).parameters)
    core = catalog.evaluator_class(_ALIASES.get(_plain(name), _plain(name)))
    return [*own, *getattr(core, "__dataclass_fields__", ())]


def _plain(value: Any) -> Any:
    """Return the text behind a member of LangChain's enumerations, such as StringDistance."""
    return value.value if isinstance(value, Enum) and isinstance(value, str) else value
