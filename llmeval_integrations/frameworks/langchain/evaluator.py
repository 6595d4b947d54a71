"""One of our evaluators as a LangChain `StringEvaluator`, and as a Runnable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

from langchain_core.prompts import BasePromptTemplate, PromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from llmeval_integrations.core.errors import InvalidOptionError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.evaluators.text_evaluator import TextEvaluator
from llmeval_integrations.frameworks._base import FIELDS, Wrapper
from llmeval_integrations.frameworks.langchain.violations import best_message
from llmeval_integrations.judges.prompts.prompt import Prompt


def evaluation_class(name: str) -> Any:
    """Find a base class of LangChain's evaluation package; an empty one where there is none."""
    for package in ("langchain_classic", "langchain"):
        try:
            return getattr(import_module(f"{package}.evaluation.schema"), name)
        except ModuleNotFoundError as error:
            # A package that is there and lacks something itself is broken, not absent.
            if error.name not in (package, f"{package}.evaluation"):
                raise
    return type(name, (), {})


StringEvaluator: Any = evaluation_class("StringEvaluator")

_KINDS: Final[dict[str, type[float]]] = {
    **dict.fromkeys(("exact_match", "regex_match", "json_validity"), int),
    **dict.fromkeys(("json_equality", "json_schema"), bool),
}
"""What LangChain's twins of our evaluators write for 1.0, where that is no float."""

_SCORES: Final = (
    *("embedding_distance", "exact_match", "json_edit_distance", "json_equality"),
    *("regex_match", "string_distance"),
)
"""The evaluators whose twins in LangChain give a score alone."""


