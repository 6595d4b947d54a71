"""One of our evaluators as a LlamaIndex `BaseEvaluator`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from llama_index.core import Settings
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.prompts import BasePromptTemplate

from llmeval_integrations.core import catalog
from llmeval_integrations.core.errors import EvalError, InvalidOptionError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import to_storable_text
from llmeval_integrations.frameworks._base import FIELDS, Wrapper, takes_model, to_optional_text
from llmeval_integrations.frameworks._template_judge import make_marks, read_marked
from llmeval_integrations.judges.material import list_contexts
from llmeval_integrations.judges.prompt import Prompt
from llmeval_integrations.messages.read import read_answer


class LabelledEvaluationResult(EvaluationResult):  # type: ignore[misc]
    """LlamaIndex's result, with the label and the metadata of our results."""

    label: str | None = None
    """A short name of the finding, such as a defect, to count over a batch."""

    metadata: dict[str, Any]
    """Details by name."""


class LlamaIndexEvaluator(Wrapper, BaseEvaluator):  # type: ignore[misc]
    """One of our evaluators as a LlamaIndex `BaseEvaluator`.

    `score` is a float, `passing` the verdict, `feedback` the reason. A result without a score has
    `invalid_result`, `invalid_reason` and the score None. A bad call, such as one without a
    reference, gives such a result too, since an exception would lose the whole batch of a
    `BatchEvalRunner`. All exceptions but our EvalError are raised, as they are mistakes in code.
    """

    needs: ClassVar[tuple[str, ...]] = ("response",)
    """The arguments that must not be None."""

    def __init__(self, evaluator: Evaluator, *, name: str | None = None) -> None:
        super().__init__(evaluator, name=name)  # both score and verdict are fields of the result

    def evaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        **further: Any,
    ) -> LabelledEvaluationResult:
        """Evaluate a response: a text, a parsed value, or messages.

        None means that an argument is absent. A response or a reference that is JSON null is the
        text "null". All further arguments that are fields of a sample, such as `reference`, are
        used. The others are ignored, since `BatchEvalRunner` passes each evaluator those of all.
        """
        answer, fields = None, _join_fields(query, contexts, further)
        try:
            answer, sample = self._read(response, fields)
            result = self.evaluator.evaluate(sample)
        except EvalError as error:
            result = Result.unscored(str(error))
        return self._answer(result, answer, fields)

    async def aevaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        **further: Any,
    ) -> LabelledEvaluationResult:
        """Evaluate a response as `evaluate` does, asynchronously."""
        answer, fields = None, _join_fields(query, contexts, further)
        try:
            answer, sample = self._read(response, fields)
            result = await self.evaluator.aevaluate(sample)
        except EvalError as error:
            result = Result.unscored(str(error))
        return self._answer(result, answer, fields)

    def evaluate_response(
        self, query: str | None = None, response: Any = None, **further: Any
    ) -> LabelledEvaluationResult:
        """Evaluate a `Response` of a query engine, also a streaming or a Pydantic one.

        A stream is read to its end. If part of it was read before, or if it is asynchronous or that
        of a chat and not read, this is an `invalid_result`. The contexts are the texts of the
        source nodes, and `retrieved` their ids, unless you pass others.
        """
        return self.evaluate(query, **_add_sources(response, further))

    async def aevaluate_response(
        self, query: str | None = None, response: Any = None, **further: Any
    ) -> LabelledEvaluationResult:
        """Evaluate a response as `evaluate_response` does, asynchronously."""
        return await self.aevaluate(query, **_add_sources(response, further))

    def _read(self, response: Any, fields: dict[str, Any]) -> tuple[Any, Sample]:
        """Return the answer in the response, and the sample."""
        present = {**fields, "query": fields["input"], "response": response}
        for name in self.needs:
            if present.get(name) is None:
                raise MissingFieldError(f"{self.name} needs {name}; pass {name}=...")
        answer = read_answer(response).value
        given = {name: one for name, one in fields.items() if one is not None and name in FIELDS}
        return answer, Sample(response, **given)

    def _answer(
        self, result: Result, answer: Any, fields: Mapping[str, Any]
    ) -> LabelledEvaluationResult:
        """Return a result, or why there is none, as LlamaIndex's result."""
        contexts = fields["contexts"]
        return LabelledEvaluationResult(
            query=to_optional_text(fields["input"]),
            contexts=None if contexts is None else context_texts(contexts),
            response=to_optional_text(answer),
            passing=result.passed,
            score=None if result.score is None else self._scale(result.score),
            feedback=to_optional_text(self._feedback(result)),
            invalid_result=result.is_unscored,
            invalid_reason=to_optional_text(result.reason) if result.is_unscored else None,
            label=result.label,
            metadata=result.metadata,
        )

    def _scale(self, score: float) -> float:
        return score

    def _feedback(self, result: Result) -> str | None:
        return result.reason

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Mapping[str, Any]) -> None:
        if prompts:
            raise InvalidOptionError(f"{self.name} has no prompts to update; build it with another")


def load_evaluator(name: str, /, *, llm: Any = None, **options: Any) -> LlamaIndexEvaluator:
    """Build an evaluator by its name in the catalog.

    A judge asks `llm`, by default `Settings.llm`, and its `prompt` may be LlamaIndex's. Raises
    UnknownNameError for the name, InvalidOptionError for an option.
    """
    if takes_model(catalog.evaluator_class(name)):
        options.setdefault("model", Settings.llm if llm is None else llm)
    if "prompt" in options:
        options["prompt"] = as_prompt(options["prompt"])
    return LlamaIndexEvaluator(catalog.load_evaluator(name, **options))


def as_prompt(template: Any) -> Prompt:
    """Return LlamaIndex's template, or anything that a Prompt accepts, as a Prompt."""
    if not isinstance(template, BasePromptTemplate):
        return Prompt(template)
    marks = make_marks(name for name in template.template_vars if name not in template.kwargs)
    messages = template.format_messages(**marks)
    return read_marked(((one.role.value, one.content or "") for one in messages), marks)


def context_texts(contexts: Sequence[Any]) -> list[str]:
    """Return the texts of contexts; that of a node is its content."""
    return [
        to_storable_text(each.get_content() if hasattr(type(each), "get_content") else each)
        for each in contexts
    ]


def _join_fields(query: Any, contexts: Any, further: dict[str, Any]) -> dict[str, Any]:
    """Return all arguments but the response by the names of a sample's fields."""
    if type(contexts) is not list:  # such as an array
        contexts = [contexts] if isinstance(contexts, str) else list_contexts(contexts) or contexts
    return {**further, "input": query, "contexts": contexts}


def _add_sources(response: Any, further: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with a response, and with its source nodes unless they are given."""
    if not hasattr(response, "source_nodes"):
        return {"response": response, **further}
    nodes = [each.node for each in response.source_nodes]
    contexts, ids = [each.get_content() for each in nodes], [each.node_id for each in nodes]
    output = vars(response).get("response") or response  # its text is read faster than the object
    return {"response": output, "contexts": contexts, "retrieved": ids, **further}
