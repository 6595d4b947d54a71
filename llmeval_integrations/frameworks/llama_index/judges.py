"""LlamaIndex's evaluators that ask a model, by its names, templates and result fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from llama_index.core import Settings
from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.prompts import PromptTemplate

from llmeval_integrations.core.catalog import check_options
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.text_evaluator import to_text
from llmeval_integrations.frameworks._template_judge import TemplateJudge
from llmeval_integrations.frameworks.llama_index.evaluator import (
    LabelledEvaluationResult,
    LlamaIndexEvaluator,
    as_prompt,
    context_texts,
)
from llmeval_integrations.judges.claims import AnswerRelevance, ClaimFaithfulness, split_contexts
from llmeval_integrations.judges.material import list_contexts
from llmeval_integrations.llm.budget import Spending
from llmeval_integrations.messages.read import read_answer

_MOST_CHARACTERS: Final = 20_000
"""How much of the contexts a model is shown at once, if its window is large enough."""

_YES_OR_NO: Final = {"YES": 1.0, "NO": 0.0}
_ASK_YES_OR_NO: Final = (
    "\n\nAnswer with YES or NO in the first line, and give your reasons in the next lines."
)


class ModelEvaluator(LlamaIndexEvaluator):
    """An evaluator that asks `llm`, by default `Settings.llm`.

    `eval_template` is a template of LlamaIndex with the variables of its own evaluator. You can
    also replace it by `update_prompts`. If a reply has no clear verdict, this is an
    `invalid_result`.
    """

    template: ClassVar[str] = ""
    needs: ClassVar[tuple[str, ...]] = ("query", "response")
    words: ClassVar[Mapping[str, float] | None] = None
    scale: ClassVar[tuple[float, float] | None] = None
    threshold: float | None = None
    query_str: ClassVar[str] = "{query}"
    """The variable `query_str` of LlamaIndex's template."""
    keeps_reply: ClassVar[bool] = True
    evaluate = BaseEvaluator.evaluate  # runs `aevaluate`, also if an event loop is running

    def __init__(self, llm: Any = None, eval_template: Any = None) -> None:
        self.llm = Settings.llm if llm is None else llm
        self.variables: dict[str, Any] = {}
        self.eval_template = eval_template or self.template
        super().__init__(self._make_judge(), name=type(self).__name__)

    def _make_judge(self) -> Evaluator:
        """Return the judge that asks by the template."""
        form = (self.words, self.scale, self.threshold, self.keeps_reply)
        return TemplateJudge(self.llm, as_prompt(self.eval_template), *form)

    def _get_prompts(self) -> dict[str, Any]:
        template = self.eval_template
        if template and isinstance(template, str):
            template = PromptTemplate(template)
        return {"eval_template": template} if template else {}

    def _update_prompts(self, prompts: Mapping[str, Any]) -> None:
        check_options(self.name, prompts, ["eval_template"])
        self.eval_template = prompts.get("eval_template", self.eval_template)
        self.evaluator = self._make_judge()

    def _read(self, response: Any, fields: dict[str, Any]) -> tuple[Any, Sample]:
        query, answer = fields["input"], to_text(read_answer(response).value)
        reference = fields.get("reference")
        fields["variables"] = {
            "query": query,
            "query_str": self.query_str.format(query=query, response=answer),
            **dict.fromkeys(("response", "generated_answer"), answer),
            "reference_answer": reference or "(none)",
            "reference": reference or "",
            "context_str": "\n\n".join(context_texts(fields["contexts"] or ())),
            **self.variables,
            **(fields.get("variables") or {}),
        }
        return super()._read(response, fields)


