"""One of our evaluators as a LangChain `StringEvaluator`, and as a Runnable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from typing import Any, Final

from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import run_in_executor, var_child_runnable_config

from llmeval_integrations.core.errors import InvalidOptionError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import add_article
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_evaluator import read
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.evaluators.string_distance import StringDistance
from llmeval_integrations.frameworks._base import FIELDS, Wrapper
from llmeval_integrations.frameworks._template_judge import make_marks, read_marked
from llmeval_integrations.json_values.values import measure

_KINDS: Final[dict[str, type[float]]] = {
    **dict.fromkeys(("exact_match", "regex_match", "json_validity"), int),
    **dict.fromkeys(("json_equality", "json_schema"), bool),
}
"""The types of LangChain's scores 1 and 0, where they are not float."""

_SCORES: Final = (
    *("embedding_distance", "exact_match", "json_edit_distance", "json_equality"),
    *("regex_match", "string_distance"),
)
"""The evaluators that give only a score in LangChain."""

_ARGUMENTS: Final = ("prediction", "prediction_b", "agent_trajectory", *FIELDS)
"""The arguments of LangChain's evaluators, and the fields of our samples."""

_ROLES: Final = {"human": "user", "ai": "assistant"}
"""The roles of messages that have another name in LangChain."""

_MOST_LEVELS: Final = 8
"""Levels of a value; in a recursive schema, each level may take `jsonschema` twice as long."""

_MOST_CHARACTERS: Final = 10_000
"""Size of a value; for `uniqueItems`, `jsonschema` compares each item with each."""


def evaluation_class(name: str, module: str = "schema") -> Any:
    """Return a class of LangChain's evaluation package, or an empty one without it."""
    for package in ("langchain_classic", "langchain"):
        try:
            return getattr(import_module(f"{package}.evaluation.{module}"), name)
        except ModuleNotFoundError as error:
            # If an installed package lacks a module of its own, it is broken, not absent.
            if error.name not in (package, f"{package}.evaluation"):
                raise
    return type(name, (), {})


StringEvaluator: Any = evaluation_class("StringEvaluator")


def plain(value: Any) -> Any:
    """Return the text of a member of LangChain's enumerations, or any other value unchanged."""
    return value.value if isinstance(value, Enum) and isinstance(value, str) else value


def as_prompt(template: Any) -> Any:
    """Return LangChain's prompt as a Prompt, or anything else unchanged.

    Raises InvalidOptionError for a prompt with variables that are not shown as texts, such as
    placeholders for messages, and for images.
    """
    if not isinstance(template, BasePromptTemplate):
        return template
    marks = make_marks([*template.input_variables, *template.optional_variables])
    try:
        messages = template.format_prompt(**marks).to_messages()
    except ValueError as error:
        raise InvalidOptionError(f"prompt: a variable is not a text: {error}") from error
    return read_marked(((_ROLES.get(one.type, one.type), one.content) for one in messages), marks)


