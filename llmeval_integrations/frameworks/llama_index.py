"""Our evaluators for LlamaIndex: a `BaseEvaluator` that its `BatchEvalRunner` can run."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from llmeval_integrations.core.catalog import evaluator_class
from llmeval_integrations.core.catalog import load_evaluator as catalog_load_evaluator
from llmeval_integrations.core.errors import (
    EvalError,
    InputError,
    InvalidOptionError,
    MissingDependencyError,
    MissingFieldError,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.text import to_text
from llmeval_integrations.frameworks._drop_ins import (
    JsonEditDistanceDropIn,
    JsonEqualityDropIn,
    JsonSchemaDropIn,
    JsonValidityDropIn,
    Wrapper,
)
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.llm.steps import Step, Steps, adrive, drive
from llmeval_integrations.messages.reading import read_answer

try:
    from llama_index.core import Settings
    from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
    from llama_index.core.llms import ChatMessage
    from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, PromptTemplate
except ModuleNotFoundError as error:
    if error.name not in ("llama_index", "llama_index.core"):
        raise
    raise MissingDependencyError.of("llama-index-core", "llamaindex") from error


class LabelledEvaluationResult(EvaluationResult):  # type: ignore[misc]
    """LlamaIndex's result, with the two things more that our results say."""

    label: str | None = None
    """A short name of what was found, such as a defect, to count over a batch."""

    metadata: dict[str, Any]
    """Details, by name."""


class LlamaIndexEvaluator(Wrapper, BaseEvaluator):  # type: ignore[misc]
    """One of our evaluators as a LlamaIndex `BaseEvaluator`.

    `score` is a float, `passing` the verdict, `feedback` the reason. A result without a score has
    `invalid_result`, `invalid_reason` and the score None. So has a bad call, that is whatever
    raises an EvalError elsewhere (no reference, a broken one): `BatchEvalRunner` would try it three
    times, for 8 seconds, and then lose the whole batch. Any other exception is raised, as it is
    nobody's data but a mistake in code.
    """

    def evaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        reference: Any = None,
        schema: Any = None,
        **_: Any,
    ) -> LabelledEvaluationResult:
        """Evaluate one response: a text, a value that is already parsed, or messages.

        None is an absent argument, as everywhere in LlamaIndex: write a response or a reference
        that is JSON null as the text "null". Further arguments are left alone, since
        `BatchEvalRunner` hands each evaluator those of all; `sleep_time_in_seconds` is one. Needs
        no event loop, and works where one is running.
        """
        return drive(self._steps(query, response, contexts, reference, schema))

    async def aevaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        reference: Any = None,
        schema: Any = None,
        **_: Any,
    ) -> LabelledEvaluationResult:
        """Evaluate one response as `evaluate` does, and await what has to be waited for."""
        return await adrive(self._steps(query, response, contexts, reference, schema))

    def evaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> LabelledEvaluationResult:
        """Evaluate what a query engine gave: a `Response`, a streaming or a Pydantic one.

        A stream is read to its end, a Pydantic response evaluated as the object that it holds; a
        stream that was read before, and whose text nobody kept, has an `invalid_result`.
        Contexts are the texts of the source nodes, unless they are given. Raises InputError for
        any other object, and for a chat's stream that has not been read.
        """
        return drive(self._steps_of_response(query, response, **kwargs))

    async def aevaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> LabelledEvaluationResult:
        """Evaluate what a query engine gave, as `evaluate_response` does."""
        return await adrive(self._steps_of_response(query, response, **kwargs))

    def _steps(
        self,
        query: Any,
        response: Any,
        contexts: Sequence[str] | str | None,
        reference: Any,
        schema: Any,
    ) -> Steps[LabelledEvaluationResult]:
        """Ask our evaluator, and say its result, or why there is none, in LlamaIndex's words."""
        contexts = [contexts] if isinstance(contexts, str) else contexts
        said = None
        try:
            if response is None:
                raise MissingFieldError(
                    f"{self.evaluator.name} needs a response; pass response=..."
                )
            said = read_answer(response).value
            response = said if _is_stream(response) else response
            given = (reference, query, contexts, schema)
            fields = (MISSING if field is None else field for field in given)
            result = yield _Evaluation(self.evaluator, Sample(response, *fields))
        except EvalError as error:
            result = Result.unscored(str(error))
        return LabelledEvaluationResult(
            query=_text(query),
            contexts=None if contexts is None else list(map(_text, contexts)),
            response=_text(said),
            passing=result.passed,
            score=result.score,
            feedback=_text(result.reason),
            invalid_result=result.is_unscored,
            invalid_reason=_text(result.reason) if result.is_unscored else None,
            label=result.label,
            metadata=result.metadata,
        )

    def _steps_of_response(
        self,
        query: Any,
        response: Any,
        contexts: Any = None,
        reference: Any = None,
        schema: Any = None,
        **_: Any,
    ) -> Steps[LabelledEvaluationResult]:
        if _is_stream(response) and not inspect.isgenerator(response.response_gen):
            response = yield _Reading(response)
        output, sources = _output_and_contexts(response)
        contexts = sources if contexts is None else contexts
        return (yield from self._steps(query, output, contexts, reference, schema))

    def _get_prompts(self) -> dict[str, Any]:
        """Return a judge's prompt in LlamaIndex's form, its variables as they are written."""
        prompt = getattr(self.evaluator, "prompt", None)
        return {"prompt": _as_template(prompt)} if isinstance(prompt, Prompt) else {}

    def _update_prompts(self, prompts: Mapping[str, Any]) -> None:
        """Take another prompt for a judge: LlamaIndex's form, or what a Prompt is made of."""
        unknown = [name for name in prompts if name not in self._get_prompts()]
        if unknown:
            known = ", ".join(self._get_prompts()) or "none"
            raise InvalidOptionError(
                f"{self.evaluator.name} has no prompt {quote(unknown)} to update; it has {known}"
            )
        judge: Any = self.evaluator
        for name, prompt in prompts.items():
            judge = replace(judge, **{name: _as_prompt(prompt)})
        self.evaluator = judge