class ContextsEvaluator(ModelEvaluator):
    """An evaluator that asks about the contexts.

    By a template, it asks about one part of long contexts after the other, and returns the best
    result.
    """

    needs: ClassVar[tuple[str, ...]] = ("response", "contexts")

    def _most_characters(self) -> int:
        """Return how much of the contexts the model is shown at once: at most half its window."""
        window = getattr(getattr(self.llm, "metadata", None), "context_window", None)
        return min(_MOST_CHARACTERS, 2 * window) if window else _MOST_CHARACTERS

    async def aevaluate(
        self, query: Any = None, response: Any = None, contexts: Any = None, **further: Any
    ) -> LabelledEvaluationResult:
        """Evaluate a response, part by part if the contexts are long."""
        judge, listed, parts = self.evaluator, list_contexts(contexts) or [], [contexts]
        if listed and isinstance(judge, TemplateJudge) and "context_str" in judge.prompt.variables:
            parts = split_contexts(listed, self._most_characters())
        highest = self._scale(self.scale[1] if self.scale else 1)
        results: list[LabelledEvaluationResult] = []
        for part in parts:
            results.append(await super().aevaluate(query, response, part, **further))
            if results[-1].score == highest:
                break
        best = max(results, key=lambda each: -1 if each.score is None else each.score)
        if best.score != highest:  # a reply without a verdict may have been better
            best = next((each for each in results if each.invalid_result), best)
        if len(parts) > 1:
            best.contexts = context_texts(listed)
        return _count_calls(best, results)


def _count_calls(
    best: LabelledEvaluationResult, results: list[LabelledEvaluationResult]
) -> LabelledEvaluationResult:
    """Return the best result, with the calls and costs of all."""
    accounts = [each.metadata["judge"] for each in results if "judge" in each.metadata]
    if accounts:
        spending = Spending()
        for each in accounts:
            spending.add_summary(each)
        best.metadata["judge"] = {**accounts[0], **spending.summary()}
    return best


class FaithfulnessEvaluator(ContextsEvaluator):
    """Do the contexts support the response?

    The judge is ClaimFaithfulness: the score is the share of the response's claims that the
    contexts support. It passes if they support all claims. Claims that one part of long contexts
    leaves unsupported are checked against the next part. With an `eval_template` the model is
    asked for YES or NO.
    """

    words = _YES_OR_NO
    threshold = 1.0
    query_str = "{response}"

    def _make_judge(self) -> Evaluator:
        if self.eval_template:
            return super()._make_judge()
        return ClaimFaithfulness(self.llm, 1.0, part_characters=self._most_characters())


class RelevancyEvaluator(ContextsEvaluator):
    """Is the response to the query in line with the contexts?"""

    needs = ("query", "response", "contexts")
    words = _YES_OR_NO
    query_str = "Question: {query}\nResponse: {response}"
    threshold = 1.0
    template = (
        "Is the response to the query in line with the context?\n\n{query_str}\n\nContext:\n"
        "{context_str}" + _ASK_YES_OR_NO
    )


class ContextRelevancyEvaluator(ContextsEvaluator):
    """Are the contexts about the query, and do they suffice to answer it?

    The model gives 0 to 4 points. The score is their number divided by `score_threshold`.
    """

    needs = ("query", "contexts")
    scale = (0, 4)
    template = (
        "Are the contexts about the subject of the query (2 points), and do they suffice to answer "
        "it (2 points)? You may give parts of points.\n\nQuery:\n{query_str}\n\nContext:\n"
        "{context_str}\n\nGive your reasons first. Then write [RESULT] and the number of points on "
        "a line of its own, from 0 (worst) to 4."
    )

    def __init__(
        self, llm: Any = None, eval_template: Any = None, score_threshold: float | None = None
    ) -> None:
        super().__init__(llm, eval_template)
        self.score_threshold = score_threshold or self.scale[1]

    def _scale(self, score: float) -> float:
        return score / self.score_threshold if isinstance(self.evaluator, TemplateJudge) else score


