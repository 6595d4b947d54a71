"""Our evaluators for LlamaIndex: a `BaseEvaluator` that its `BatchEvalRunner` can run."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from llmeval_integrations.drop_ins import load_drop_in
from llmeval_integrations.errors import (
    EvalError,
    InputError,
    InvalidOptionError,
    MissingDependencyError,
    MissingFieldError,
)
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.evaluators.text import text_of
from llmeval_integrations.result import Result
from llmeval_integrations.sample import MISSING, Sample
from llmeval_integrations.wording import shown

try:
    from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
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


class LlamaIndexEvaluator(BaseEvaluator):  # type: ignore[misc]
    """One of our evaluators as a LlamaIndex `BaseEvaluator`.

    `score` is a float, True and False being 1.0 and 0.0, `passing` the verdict, `feedback` the
    reason. A result without a score has `invalid_result`, `invalid_reason` and the score None. So
    has a bad call, that is whatever raises an EvalError elsewhere (no reference, a broken one):
    `BatchEvalRunner` would try it three times, for 8 seconds, and then lose the whole batch.
    Any other exception is raised, as it is nobody's data but a mistake in code.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        """Wrap an evaluator; raises InvalidOptionError for anything else."""
        if not isinstance(evaluator, Evaluator):
            raise InvalidOptionError(
                f"{type(self).__name__}: {shown(evaluator)} is no Evaluator; "
                "load_evaluator(name) makes one by name"
            )
        self.evaluator = evaluator

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.evaluator!r})"

    def evaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        reference: Any = None,
        **_: Any,
    ) -> LabelledEvaluationResult:
        """Evaluate one response: a text, or a value that is already parsed.

        None is an absent argument, as everywhere in LlamaIndex: write a response or a reference
        that is JSON null as the text "null". Further arguments are left alone, since
        `BatchEvalRunner` hands each evaluator those of all; `sleep_time_in_seconds` is one. Needs
        no event loop, and works where one is running.
        """
        given = _Given(query, response, contexts, reference)
        try:
            result = self.evaluator.evaluate(given.sample(self.evaluator))
        except EvalError as error:
            result = Result.unscored(str(error))
        return given.answer(result)

    async def aevaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        reference: Any = None,
        **_: Any,
    ) -> LabelledEvaluationResult:
        """Evaluate one response as `evaluate` does, and await what has to be waited for."""
        given = _Given(query, response, contexts, reference)
        try:
            result = await self.evaluator.aevaluate(given.sample(self.evaluator))
        except EvalError as error:
            result = Result.unscored(str(error))
        return given.answer(result)

    def evaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> LabelledEvaluationResult:
        """Evaluate what a query engine gave: a `Response`, a streaming or a Pydantic one.

        A stream is read to its end, a Pydantic response evaluated as the object that it holds.
        Contexts are the texts of the source nodes. Raises InputError for any other object, and
        for a chat's stream that has not been read.
        """
        finished = _finished(response)
        if inspect.iscoroutine(finished):
            finished = _waited_for(finished)
        return self.evaluate(query, *_output_and_contexts(finished), **kwargs)

    async def aevaluate_response(
        self, query: str | None = None, response: Any = None, **kwargs: Any
    ) -> LabelledEvaluationResult:
        """Evaluate what a query engine gave, as `evaluate_response` does."""
        finished = _finished(response)
        if inspect.iscoroutine(finished):
            finished = await finished
        return await self.aevaluate(query, *_output_and_contexts(finished), **kwargs)

    def _get_prompts(self) -> dict[str, Any]:
        """A deterministic evaluator has no prompts."""
        return {}

    def _update_prompts(self, prompts: Mapping[str, Any]) -> None:
        if prompts:
            raise InvalidOptionError(
                f"{self.evaluator.name} has no prompts, so {shown(list(prompts))} cannot be updated"
            )


class JsonValidityEvaluator(LlamaIndexEvaluator):
    """Does the response parse as JSON? Takes the options of JsonValidity."""

    def __init__(self, **options: Any) -> None:
        """Build the evaluator; raises InvalidOptionError for an option that it does not have."""
        super().__init__(load_drop_in("json_validity", **options))


