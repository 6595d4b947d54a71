"""Our evaluators for LangChain: its interface, its result dicts, its names, and LCEL.

Works with langchain-core alone. Where `langchain_classic`, or the `langchain.evaluation` of
before 1.0, is installed, the classes here are true subclasses of its `StringEvaluator`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from llmeval_integrations import catalog, errors
from llmeval_integrations.drop_ins import (
    JsonEditDistanceDropIn,
    JsonEqualityDropIn,
    JsonSchemaDropIn,
    JsonValidityDropIn,
    Wrapper,
)
from llmeval_integrations.evaluator import Evaluator, JudgedEvaluator
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.jsonschema_words import jsonschema_message
from llmeval_integrations.result import Result
from llmeval_integrations.sample import MISSING, Missing, Sample
from llmeval_integrations.seen_messages import by_parts, seen
from llmeval_integrations.wording import shown

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig, RunnableLambda

try:
    import langchain_core as _langchain_core  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "langchain_core":
        raise
    raise errors.MissingDependencyError.of("langchain-core", "langchain") from error


def _evaluation(module: str) -> Any:
    """Import a module of LangChain's evaluation package; None where no LangChain has one."""
    for package in ("langchain_classic", "langchain"):
        try:
            return import_module(f"{package}.evaluation.{module}")
        except ModuleNotFoundError as error:
            # A package that is there and lacks something itself is broken, not absent.
            if error.name not in (package, f"{package}.evaluation"):
                raise
    return None


_StringEvaluator: Any = getattr(_evaluation("schema"), "StringEvaluator", object)


class _EvaluatorType(str, Enum):
    """LangChain's enumeration of names, as far as we have them, where LangChain's own is absent."""

    JSON_VALIDITY = "json_validity"
    JSON_EQUALITY = "json_equality"
    JSON_EDIT_DISTANCE = "json_edit_distance"
    JSON_SCHEMA_VALIDATION = "json_schema_validation"
    EXACT_MATCH = "exact_match"
    REGEX_MATCH = "regex_match"
    STRING_DISTANCE = "string_distance"


EvaluatorType: Any = getattr(_evaluation("schema"), "EvaluatorType", _EvaluatorType)
"""LangChain's enumeration of names, so that one line imports it and `load_evaluator`."""

__all__ = [
    "EvaluatorType",
    "JsonEditDistanceEvaluator",
    "JsonEqualityEvaluator",
    "JsonSchemaEvaluator",
    "JsonValidityEvaluator",
    "LangChainEvaluator",
    "load_evaluator",
    "load_evaluators",
    "register",
]

# Their twins in LangChain give a score and nothing else.
_SCORE_ALONE: Final = frozenset(
    ["exact_match", "json_edit_distance", "json_equality", "regex_match", "string_distance"]
)

_TEXTS: Final = frozenset((str, type(None)))
"""The types of what most callers hand over, which is no message."""


