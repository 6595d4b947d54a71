"""Evaluators by name, ours and LangChain's."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Final

from llmeval_integrations.core import catalog, errors
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.frameworks.langchain.distances import (
    EmbeddingDistanceEvaluator,
    PairwiseEmbeddingDistanceEvaluator,
    PairwiseStringDistanceEvaluator,
)
from llmeval_integrations.frameworks.langchain.drop_ins import (
    JsonEditDistanceEvaluator,
    JsonEqualityEvaluator,
    JsonSchemaEvaluator,
    JsonValidityEvaluator,
)
from llmeval_integrations.frameworks.langchain.evaluation import evaluation
from llmeval_integrations.frameworks.langchain.evaluator import LangChainEvaluator
from llmeval_integrations.frameworks.langchain.prompts import as_prompt

_HERE: Final = "llmeval_integrations.frameworks.langchain"

KINDS: Final[dict[str, Any]] = {
    "json_validity": JsonValidityEvaluator,
    "json_equality": JsonEqualityEvaluator,
    "json_edit_distance": JsonEditDistanceEvaluator,
    "json_schema": JsonSchemaEvaluator,
    "json_schema_validation": JsonSchemaEvaluator,
    "embedding_distance": EmbeddingDistanceEvaluator,
    "pairwise_string_distance": PairwiseStringDistanceEvaluator,
    "pairwise_embedding_distance": PairwiseEmbeddingDistanceEvaluator,
}
"""The classes that LangChain has under these names."""

THEIRS: Final[dict[str, str | None]] = {
    "criteria": "pass_fail(question=...)",
    "labeled_criteria": "pass_fail(question=...)",
    "qa": "correctness",
    "cot_qa": "correctness",
    "context_qa": None,
    "score_string": "judge(prompt=..., result_type=..., score=...)",
    "labeled_score_string": "judge(prompt=..., result_type=..., score=...)",
    "pairwise_string": None,
    "labeled_pairwise_string": None,
    "trajectory": None,
}
"""LangChain's names that are not ours, and what of ours comes nearest."""


def load_evaluator(evaluator: str, *, llm: Any = None, **kwargs: Any) -> Any:
    """Build an evaluator by its name, ours first, else LangChain's own.

    The name is a text or LangChain's `EvaluatorType`. `llm` is the model of those that ask one, a
    chat model or whatever else `load_client` takes; the others leave it alone, as in LangChain.
    A judge's `prompt` may be a template of LangChain's.
    Raises UnknownNameError for a name that neither has, MissingDependencyError for one of
    LangChain's where its evaluators are not installed, InvalidOptionError for an option.
    """
    if evaluator in KINDS:
        return KINDS[evaluator](**kwargs)
    try:
        kind = catalog.evaluator_class(evaluator)
    except errors.UnknownNameError as error:
        return _load_from_langchain(evaluator, error, llm=llm, **kwargs)
    options = {name: _plain_text(value) for name, value in kwargs.items()}
    if "prompt" in options:
        options["prompt"] = as_prompt(options["prompt"])
    if llm is not None and _asks_a_model(kind):
        options.setdefault("client", llm)
    return LangChainEvaluator(catalog.load_evaluator(evaluator, **options))


def load_evaluators(
    evaluators: Sequence[str], *, llm: Any = None, config: Any = None, **kwargs: Any
) -> list[Any]:
    """Build several evaluators by their names.

    `config` maps a name to the options of that evaluator alone, `kwargs` go to all of them.
    Raises as `load_evaluator` does.
    """
    if isinstance(evaluators, str):
        raise errors.InvalidOptionError(f"expected a list of names, got {evaluators!r} alone")
    return [
        load_evaluator(evaluator, llm=llm, **{**kwargs, **(config or {}).get(evaluator, {})})
        for evaluator in evaluators
    ]


def register(*, replace: bool = False) -> list[str]:
    """Let LangChain's own `load_evaluator` build our evaluators too; give the names it learned.

    Names that LangChain has itself stay LangChain's unless `replace` is true. A judge's model is
    `client=...` there, for LangChain hands `llm` to evaluators of its own alone. Raises
    MissingDependencyError where no LangChain that has a `load_evaluator` is installed.
    """
    known = getattr(evaluation("loading"), "_EVALUATOR_MAP", None)
    if not isinstance(known, dict):
        raise errors.MissingDependencyError(
            "there is no langchain_classic.evaluation.loading._EVALUATOR_MAP to register in; run: "
            f"pip install 'langchain-classic<2', or use {_HERE}.load_evaluator"
        )
    names = sorted({*catalog.list_evaluators(), *KINDS})
    learned = {name: _class_for(name) for name in names if replace or name not in known}
    known.update(learned)
    return list(learned)


def _class_for(name: str) -> Any:
    """Return a class that builds the evaluator of this name: LangChain's map holds classes."""

    def build(_: type, **options: Any) -> Any:
        if "client" not in options and _asks_a_model(catalog.evaluator_class(name)):
            raise errors.InvalidOptionError(
                f"{name} needs the option client, the model to ask; LangChain's load_evaluator "
                f"keeps llm to itself, that of {_HERE} takes it"
            )
        return load_evaluator(name, **options)

    # What it builds is a plain LangChainEvaluator, which can be pickled.
    return KINDS.get(name) or type(name, (LangChainEvaluator,), {"__new__": build})


def _asks_a_model(kind: type[Evaluator]) -> bool:
    return "client" in getattr(kind, "__dataclass_fields__", ())


def _load_from_langchain(name: str, unknown: errors.UnknownNameError, **options: Any) -> Any:
    """Let LangChain build the evaluator; raise the error again where it has none of that name."""
    loading = evaluation("loading")
    if loading is None:
        if name not in THEIRS:
            raise unknown
        ours = THEIRS[name]
        raise errors.MissingDependencyError(
            f"{name!r} is LangChain's own; run: pip install langchain-classic"
            + (f"; ours in its stead is {ours}" if ours else "")
        ) from None
    known = list(getattr(loading, "_EVALUATOR_MAP", loading.EvaluatorType))
    if name not in known:
        theirs = ", ".join(sorted({str(_plain_text(each)) for each in known}))
        raise errors.UnknownNameError(f"{unknown}; LangChain has {theirs}") from None
    return loading.load_evaluator(name, **options)


def _plain_text(value: Any) -> Any:
    """Return the text behind a member of LangChain's enumerations, such as StringDistance."""
    return value.value if isinstance(value, Enum) and isinstance(value, str) else value