class JsonEqualityEvaluator(LlamaIndexEvaluator):
    """Is the response the same JSON as the reference? Takes the options of JsonEquality.

    As in the drop-in of this name for LangChain, and unlike JsonEquality, the items of two
    top-level arrays may come in any order; `list_order="strict"` is the other way.
    """

    def __init__(self, operator: Any = None, **options: Any) -> None:
        """Build the evaluator; raises InvalidOptionError for an option that it does not have."""
        super().__init__(load_drop_in("json_equality", operator=operator, **options))


class JsonEditDistanceEvaluator(LlamaIndexEvaluator):
    """How much would have to be typed anew? Takes the options of JsonEditDistance.

    As in the drop-in of this name for LangChain, and unlike JsonEditDistance, the canonical text
    is what `json.dumps` writes, keys sorted; `canonicalize=json_value.canonical` is the other way.
    """

    def __init__(
        self, string_distance: Any = None, canonicalize: Any = None, **options: Any
    ) -> None:
        """Build the evaluator; raises InvalidOptionError for an option that it does not have."""
        options.update(string_distance=string_distance, canonicalize=canonicalize)
        super().__init__(load_drop_in("json_edit_distance", **options))


class JsonSchemaEvaluator(LlamaIndexEvaluator):
    """Does the response conform to the JSON Schema? Takes the options of JsonSchema.

    The schema is the option `schema`, or else each response's reference.
    """

    def __init__(self, **options: Any) -> None:
        """Build the evaluator; raises InvalidOptionError for an option that it does not have."""
        super().__init__(load_drop_in("json_schema", **options))


class _Given:
    """The arguments of one evaluation, None where absent."""

    def __init__(
        self, query: Any, response: Any, contexts: Sequence[str] | str | None, reference: Any
    ) -> None:
        self.query = query
        self.response = response
        self.contexts = [contexts] if isinstance(contexts, str) else contexts
        self.reference = reference

    def sample(self, evaluator: Evaluator) -> Sample:
        """Make our sample of them; raises MissingFieldError where there is no response."""
        if self.response is None:
            raise MissingFieldError(f"{evaluator.name} needs a response; pass response=...")
        fields = (self.reference, self.query, self.contexts)
        return Sample(self.response, *[MISSING if field is None else field for field in fields])

    def answer(self, result: Result) -> LabelledEvaluationResult:
        """Say our result, about these arguments, in LlamaIndex's words."""
        contexts = self.contexts
        return LabelledEvaluationResult(
            query=_text(self.query),
            contexts=None if contexts is None else list(map(_text, contexts)),
            response=_text(self.response),
            passing=result.passed,
            score=result.score,
            feedback=_text(result.reason),
            invalid_result=not result.scored,
            invalid_reason=None if result.scored else _text(result.reason),
            label=result.label,
            metadata=result.metadata,
        )


def _text(value: Any) -> str | None:
    """Give the text of a field; halves of surrogate pairs, which Pydantic refuses, as escapes."""
    return None if value is None else text_of(value).encode(errors="backslashreplace").decode()


def _finished(response: Any) -> Any:
    """Read a streaming response to its end; where only a loop can, give what has to be awaited."""
    # A Pydantic response claims to have every attribute, but its class does not.
    return response.get_response() if hasattr(type(response), "response_txt") else response


def _waited_for(awaitable: Coroutine[Any, Any, Any]) -> Any:
    """Wait in a thread, since the caller's own may have a loop that is running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, awaitable).result()


def _output_and_contexts(response: Any) -> tuple[Any, list[str] | None]:
    """Give what a response object says, and the texts that it says it from."""
    if response is None:
        return None, None
    if not (hasattr(response, "response") and hasattr(response, "source_nodes")):
        raise InputError(
            f"{shown(response)} is no response of a query engine; "
            "to evaluate a text, call evaluate(response=text)"
        )
    output = response.response
    if output == "" and hasattr(type(response), "chat_stream"):
        raise InputError("the stream of this chat response has not been read to its end")
    if hasattr(output, "json") and not hasattr(output, "model_dump"):
        output = output.json()  # the Pydantic 1 model of a llama-index-core before 0.11
    return output, [node.get_content() for node in response.source_nodes]