class LangChainEvaluator(Wrapper, _StringEvaluator):  # type: ignore[misc]
    """One of our evaluators as a LangChain `StringEvaluator`.

    Results are LangChain's dicts: `score`, and `reasoning` where the output did not pass and there
    is something to say. Where LangChain raises because the output is not JSON, the result is a
    low score with the reason. An unscored result has the score None. An input or a reference that
    is not needed is accepted without a warning. Raises InvalidOptionError for what is no Evaluator.
    """

    @property
    def evaluation_name(self) -> str:
        """The evaluator's name in the catalog."""
        return self.evaluator.name

    @property
    def requires_input(self) -> bool:
        """Whether there is no answer without the model's input."""
        return "input" in self.evaluator.needs

    @property
    def requires_reference(self) -> bool:
        """Whether there is no answer without a reference."""
        return "reference" in self.evaluator.needs

    def evaluate_strings(
        self, *, prediction: Any, reference: Any = None, input: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Evaluate one output of a model: a text, a parsed value, a message or several.

        Of messages, also those in LangGraph's state, ToolCalls and ToolCallSchema see all, the
        others the text of the last one; a judge sees all where that text is empty and tools are
        called. So it is with a reference. A message as a dict is a value like others.

        None is an absent reference or input, as everywhere in LangChain: write a reference that
        is JSON null as the text "null". Of further arguments `contexts`, `variables` and `id` go
        to the evaluator, `callbacks`, `tags` and `metadata` with a judge's requests to a chat model
        of LangChain's; whatever else LangChain hands on stops here.
        Raises MissingFieldError, a ValueError, where a reference or input is needed.
        """
        sample = self._sample(prediction, reference, input, kwargs)
        return self._answer(_told(self._asked, kwargs).evaluate(sample), sample)

    async def aevaluate_strings(
        self, *, prediction: Any, reference: Any = None, input: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Evaluate one output of a model without going through a thread."""
        sample = self._sample(prediction, reference, input, kwargs)
        return self._answer(await _told(self._asked, kwargs).aevaluate(sample), sample)

    # LangChain's base class has these two as what the two above call.
    _evaluate_strings = evaluate_strings
    _aevaluate_strings = aevaluate_strings

    def as_runnable(self) -> RunnableLambda[Any, dict[str, Any]]:
        """Return a Runnable, for `chain | evaluator.as_runnable()`.

        It takes what a chain ends with: a text, a message, a parsed value; or a mapping with
        `prediction` (or `output`, or LangGraph's `messages`) and, as needed, `reference`, `input`,
        `contexts`, `variables`, `id`, other keys being none of its business. It gives the dict of
        `evaluate_strings`.
        """
        from langchain_core.runnables import RunnableLambda

        def evaluate(output: Any, config: RunnableConfig) -> dict[str, Any]:
            return self.evaluate_strings(**_arguments(output), **_told_by(config))

        async def aevaluate(output: Any, config: RunnableConfig) -> dict[str, Any]:
            return await self.aevaluate_strings(**_arguments(output), **_told_by(config))

        return RunnableLambda(evaluate, aevaluate, name=self.evaluation_name)

    def _sample(
        self, prediction: Any, reference: Any, input: Any, further: Mapping[str, Any]
    ) -> Sample:
        needs = self.evaluator.needs
        if input is None and "input" in needs:
            raise self._missing("an input")
        if reference is None and "reference" in needs:
            raise self._missing("a reference")
        fields = (reference, input, *map(further.get, ("contexts", "variables", "id")))
        sample = Sample(prediction, *[MISSING if field is None else field for field in fields])
        if _TEXTS.issuperset((type(prediction), type(reference), type(input))):
            return sample
        if input is not MISSING and _last_message(input) is input:
            sample = msgspec.structs.replace(sample, input=_text(input))
        return _seen(self.evaluator, sample)

    @cached_property
    def _asked(self) -> Evaluator:
        """The evaluator, the parts of a sum seeing each what it reads of messages."""
        return by_parts(self.evaluator, _seen)

    def _missing(self, what: str) -> errors.MissingFieldError:
        kind = type(self.evaluator if type(self) is LangChainEvaluator else self)
        return errors.MissingFieldError(f"{kind.__name__} requires {what} string.")

    def _answer(self, result: Result, sample: Sample) -> dict[str, Any]:
        if isinstance(self.evaluator, JudgedEvaluator):
            return {"reasoning": result.reason, "value": result.label, "score": result.score}
        if result.passed:
            return {"score": result.score}
        reason = result.reason
        if isinstance(self.evaluator, JsonSchema) and "offset" not in result.metadata:
            found = result.metadata.get("errors", [{"message": reason}])
            message = jsonschema_message(self.evaluator, sample) or found[0]["message"]
            reason = f"<ValidationError: {message!r}>"
        if not reason or (self.evaluator.name in _SCORE_ALONE and not result.label):
            return {"score": result.score}
        return {"score": result.score, "reasoning": reason}


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


_DROP_INS: Final[dict[str, type[LangChainEvaluator]]] = {
    "json_validity": JsonValidityEvaluator,
    "json_equality": JsonEqualityEvaluator,
    "json_edit_distance": JsonEditDistanceEvaluator,
    "json_schema": JsonSchemaEvaluator,
    "json_schema_validation": JsonSchemaEvaluator,
}


# LangChain's names that are not ours, and what of ours comes nearest.
_THEIRS: Final[dict[str, str | None]] = {
    "criteria": "pass_fail(question=...)",
    "labeled_criteria": "pass_fail(question=...)",
    "qa": "correctness",
    "cot_qa": "correctness",
    "context_qa": None,
    "score_string": "judge(prompt=..., result_type=..., score=...)",
    "labeled_score_string": "judge(prompt=..., result_type=..., score=...)",
    "pairwise_string": None,
    "labeled_pairwise_string": None,
    "pairwise_string_distance": None,
    "embedding_distance": None,
    "pairwise_embedding_distance": None,
    "trajectory": None,
}


def load_evaluator(evaluator: str, *, llm: Any = None, **kwargs: Any) -> Any:
    """Build an evaluator by its name, ours first, else LangChain's own.

    The name is a text or LangChain's `EvaluatorType`. `llm` is the model of those that ask one, a
    chat model or whatever else `load_client` takes; the others leave it alone, as in LangChain.
    Raises UnknownNameError for a name that neither has, MissingDependencyError for one of
    LangChain's where its evaluators are not installed, InvalidOptionError for an option.
    """
    if evaluator in _DROP_INS:
        return _DROP_INS[evaluator](**kwargs)
    try:
        kind = catalog.evaluator_class(evaluator)
    except errors.UnknownNameError as error:
        return _load_from_langchain(evaluator, error, llm=llm, **kwargs)
    options = {name: _plain_text(value) for name, value in kwargs.items()}
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
    known = getattr(_evaluation("loading"), "_EVALUATOR_MAP", None)
    if not isinstance(known, dict):
        raise errors.MissingDependencyError(
            "there is no langchain_classic.evaluation.loading._EVALUATOR_MAP to register in; run: "
            f"pip install 'langchain-classic<2', or use {__name__}.load_evaluator"
        )
    names = sorted({*catalog.list_evaluators(), *_DROP_INS})
    learned = {name: _class_for(name) for name in names if replace or name not in known}
    known.update(learned)
    return list(learned)


def _class_for(name: str) -> type[LangChainEvaluator]:
    """Return a class that builds the evaluator of this name: LangChain's map holds classes."""

    def build(_: type, **options: Any) -> Any:
        if "client" not in options and _asks_a_model(catalog.evaluator_class(name)):
            raise errors.InvalidOptionError(
                f"{name} needs the option client, the model to ask; LangChain's load_evaluator "
                f"keeps llm to itself, that of {__name__} takes it"
            )
        return load_evaluator(name, **options)

    # What it builds is a plain LangChainEvaluator, which can be pickled.
    return _DROP_INS.get(name) or type(name, (LangChainEvaluator,), {"__new__": build})


def _asks_a_model(kind: type[Evaluator]) -> bool:
    return "client" in getattr(kind, "__dataclass_fields__", ())


def _load_from_langchain(name: str, unknown: errors.UnknownNameError, **options: Any) -> Any:
    """Let LangChain build the evaluator; raise the error again where it has none of that name."""
    loading = _evaluation("loading")
    if loading is None:
        if name not in _THEIRS:
            raise unknown
        ours = _THEIRS[name]
        raise errors.MissingDependencyError(
            f"{name!r} is LangChain's own; run: pip install langchain-classic"
            + (f"; ours in its stead is {ours}" if ours else "")
        ) from None
    known = list(getattr(loading, "_EVALUATOR_MAP", loading.EvaluatorType))
    if name not in known:
        theirs = ", ".join(sorted({str(_plain_text(each)) for each in known}))
        raise errors.UnknownNameError(f"{unknown}; LangChain has {theirs}") from None
    return loading.load_evaluator(name, **options)


def _told_by(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a RunnableConfig concerns a model that is asked."""
    return {key: config[key] for key in ("callbacks", "tags", "metadata") if config.get(key)}


def _told(evaluator: Evaluator, config: Mapping[str, Any]) -> Evaluator:
    """Let a judge's chat models know callbacks, tags and metadata."""
    told = _told_by(config)
    if not told or not isinstance(evaluator, JudgedEvaluator):
        return evaluator

    def tell(client: Any) -> Any:
        # Only the client of LangChain's own models can hand them on.
        return client.with_config(told) if hasattr(client, "with_config") else client

    return evaluator.with_clients(tell)


def _plain_text(value: Any) -> Any:
    """Return the text behind a member of LangChain's enumerations, such as StringDistance."""
    return value.value if isinstance(value, Enum) and isinstance(value, str) else value


def _arguments(output: Any) -> dict[str, Any]:
    """Make the arguments of `evaluate_strings` of what a chain ends with."""
    if not isinstance(output, Mapping):
        return {"prediction": output}
    fields = ("prediction", "output", "reference", "input", "contexts", "variables", "id")
    given = {field: output[field] for field in fields if field in output}
    if "prediction" not in given and "output" not in given:
        if _last_message(output) is MISSING:
            raise errors.InputError(
                f"a mapping needs the key 'prediction' or 'output', got {shown(list(output))}; "
                "to evaluate a mapping itself, hand on {'prediction': it}"
            )
        given["prediction"] = output["messages"]
    return {"prediction": given.pop("output", None), **given}


def _seen(evaluator: Evaluator, sample: Sample) -> Sample:
    """Return a sample with what the evaluator sees of messages in it."""
    views = {}
    for field in ("output", "reference"):
        given = getattr(sample, field)
        message = _last_message(given)
        if message is not MISSING:
            views[field] = seen(evaluator, given, _text(message))
    return msgspec.structs.replace(sample, **views) if views else sample


def _text(message: Any) -> str:
    from llmeval_integrations.clients.langchain import text_of

    return text_of(message)


def _last_message(thing: Any) -> Any:
    """Return a message, the last of a list or of LangGraph's state; MISSING where none is."""
    messages = thing.get("messages") if isinstance(thing, dict) else thing
    if messages is None or isinstance(messages, (str, Missing)):
        return MISSING
    from langchain_core.messages import BaseMessage

    if not isinstance(messages, (list, tuple)):
        messages = [messages]
    are_messages = messages and all(isinstance(each, BaseMessage) for each in messages)
    return messages[-1] if are_messages else MISSING