class LangChainEvaluator(Wrapper, StringEvaluator, Runnable[Any, dict[str, Any]]):  # type: ignore[misc]
    """One of our evaluators as a LangChain `StringEvaluator`, and as a Runnable.

    Results are LangChain's dicts: `score`, and `reasoning` if the output does not pass and there is
    a reason. An output that is not JSON gives a low score with the reason, even if LangChain raises
    an error. An unscored result has the score None. An input or a reference that is not needed is
    accepted without a warning. Scores are floats, except for names that LangChain has too:
    `json_equality` and `json_schema` return True or False, `json_validity`, `exact_match` and
    `regex_match` 1 or 0.
    """

    evaluation_name: str = ""
    """The name in a trace: LangChain's, or else the evaluator's name in the catalog."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        own = self.name
        if isinstance(evaluator, StringDistance):
            own = f"{evaluator.distance}_distance"
        self.evaluation_name = self.evaluation_name or own

    @property
    def requires_input(self) -> bool:
        """Whether the evaluator needs the model's input."""
        return "input" in self.evaluator.needs

    @property
    def requires_reference(self) -> bool:
        """Whether the evaluator needs a reference; a JsonSchema needs one or a `schema`."""
        ours = self.evaluator
        is_schema = isinstance(ours, JsonSchema) and ours.schema is None
        return is_schema or "reference" in ours.needs

    def evaluate_strings(
        self, *, prediction: Any, reference: Any = None, input: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Evaluate an output: a text, a parsed value, messages, or a state with messages.

        None means an empty output, or an absent reference or input. A reference that is JSON null
        is the text "null". All further fields of a sample go to the evaluator. `callbacks`, `tags`
        and `metadata` go to a judge's chat model. All other arguments are ignored. Raises
        MissingFieldError, a ValueError, for a missing reference or input.
        """
        return self._evaluate_strings(
            prediction=prediction, reference=reference, input=input, **kwargs
        )

    async def aevaluate_strings(self, **kwargs: Any) -> dict[str, Any]:
        """Evaluate as `evaluate_strings` does, asynchronously."""
        # LangChain's subclasses override both of these methods, or only the first.
        kind, names = type(self), ("_evaluate_strings", "_aevaluate_strings")
        own = [name for name in names if getattr(kind, name) is not vars(LangChainEvaluator)[name]]
        if own == ["_evaluate_strings"]:
            found: dict[str, Any] = await run_in_executor(None, self._evaluate_strings, **kwargs)
            return found
        return await self._aevaluate_strings(**kwargs)

    def _evaluate_strings(self, **kwargs: Any) -> dict[str, Any]:
        sample = self._sample(**kwargs)
        with _set_config(kwargs):
            return self._answer(self.evaluator.evaluate(sample), sample)

    async def _aevaluate_strings(self, **kwargs: Any) -> dict[str, Any]:
        sample = self._sample(**kwargs)
        with _set_config(kwargs):
            return self._answer(await self.evaluator.aevaluate(sample), sample)

    def get_name(self, *_: Any, **__: Any) -> str:
        """Return the name in a trace."""
        return self.evaluation_name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:
        """Evaluate the output of a chain, in `chain | evaluator`.

        It is a text, a parsed value, messages, or a state of LangGraph. A mapping with `prediction`
        contains the arguments of the evaluation, such as `reference` and `prediction_b`.
        """

        def run(output: Any, config: Any) -> dict[str, Any]:
            return self.evaluate_strings(**_arguments(output), **config)

        return self._call_with_config(run, input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:
        """Evaluate the output of a chain asynchronously."""

        async def run(output: Any, config: Any) -> dict[str, Any]:
            return await self.aevaluate_strings(**_arguments(output), **config)

        return await self._acall_with_config(run, input, config)

    def _sample(self, prediction: Any, **further: Any) -> Sample:
        fields = {n: value for n, value in further.items() if value is not None and n in FIELDS}
        has_schema = isinstance(self.evaluator, JsonSchema) and "schema" in fields
        needs_reference = self.requires_reference and not has_schema
        for name, is_needed in (("input", self.requires_input), ("reference", needs_reference)):
            if is_needed and name not in fields:
                kind = type(self.evaluator if type(self) is LangChainEvaluator else self).__name__
                raise MissingFieldError(f"{kind} requires {add_article(name)} string.")
        return Sample(prediction, **fields)

    def _answer(self, result: Result, sample: Sample) -> dict[str, Any]:
        """Return a result as LangChain's dict."""
        if self.evaluator.is_judge:
            return {"reasoning": result.reason, "value": result.label, "score": result.score}
        score = result.score
        if score in (0, 1):  # the caller's operator may return another score
            score = _KINDS.get(self.name, float)(score)
        is_json = not {"message", "offset"} <= result.metadata.keys()
        # If an output is not JSON, LangChain gives the message of Python's parser.
        reason = result.reason if is_json else result.metadata["message"]
        is_bare = is_json and result.scored and self.name in _SCORES
        if result.passed or is_bare or not reason:
            return {"score": score}
        if is_json and isinstance(self.evaluator, JsonSchema):
            errors = result.metadata.get("errors", [{"message": reason}])
            message = _find_message(self.evaluator, sample) or errors[0]["message"]
            reason = f"<ValidationError: {message!r}>"
        return {"score": score, "reasoning": reason}


@contextmanager
def _set_config(config: Mapping[str, Any]) -> Iterator[None]:
    """Pass callbacks, tags and metadata to LangChain's models that are asked inside."""
    keys = ("callbacks", "tags", "metadata")
    token = var_child_runnable_config.set({key: config[key] for key in keys if config.get(key)})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _arguments(output: Any) -> dict[str, Any]:
    """Return the arguments of an evaluation for the output of a chain."""
    if isinstance(output, Mapping) and "prediction" in output:
        return {name: output[name] for name in _ARGUMENTS if name in output}
    return {"prediction": output}


def _find_message(evaluator: JsonSchema, sample: Sample) -> str | None:
    """Return the message of `jsonschema` for an output that does not conform, as LangChain does.

    None if the package is not installed, fails, or could take very long.
    """
    try:
        import jsonschema
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        return None
    schema = (evaluator.compiled or evaluator.compile_own(sample)).read()
    value = read(sample, "output", evaluator.parsing)
    text = repr(schema)
    # Patterns would be matched by `re`, which may never end; numbers beyond a float are Decimals.
    if (
        measure(value).levels > _MOST_LEVELS
        or len(repr(value)) > _MOST_CHARACTERS
        or re.search("'pattern(Properties)?'", text)
        or "Decimal('" in repr(value) + text
    ):
        return None
    draft = f"Draft{str(evaluator.draft).replace('-', '')}Validator"
    kind = getattr(jsonschema, draft, None) or jsonschema.validators.validator_for(schema)
    if isinstance(schema, dict):
        # With `$schema`, a $ref to the root would switch to the keywords of that draft.
        schema = {key: part for key, part in schema.items() if key != "$schema"}
    formats = kind.FORMAT_CHECKER if evaluator.check_formats else None
    try:
        # Unlike the default, REGISTRY fetches nothing. It contains the metaschemas.
        validator = kind(schema, registry=REGISTRY, format_checker=formats)
        error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    except Exception:  # noqa: BLE001 - the verdict stands; jsonschema may raise anything
        return None
    return error and str(error.message)
