"""One of our evaluators as a LlamaIndex `BaseEvaluator`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from llama_index.core import Settings
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, PromptTemplate

from llmeval_integrations.core import catalog
from llmeval_integrations.core.errors import EvalError, InvalidOptionError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text import to_storable_text
from llmeval_integrations.frameworks._base import FIELDS, Wrapper, takes_model
from llmeval_integrations.frameworks.llama_index.responses import (
    collect,
    collect_awaited,
    is_stream,
    split_response,
)
from llmeval_integrations.judges.prompts.prompt import Prompt
from llmeval_integrations.messages.read import read_answer

_FIELDS: Final = {"query": "input", **{name: name for name in FIELDS if name != "input"}}
"""The arguments that are fields of a sample, and their names there."""


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

    prompt_name: ClassVar[str] = "prompt"

    def evaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        reference: Any = None,
        **further: Any,
    ) -> LabelledEvaluationResult:
        """Evaluate one response: a text, a value that is already parsed, or messages.

        None is an absent argument, as everywhere in LlamaIndex: write a response or a reference
        that is JSON null as the text "null". Further arguments that are fields of a sample go to
        the evaluator; others are left alone, since `BatchEvalRunner` hands each evaluator those of
        all. Needs no event loop, and works where one is running.
        """
        fields = {"query": query, "contexts": contexts, "reference": reference, **further}
        answer = None
        try:
            answer, sample = self._read(collect(response), fields)
            result = self.evaluator.evaluate(sample)
        except EvalError as error:
            result = Result.unscored(str(error))
        return self._answer(result, answer, fields)

    async def aevaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        reference: Any = None,
        **further: Any,
    ) -> LabelledEvaluationResult:
        """Evaluate one response as `evaluate` does, and await what has to be waited for."""
        fields = {"query": query, "contexts": contexts, "reference": reference, **further}
        return await self._aevaluate(response, fields)

    async def _aevaluate(self, response: Any, fields: dict[str, Any]) -> LabelledEvaluationResult:
        answer = None
        try:
            answer, sample = self._read(await collect_awaited(response), fields)
            result = await self.evaluator.aevaluate(sample)
        except EvalError as error:
            result = Result.unscored(str(error))
        return self._answer(result, answer, fields)

    def evaluate_response(
        self, query: str | None = None, response: Any = None, **further: Any
    ) -> LabelledEvaluationResult:
        """Evaluate what a query engine gave: a `Response`, a streaming or a Pydantic one.

        A stream is read to its end, a Pydantic response evaluated as the object that it holds; a
        stream of which something was read before has an `invalid_result`. Contexts are the texts of
        the source nodes, unless they are given. Raises InputError for any other object, and for a
        chat's stream that has not been read.
        """
        output, sources = split_response(response)
        return self.evaluate(query, output, **{"contexts": sources, **further})

    async def aevaluate_response(
        self, query: str | None = None, response: Any = None, **further: Any
    ) -> LabelledEvaluationResult:
        """Evaluate what a query engine gave, as `evaluate_response` does."""
        output, sources = split_response(response)
        return await self.aevaluate(query, output, **{"contexts": sources, **further})

    def _read(self, response: Any, fields: dict[str, Any]) -> tuple[Any, Sample]:
        """Return what the response says, and the sample."""
        if isinstance(fields["contexts"], str):
            fields["contexts"] = [fields["contexts"]]
        if response is None:
            raise MissingFieldError(f"{self.name} needs a response; pass response=...")
        answer = read_answer(response).value
        present = {
            _FIELDS[name]: value
            for name, value in fields.items()
            if value is not None and name in _FIELDS
        }
        return answer, Sample(answer if is_stream(response) else response, **present)

    def _answer(
        self, result: Result, answer: Any, fields: Mapping[str, Any]
    ) -> LabelledEvaluationResult:
        """Say a result, or why there is none, in LlamaIndex's words."""
        contexts = fields["contexts"]
        return LabelledEvaluationResult(
            query=_text(fields["query"]),
            contexts=None if contexts is None else list(map(_text, contexts)),
            response=_text(answer),
            passing=result.passed,
            score=result.score,
            feedback=_text(result.reason),
            invalid_result=result.is_unscored,
            invalid_reason=_text(result.reason) if result.is_unscored else None,
            label=result.label,
            metadata=result.metadata,
        )

    def _get_prompts(self) -> dict[str, Any]:
        """Return a judge's prompt in LlamaIndex's form, its variables as they are written."""
        prompt = getattr(self.evaluator, "prompt", None)
        return {self.prompt_name: as_template(prompt)} if isinstance(prompt, Prompt) else {}

    def _update_prompts(self, prompts: Mapping[str, Any]) -> None:
        """Take another prompt for a judge: LlamaIndex's form, or what a Prompt is made of."""
        for name, prompt in prompts.items():
            if name != self.prompt_name:
                raise InvalidOptionError(f"{self.name} has no prompt {name!r}: {self.prompt_name}")
            self.evaluator = self._replace_prompt(prompt)

    def _replace_prompt(self, prompt: Any) -> Evaluator:
        return replace(self.evaluator, prompt=as_prompt(prompt))  # type: ignore[type-var]


def load_evaluator(name: str, /, *, llm: Any = None, **options: Any) -> LlamaIndexEvaluator:
    """Build an evaluator by its name in the catalog.

    `llm` is the model of those that ask one, `Settings.llm` by default; the others leave it alone.
    A judge's `prompt` may be LlamaIndex's, as for `update_prompts`.
    Raises UnknownNameError for the name, InvalidOptionError for an option.
    """
    if takes_model(catalog.evaluator_class(name)):
        options.setdefault("model", Settings.llm if llm is None else llm)
    if "prompt" in options:
        options["prompt"] = as_prompt(options["prompt"])
    return LlamaIndexEvaluator(catalog.load_evaluator(name, **options))


def as_template(prompt: Prompt) -> BasePromptTemplate:
    """Write a prompt as LlamaIndex does."""
    if isinstance(prompt.template, str):
        return PromptTemplate(prompt.template)
    messages = [ChatMessage(role=message.role, content=message.text) for message in prompt.messages]
    return ChatPromptTemplate(messages)


def as_prompt(template: Any) -> Prompt:
    """Read a prompt of LlamaIndex's; anything else is what a Prompt is made of."""
    if isinstance(template, ChatPromptTemplate):
        given = template.message_templates
        return Prompt([{"role": each.role.value, "content": each.content or ""} for each in given])
    if isinstance(template, BasePromptTemplate):
        template = getattr(template, "template", None) or getattr(template, "template_str", None)
    return Prompt.of(template)


def _text(value: Any) -> str | None:
    """Return the text of a field; halves of surrogate pairs, which Pydantic refuses, as escapes."""
    return None if value is None else to_storable_text(value)
