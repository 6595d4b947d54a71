"""LlamaIndex's evaluators that ask a model, by its names, templates and result fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from llama_index.core import Settings
from llama_index.core.async_utils import asyncio_run

from llmeval_integrations.core.errors import InvalidOptionError, MissingFieldError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text import to_text
from llmeval_integrations.frameworks._judged import TemplateJudge
from llmeval_integrations.frameworks.llama_index.evaluator import (
    LabelledEvaluationResult,
    LlamaIndexEvaluator,
)
from llmeval_integrations.frameworks.llama_index.prompts import as_prompt, as_template
from llmeval_integrations.messages.reading import read_answer

_MOST_CHARACTERS: Final = 20_000
"""Of the contexts that a model is shown at a time."""

_YES_OR_NO: Final = "\n\nAnswer with YES or NO in the first line, and your reasons behind it."
_RESULT: Final = "\n\nGive your reasons first, then a line such as [RESULT] 1, from 0 (worst) to "


class ModelEvaluator(LlamaIndexEvaluator):
    """An evaluator that asks `llm`, by default `Settings.llm`.

    Takes as `eval_template` a template of LlamaIndex's with the variables that its own has, also by
    `update_prompts`. A reply that cannot be read is an `invalid_result`.
    """

    template: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("query", "response")
    words: ClassVar[Mapping[str, float] | None] = None
    scale: ClassVar[tuple[float, float] | None] = None
    threshold: float | None = None

    def __init__(self, llm: Any = None, eval_template: Any = None, **variables: Any) -> None:
        self.llm, self.variables = (Settings.llm if llm is None else llm), variables
        super().__init__(self._judge(self.template if eval_template is None else eval_template))

    def evaluate(self, *args: Any, **kwargs: Any) -> LabelledEvaluationResult:
        """Evaluate one response as `aevaluate` does; works where a loop is running, too."""
        found: LabelledEvaluationResult = asyncio_run(self.aevaluate(*args, **kwargs))
        return found

    def _judge(self, template: Any) -> TemplateJudge:
        return TemplateJudge(
            self.llm,
            as_prompt(template),
            words=self.words,
            scale=self.scale,
            threshold=self.threshold,
            name=type(self).__name__,
        )

    def _read(self, response: Any, fields: dict[str, Any]) -> tuple[Any, Sample]:
        given = {**fields, "response": response}
        absent = [name for name in self.needs if given.get(name) is None]
        if absent:
            raise MissingFieldError(f"{self.name} needs {absent[0]}; pass {absent[0]}=...")
        answer = None if response is None else to_text(read_answer(response).value)
        query, reference = fields["query"], fields["reference"]
        context = "\n\n".join(map(to_text, fields["contexts"] or ()))
        fields["variables"] = {
            "query": query,
            "query_str": query,
            "response": answer,
            "generated_answer": answer,
            "reference_answer": reference or "(none)",
            "context_str": context,
            **self.variables,
            **(fields.get("variables") or {}),
        }
        return super()._read("" if response is None else response, fields)

    def _answer(
        self, result: Result, answer: Any, fields: Mapping[str, Any]
    ) -> LabelledEvaluationResult:
        found = super()._answer(result, answer, fields)
        if result.scored:
            found.feedback = str(result.metadata["reply"])
        return found

    def _get_prompts(self) -> dict[str, Any]:
        return {"eval_template": as_template(self.evaluator.prompt)}  # type: ignore[attr-defined]

    def _update_prompts(self, prompts: Mapping[str, Any]) -> None:
        for name, template in prompts.items():
            if name != "eval_template":
                raise InvalidOptionError(f"{self.name} has no prompt {quote(name)}: eval_template")
            self.evaluator = self._judge(template)


class ContextsEvaluator(ModelEvaluator):
    """An evaluator that asks about the contexts, part by part where they are long.

    The best answer to a part is the answer.
    """

    needs: ClassVar[tuple[str, ...]] = ("response", "contexts")

    async def aevaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        reference: Any = None,
        **further: Any,
    ) -> LabelledEvaluationResult:
        """Evaluate one response, or for ContextRelevancyEvaluator the contexts alone."""
        results: list[LabelledEvaluationResult] = []
        for part in _parts(contexts):
            results.append(await super().aevaluate(query, response, part, reference, **further))
            if results[-1].score == 1:
                break
        best = max(results, key=lambda each: -1 if each.score is None else each.score)
        if best.score != 1:  # what could not be read may have said more
            best = next((each for each in results if each.invalid_result), best)
        best.contexts = [contexts] if isinstance(contexts, str) else contexts
        return best


class FaithfulnessEvaluator(ContextsEvaluator):
    """Is the response supported by the contexts?"""

    words: ClassVar[Mapping[str, float] | None] = {"YES": 1.0, "NO": 0.0}
    threshold = 1.0
    template = (
        "Is the information supported by the context, if most of it is about other things?"
        "\n\nInformation:\n{query_str}\n\nContext:\n{context_str}" + _YES_OR_NO
    )

    def _read(self, response: Any, fields: dict[str, Any]) -> tuple[Any, Sample]:
        shown = self._shown(to_text(read_answer(response).value), fields["query"])
        return super()._read(response, {**fields, "variables": {"query_str": shown}})

    def _shown(self, answer: str, query: Any) -> str:  # noqa: ARG002 - RelevancyEvaluator shows it
        return answer


class RelevancyEvaluator(FaithfulnessEvaluator):
    """Are response and contexts in line with the query?"""

    needs = ("query", "response", "contexts")
    template = (
        "Is the response to the query in line with the context?\n\n{query_str}\n\nContext:\n"
        "{context_str}" + _YES_OR_NO
    )

    def _shown(self, answer: str, query: Any) -> str:
        return f"Question: {query}\nResponse: {answer}"


class ContextRelevancyEvaluator(ContextsEvaluator):
    """Do the contexts bear on the query, and are they enough to answer it?

    The score is what the model gives, 0 to 4, divided by `score_threshold`.
    """

    needs = ("query", "contexts")
    scale = (0, 4)
    template = (
        "Do the contexts bear on the subject of the query (2 points), and can it be answered from "
        "them alone (2 points)? Parts of points are fine.\n\nQuery:\n{query_str}\n\nContext:\n"
        "{context_str}" + _RESULT + "4."
    )

    def __init__(
        self, llm: Any = None, eval_template: Any = None, score_threshold: float | None = None
    ) -> None:
        super().__init__(llm, eval_template)
        self.score_threshold = (
            (self.scale or (0, 1))[1] if score_threshold is None else score_threshold
        )

    def _answer(
        self, result: Result, answer: Any, fields: Mapping[str, Any]
    ) -> LabelledEvaluationResult:
        found = super()._answer(result, answer, fields)
        if found.score is not None:
            found.score /= self.score_threshold
        return found


class AnswerRelevancyEvaluator(ContextRelevancyEvaluator):
    """Does the response bear on the query's subject, and on what it asks?

    The score is what the model gives, 0 to 2, divided by `score_threshold`.
    """

    needs = ("query", "response")
    scale = (0, 2)
    template = (
        "Does the response bear on the subject of the query (1 point), and does it take up what "
        "the query asks (1 point)?\n\nQuery:\n{query}\n\nResponse:\n{response}" + _RESULT + "2."
    )


class CorrectnessEvaluator(ModelEvaluator):
    """How right is the response, from 1 to 5, by the reference where there is one?

    It passes from `score_threshold` on.
    """

    scale = (1, 5)
    template = (
        "Rate an answer to a query: 1 where it does not bear on it, 2 or 3 where it does and has "
        "mistakes, 4 or 5 where it is right.\n\nQuery:\n{query}\n\nReference answer:\n"
        "{reference_answer}\n\nAnswer:\n{generated_answer}\n\nWrite the score alone in the first "
        "line, and your reasons in the next."
    )

    def __init__(
        self, llm: Any = None, eval_template: Any = None, score_threshold: float = 4.0
    ) -> None:
        self.threshold = score_threshold
        super().__init__(llm, eval_template)


class GuidelineEvaluator(ModelEvaluator):
    """Does the response follow the guidelines?"""

    words: ClassVar[Mapping[str, float] | None] = {"YES": 1.0, "NO": 0.0}
    threshold = 1.0
    template = (
        "Does the response follow all guidelines?\n\nQuery:\n{query}\n\nResponse:\n{response}\n\n"
        "Guidelines:\n{guidelines}" + _YES_OR_NO
    )

    def __init__(self, llm: Any = None, guidelines: Any = None, eval_template: Any = None) -> None:
        own = "Answer the query in full.\nBe clear.\nBe specific, with figures where there are any."
        super().__init__(llm, eval_template, guidelines=guidelines or own)


class PairwiseComparisonEvaluator(ModelEvaluator):
    """Which of two responses is better? The score is 1 for `response`, 0 for `second_response`.

    With `enforce_consensus` the model is asked in both orders; where its answers differ, the score
    is 0.5 and `pairwise_source` is "neither".
    """

    words: ClassVar[Mapping[str, float] | None] = {"A": 1.0, "B": 0.0, "C": 0.5}
    template = (
        "Which answer to the query is better? Neither their order nor their length shall matter."
        "\n\nQuery:\n{query}\n\nReference:\n{reference}\n\nAnswer A:\n{answer_1}\n\nAnswer B:\n"
        "{answer_2}\n\nGive your reasons first, then your verdict in a line of its own: [[A]], "
        "[[B]], or [[C]] where they are equal."
    )

    def __init__(
        self, llm: Any = None, eval_template: Any = None, enforce_consensus: bool = True
    ) -> None:
        super().__init__(llm, eval_template)
        self.enforce_consensus = enforce_consensus

    async def aevaluate(
        self,
        query: str | None = None,
        response: Any = None,
        contexts: Sequence[str] | None = None,
        reference: Any = None,
        **further: Any,
    ) -> LabelledEvaluationResult:
        """Compare `response` with `second_response`."""
        pair = [response, further.pop("second_response", None)]
        results = []
        for one, other in [pair, pair[::-1]][: 2 if self.enforce_consensus else 1]:
            shown = {"answer_1": one, "answer_2": other, "reference": reference or ""}
            given = None if other is None else one
            further["variables"] = shown
            results.append(await super().aevaluate(query, given, contexts, reference, **further))
        return _consensus(results)


def _consensus(results: list[LabelledEvaluationResult]) -> LabelledEvaluationResult:
    """Return the result on which both orders agree, or a tie."""
    for place, each in enumerate(results):
        each.pairwise_source = "flipped" if place else "original"
        if each.score is None:
            return each
        each.score = 1 - each.score if place else each.score
    votes = sum(each.score for each in results) / len(results)
    decided = next((each for each in results if each.score != 0.5), results[0])
    if votes == 0.5 and decided.score != 0.5:
        decided.pairwise_source, decided.feedback = "neither", ""
    decided.score = {True: 1.0, False: 0.0}[votes > 0.5] if votes != 0.5 else 0.5
    decided.passing = None if votes == 0.5 else votes > 0.5
    return decided


def _parts(contexts: Any) -> list[Sequence[str] | None]:
    """Cut contexts into parts that a model can be shown; one at least."""
    if not contexts or isinstance(contexts, str):
        return [contexts]
    parts: list[list[str]] = [[]]
    for text in contexts:
        if parts[-1] and sum(map(len, parts[-1])) + len(text) > _MOST_CHARACTERS:
            parts.append([])
        parts[-1].append(text)
    return [*parts]
