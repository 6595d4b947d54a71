"""Ask a model again, with the reason, until its answer is accepted."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import wraps
from inspect import isawaitable, iscoroutinefunction, signature
from typing import Any, NamedTuple

from msgspec import structs

from llmeval_integrations.core.errors import InvalidOptionError, RejectedAnswerError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.guards.prompt import Prompt
from llmeval_integrations.guards.repair import Edit
from llmeval_integrations.guards.repair import repair as repair_text
from llmeval_integrations.messages.read import read_answer


class GuardResult(NamedTuple):
    """The best answer, and the results of all tries."""

    output: Any
    """The best answer, as the function returned it; if a repair was accepted, the repaired text."""

    result: Result
    """The evaluator's result for this answer."""

    results: list[Result]
    """The results of all tries in their order."""

    edits: list[Edit]
    """The changes that a repair made in the answer."""


def guard(
    evaluator: Evaluator,
    tries: int = 3,
    *,
    repair: bool = False,
    raises: bool = False,
    **fields: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Call a function that asks a model again, with the reason, until its answer is accepted.

    The function may be the `create` of an SDK, blocking or asynchronous. Its prompt is the argument
    `messages`, `input` or `prompt`, else the first text or list. The answer and `result.feedback()`
    are added to it, for each tool call by its id. A function with a parameter `feedback` receives
    that text instead. If a judge could not decide, the answer is accepted.

    Example:
        >>> ask = guard(JsonSchema(schema), tries=3)(client.chat.completions.create)
        >>> done = ask(model="gpt-5-mini", messages=[{"role": "user", "content": "The total?"}])
        >>> done.result.passed, len(done.results)
        (True, 2)

    Args:
        evaluator: Checks each answer. A judge receives the prompt as the sample's input.
        tries: How often the function is called at most.
        repair: Whether to repair the text, if possible, before the model is asked again.
        raises: Whether to raise RejectedAnswerError if the last try fails.
        fields: Further fields of the sample, such as `reference` and `contexts`.

    Returns:
        A decorator. The decorated function returns a GuardResult.
    """
    return Retry(evaluator, tries, raises, fields, repair).wrap


@dataclass(frozen=True)
class Retry:
    """Asks a model until the evaluator accepts its answer or no try is left."""

    evaluator: Evaluator
    tries: int
    raises: bool
    fields: dict[str, Any]
    repairs: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.evaluator, Evaluator):
            raise InvalidOptionError(f"guard needs an evaluator, got {quote(self.evaluator)}")
        if not isinstance(self.tries, int) or self.tries < 1:
            raise InvalidOptionError(f"tries must be 1 or more, got {self.tries!r}")
        Sample(MISSING, **self.fields)  # a misspelt field raises here, before a model is asked

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function whose arguments contain the prompt."""
        parameters = tuple(signature(function).parameters)

        @wraps(function)
        def ask(*args: Any, **kwargs: Any) -> Any:
            prompt = Prompt.find(parameters, args, kwargs)
            return self.ask(
                lambda prompt: prompt.call(function), prompt, prompt.question, Prompt.add
            )

        @wraps(function)
        async def ask_async(*args: Any, **kwargs: Any) -> Any:
            return await ask(*args, **kwargs)

        return ask_async if iscoroutinefunction(function) else ask

    def ask(
        self,
        call: Callable[[Any], Any],
        request: Any,
        question: Any,
        add: Callable[[Any, Any, Result], Any],
        find: Callable[[Any], Any] = lambda reply: reply,
    ) -> Any:
        """Return the best answer as GuardResult, or a coroutine if `call` is asynchronous.

        `question` is the input of the sample, for a judge. `add` returns a request with a reply and
        its feedback added. `find` returns the output in a reply; MISSING ends the tries.
        """
        reply = call(request)
        is_async = isawaitable(reply)

        async def run(reply: Any, request: Any) -> GuardResult:
            answers: list[GuardResult] = []
            results: list[Result] = []
            while True:
                reply = await reply if is_async else reply
                output = find(reply)
                if output is MISSING:
                    return GuardResult(reply, Result.unscored("not checked"), results, [])
                sample = Sample(output, **{"input": question, **self.fields})
                answer = await self._check(reply, sample, results, is_async)
                results.append(answer.result)
                answers.append(answer)
                if answer.result.passed is not False:
                    return answer
                if len(answers) == self.tries:
                    return self._choose(answers)
                request = add(request, reply, answer.result)
                reply = call(request)

        return run(reply, request) if is_async else _finish(run(reply, request))

    async def _check(
        self, reply: Any, sample: Sample, results: list[Result], is_async: bool
    ) -> GuardResult:
        """Return the result of a reply, or if it fails, of its repaired text."""

        async def evaluate(sample: Sample) -> Result:
            evaluator = self.evaluator
            return await evaluator.aevaluate(sample) if is_async else evaluator.evaluate(sample)

        answer = GuardResult(reply, await evaluate(sample), results, [])
        text = read_answer(reply).value if self.repairs else None
        if answer.result.passed is not False or not isinstance(text, str):
            return answer
        repaired = repair_text(text)
        if not repaired.edits or repaired.refusal is not None:
            return answer
        result = await evaluate(structs.replace(sample, output=repaired.text))
        better = GuardResult(repaired.text, result, results, repaired.edits)
        return answer if result.passed is False else better

    def _choose(self, answers: list[GuardResult]) -> GuardResult:
        """Return the best of answers that failed, or raise RejectedAnswerError."""
        # Among equal answers the last is best, since the model knew the reasons.
        best: GuardResult = max(reversed(answers), key=self._rank)
        if self.raises:
            message = f"no answer passed in {len(answers)} tries: {best.result.feedback()}"
            raise RejectedAnswerError(message, best)
        return best

    def _rank(self, answer: GuardResult) -> tuple[float, float]:
        """Return the score, and for a schema the share of it that the answer meets."""
        score = answer.result.score
        figure = float("-inf") if score is None else float(score)
        share = answer.result.metadata.get("schema_score", 0.0)
        return -figure if self.evaluator.lower_is_better else figure, share


def _finish(coroutine: Coroutine[Any, Any, GuardResult]) -> Any:
    """Run a coroutine that awaits nothing to its end."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