class AnswerRelevancyEvaluator(ContextRelevancyEvaluator):
    """Does the response help to answer the query?

    The judge is AnswerRelevance: the score is the share of the response's claims that help to
    answer the query. With an `eval_template` the model gives 0 to 2 points, and the score is their
    number divided by `score_threshold`.
    """

    needs = ("query", "response")
    scale = (0, 2)
    template = ""

    def _make_judge(self) -> Evaluator:
        return super()._make_judge() if self.eval_template else AnswerRelevance(self.llm)


class CorrectnessEvaluator(ModelEvaluator):
    """How correct is the response, from 1 to 5, compared with the reference if there is one?

    It passes if the score is at least `score_threshold`.
    """

    scale = (1, 5)
    keeps_reply = False
    template = (
        "Rate an answer to a query: 1 if it is not about the query, 2 or 3 if it is and has "
        "mistakes, 4 or 5 if it is correct.\n\nQuery:\n{query}\n\nReference answer:\n"
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

    words = _YES_OR_NO
    threshold = 1.0
    keeps_reply = False
    template = (
        "Does the response follow all guidelines?\n\nQuery:\n{query}\n\nResponse:\n{response}\n\n"
        "Guidelines:\n{guidelines}" + _ASK_YES_OR_NO
    )

    def __init__(self, llm: Any = None, guidelines: Any = None, eval_template: Any = None) -> None:
        own = "Answer the whole query.\nBe clear.\nBe specific, with figures if there are any."
        super().__init__(llm, eval_template)
        self.variables = {"guidelines": guidelines or own}


class PairwiseComparisonEvaluator(ModelEvaluator):
    """Which of two responses is better? The score is 1 for `response`, 0 for `second_response`.

    With `enforce_consensus` the model is asked in both orders. If its answers differ, the score is
    0.5 and `pairwise_source` is "neither".
    """

    needs: ClassVar[tuple[str, ...]] = ("query", "response", "second_response")
    words: ClassVar[Mapping[str, float] | None] = {"A": 1.0, "B": 0.0, "C": 0.5}
    template = (
        "Which answer to the query is better? Ignore their order and their length."
        "\n\nQuery:\n{query}\n\nReference:\n{reference}\n\nAnswer A:\n{answer_1}\n\nAnswer B:\n"
        "{answer_2}\n\nGive your reasons first. Then write your verdict on a separate line: [[A]], "
        "[[B]], or [[C]] if they are equal."
    )

    def __init__(
        self, llm: Any = None, eval_template: Any = None, enforce_consensus: bool = True
    ) -> None:
        super().__init__(llm, eval_template)
        self.enforce_consensus = enforce_consensus

    async def aevaluate(
        self, query: Any = None, response: Any = None, contexts: Any = None, **further: Any
    ) -> LabelledEvaluationResult:
        """Compare `response` with `second_response`."""
        pair = [response, further.get("second_response")]
        results = []
        for one, other in [pair, pair[::-1]][: 2 if self.enforce_consensus else 1]:
            further["second_response"] = other
            results.append(await super().aevaluate(query, one, contexts, **further))
        return _count_calls(_find_consensus(results), results)

    def _read(self, response: Any, fields: dict[str, Any]) -> tuple[Any, Sample]:
        pair = {"answer_1": response, "answer_2": fields["second_response"]}
        answers = {name: to_text(read_answer(one).value) for name, one in pair.items()}
        fields["variables"] = {**answers, **(fields.get("variables") or {})}
        return super()._read(response, fields)


def _find_consensus(results: list[LabelledEvaluationResult]) -> LabelledEvaluationResult:
    """Return the result of both orders, or a tie if they differ."""
    for place, each in enumerate(results):
        each.response = results[0].response
        each.pairwise_source = "flipped" if place else "original"
        if each.score is None:
            return each
        each.score = 1 - each.score if place else each.score
    decided = [each for each in results if each.score != 0.5]
    best = (decided or results)[0]
    if len({each.score for each in decided}) > 1:
        best.score, best.pairwise_source, best.feedback = 0.5, "neither", ""
    best.passing = None if best.score == 0.5 else best.score == 1
    return best