class LangChainEvaluator(Wrapper, StringEvaluator, Runnable[Any, dict[str, Any]]):  # type: ignore[misc]
    """One of our evaluators as a LangChain `StringEvaluator`, and as a Runnable.

    Results are LangChain's dicts: `score`, and `reasoning` where the output did not pass and there
    is something to say. Where LangChain raises because the output is not JSON, the result is a low
    score with the reason. An unscored result has the score None. An input or a reference that is
    not needed is accepted without a warning. Scores are floats but where LangChain has an evaluator
    of the name: `json_equality` and `json_schema` give True or False, `json_validity`,
    `exact_match` and `regex_match` 1 or 0. Raises InvalidOptionError for what is not an Evaluator.
    """

    evaluation_name: str = ""
    """What a trace calls it: the evaluator's name in the catalog, or LangChain's name for it."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self.evaluation_name = self.evaluation_name or self.name

    @property
    def requires_input(self) -> bool:
        """Whether there is no answer without the model's input."""
        return "input" in self.evaluator.needs

    @property
    def requires_reference(self) -> bool:
        """Whether there is no answer without a reference, or for a JsonSchema a `schema`."""
        ours = self.evaluator
        is_schema = isinstance(ours, JsonSchema) and ours.schema is None
        return is_schema or "reference" in ours.needs

    def evaluate_strings(
        self, *, prediction: Any, reference: Any = None, input: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Evaluate one output of a model: a text, a parsed value, messages, or a state with these.

        None is what a model gave that wrote nothing, and an absent reference or input: write a
        reference that is JSON null as the text "null". Of further arguments the fields of a sample
        go to the evaluator, `callbacks`, `tags` and `metadata` with a judge's requests to a chat
        model of LangChain's; whatever else LangChain hands on stops here.
        Raises MissingFieldError, a ValueError, where a reference or input is needed.
        """
        fields = {"prediction": prediction, "reference": reference, "input": input}
        return self._evaluate_strings(**fields, **kwargs)

    async def aevaluate_strings(self, **kwargs: Any) -> dict[str, Any]:
        """Evaluate as `evaluate_strings` does, without going through a thread."""
        return await self._aevaluate_strings(**kwargs)

    # LangChain's subclasses override these two.

    def _evaluate_strings(self, **kwargs: Any) -> dict[str, Any]:
        sample = self._sample(**kwargs)
        with _set_config(kwargs):
            return self._answer(self.evaluator.evaluate(sample), sample)

    async def _aevaluate_strings(self, **kwargs: Any) -> dict[str, Any]:
        sample = self._sample(**kwargs)
        with _set_config(kwargs):
            return self._answer(await self.evaluator.aevaluate(sample), sample)

    def get_name(self, *_: Any, **__: Any) -> str:
        """Return what a trace calls it."""
        return self.evaluation_name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> dict[str, Any]:
        """Evaluate what a chain ends with, for `chain | evaluator`.

        That is a text, a parsed value, messages, a state of LangGraph; or a mapping with
        `prediction` and, as needed, `reference`, `input` and other fields of a sample. It gives the
        dict of `evaluate_strings`.
        """

        def evaluate(output: Any, config: RunnableConfig) -> dict[str, Any]:
            return self.evaluate_strings(**_arguments(output), **_find_config(config))

        found: dict[str, Any] = self._call_with_config(evaluate, input, config)
        return found

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **_: Any
    ) -> dict[str, Any]:
        """Evaluate what a chain ends with, and await the model."""

        async def evaluate(output: Any, config: RunnableConfig) -> dict[str, Any]:
            return await self.aevaluate_strings(**_arguments(output), **_find_config(config))

        found: dict[str, Any] = await self._acall_with_config(evaluate, input, config)
        return found

    def _sample(
        self, prediction: Any, reference: Any = None, input: Any = None, **further: Any
    ) -> Sample:
        kind = type(self.evaluator if type(self) is LangChainEvaluator else self).__name__
        if input is None and self.requires_input:
            raise MissingFieldError(f"{kind} requires an input string.")
        is_schema = isinstance(self.evaluator, JsonSchema) and further.get("schema") is not None
        if reference is None and self.requires_reference and not is_schema:
            raise MissingFieldError(f"{kind} requires a reference string.")
        fields = {"reference": reference, "input": input, **further}
        present = {
            name: value for name, value in fields.items() if value is not None and name in FIELDS
        }
        return Sample(prediction, **present)

    def _answer(self, result: Result, sample: Sample) -> dict[str, Any]:
        """Say a result in LangChain's words."""
        if self.evaluator.is_judge:
            return {"reasoning": result.reason, "value": result.label, "score": result.score}
        score = result.score
        if score in (0, 1):  # an operator of the caller's may give another
            score = _KINDS.get(self.name, float)(score)
        if result.passed:
            return {"score": score}
        # Of what is not JSON LangChain gives the message of Python's parser.
        reason = result.metadata.get("message", result.reason)
        if isinstance(self.evaluator, JsonSchema) and "offset" not in result.metadata:
            found = result.metadata.get("errors", [{"message": reason}])
            message = best_message(self.evaluator, sample) or found[0]["message"]
            reason = f"<ValidationError: {message!r}>"
        is_text = isinstance(self.evaluator, TextEvaluator)
        if not reason or (self.name in _SCORES and (is_text or not result.label)):
            return {"score": score}
        return {"score": score, "reasoning": reason}


def _find_config(config: Mapping[str, Any]) -> RunnableConfig:
    """Return what of a RunnableConfig concerns a model that is asked."""
    return {key: config[key] for key in ("callbacks", "tags", "metadata") if config.get(key)}


@contextmanager
def _set_config(config: Mapping[str, Any]) -> Iterator[None]:
    """Let LangChain's models that are asked inside know callbacks, tags and metadata."""
    token = var_child_runnable_config.set({**_find_config(config)})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _arguments(output: Any) -> dict[str, Any]:
    """Make the arguments of `evaluate_strings` of what a chain ends with."""
    if isinstance(output, Mapping) and "prediction" in output:
        return {name: output[name] for name in ("prediction", *FIELDS) if name in output}
    return {"prediction": output}


_ROLES: Final = {
    "PromptTemplate": "user",
    "HumanMessagePromptTemplate": "user",
    "SystemMessagePromptTemplate": "system",
    "AIMessagePromptTemplate": "assistant",
}


def as_prompt(template: Any) -> Any:
    """Read a prompt of LangChain's; anything else is given back, for a Prompt to read.

    Raises InvalidOptionError for one that is more than templates of text: messages as they stand,
    places for messages, images, values that are given already.
    """
    if not isinstance(template, BasePromptTemplate):
        return template
    messages, syntaxes = [], set()
    for message in getattr(template, "messages", [template]):
        text, role = getattr(message, "prompt", message), _ROLES.get(type(message).__name__)
        is_text = role is not None and isinstance(text, PromptTemplate)
        if not is_text or template.partial_variables or text.partial_variables:
            raise InvalidOptionError(
                f"prompt: {quote(message)} is no template of text alone; write a text, or a list "
                "of messages, which are written {'role': ..., 'content': ...}"
            )
        messages.append({"role": role, "content": text.template})
        syntaxes.add(text.template_format)
    return Prompt(messages, *syntaxes)