def load_evaluator(name: str, /, *, llm: Any = None, **options: Any) -> LlamaIndexEvaluator:
    """Build an evaluator by its name in the catalog.

    `llm` is the model of those that ask one, `Settings.llm` by default; the others leave it alone.
    A judge's `prompt` may be LlamaIndex's, as for `update_prompts`.
    Raises UnknownNameError for the name, InvalidOptionError for an option.
    """
    if "client" in getattr(evaluator_class(name), "__dataclass_fields__", ()):
        options.setdefault("client", Settings.llm if llm is None else llm)
    if isinstance(options.get("prompt"), BasePromptTemplate):
        options["prompt"] = _as_prompt(options["prompt"])
    return LlamaIndexEvaluator(catalog_load_evaluator(name, **options))


class JsonValidityEvaluator(JsonValidityDropIn, LlamaIndexEvaluator):
    """Does the response parse as JSON?"""


class JsonEqualityEvaluator(JsonEqualityDropIn, LlamaIndexEvaluator):
    """Is the response the same JSON as the reference, top-level arrays in any order?"""


class JsonEditDistanceEvaluator(JsonEditDistanceDropIn, LlamaIndexEvaluator):
    """How much of the reference's JSON, as `json.dumps` writes it, would have to be typed anew?"""


class JsonSchemaEvaluator(JsonSchemaDropIn, LlamaIndexEvaluator):
    """Does the response conform to the JSON Schema?"""


@dataclass(frozen=True)
class _Evaluation(Step):
    """Our evaluator's result for a sample."""

    evaluator: Evaluator
    sample: Sample

    def run(self, perform: Any) -> Result:  # noqa: ARG002 - a single step
        return self.evaluator.evaluate(self.sample)

    async def arun(self, perform: Any) -> Result:  # noqa: ARG002 - a single step
        return await self.evaluator.aevaluate(self.sample)


@dataclass(frozen=True)
class _Reading(Step):
    """A streaming response, read to its end."""

    response: Any

    def run(self, perform: Any) -> Any:  # noqa: ARG002 - a single step
        whole = self.response.get_response()
        if not inspect.iscoroutine(whole):
            return whole
        # In a thread, since the caller's own may have a loop that is running.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, whole).result()

    async def arun(self, perform: Any) -> Any:  # noqa: ARG002 - a single step
        whole = self.response.get_response()
        return await whole if inspect.iscoroutine(whole) else whole


def _as_template(prompt: Prompt) -> BasePromptTemplate:
    """Write a prompt as LlamaIndex does."""
    if isinstance(prompt.template, str):
        return PromptTemplate(prompt.template)
    messages = [ChatMessage(role=message.role, content=message.text) for message in prompt.messages]
    return ChatPromptTemplate(messages)


def _as_prompt(template: Any) -> Prompt:
    """Read a prompt of LlamaIndex's; anything else is what a Prompt is made of."""
    if isinstance(template, ChatPromptTemplate):
        return Prompt(
            [
                {"role": message.role.value, "content": message.content or ""}
                for message in template.message_templates
            ]
        )
    if isinstance(template, BasePromptTemplate):
        text = getattr(template, "template", None) or getattr(template, "template_str", None)
        if not isinstance(text, str):
            raise InvalidOptionError(f"{quote(template)} has no template to be read")
        return Prompt(text)
    return Prompt.of(template)


def _text(value: Any) -> str | None:
    """Return the text of a field; halves of surrogate pairs, which Pydantic refuses, as escapes."""
    return None if value is None else to_text(value).encode(errors="backslashreplace").decode()


def _is_stream(response: Any) -> bool:
    # A Pydantic response claims to have every attribute, but its class does not.
    return hasattr(type(response), "response_txt")


def _output_and_contexts(response: Any) -> tuple[Any, list[str] | None]:
    """Return what a response object says, and the texts that it says it from."""
    if response is None:
        return None, None
    if not (
        (_is_stream(response) or hasattr(response, "response"))
        and hasattr(response, "source_nodes")
    ):
        raise InputError(
            f"{quote(response)} is not a response of a query engine; "
            "to evaluate a text, call evaluate(response=text)"
        )
    output = response if _is_stream(response) else response.response
    if output == "" and hasattr(type(response), "chat_stream"):
        raise InputError("the stream of this chat response has not been read to its end")
    if hasattr(output, "json") and not hasattr(output, "model_dump"):
        output = output.json()  # the Pydantic 1 model of a llama-index-core before 0.11
    return output, [node.get_content() for node in response.source_nodes]
