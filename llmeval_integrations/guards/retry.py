"""Ask a model again, with the reason, until its answer is accepted."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import wraps
from inspect import isawaitable, iscoroutinefunction, signature
from typing import Any, NamedTuple, TypeAlias

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

    The function accepts a prompt and returns an answer, blocking or asynchronous. It can be your
    own or the `create` of an SDK. Its prompt is the argument `messages`, `input` or `prompt`, else
    the first text or list. The answer and `result.feedback()` are added to the prompt. Each tool
    call receives its own feedback. A function with a parameter `feedback` receives that text
    instead.

    An answer is accepted unless the evaluator fails it. If a judge could not decide, the answer is
    accepted.

    Example:
        >>> ask = guard(JsonSchema(schema), tries=3)(client.chat.completions.create)
        >>> done = ask(model="gpt-5-mini", messages=[{"role": "user", "content": "The total?"}])
        >>> done.result.passed, len(done.results)
        (True, 2)

    Args:
        evaluator: Checks each answer. A judge receives the prompt as the sample's input.
        tries: How often the function is called at most.
        repair: Whether to try a repair of the text before the model is asked again.
        raises: Whether to raise RejectedAnswerError if the last try fails. Its `best` is what
            would have been returned.
        fields: Further fields of the sample, such as `reference` and `contexts`.

    Returns:
        A decorator; the decorated function returns GuardResult.
    """
    return Retry(evaluator, tries, raises, fields, repair).guard


Steps: TypeAlias = Generator[Any, Any, Any]
"""Yields samples and requests; receives the results of the samples and the model's replies."""


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

    def guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that it asks until its answer is accepted."""
        try:
            parameters = tuple(signature(function).parameters)
        except (TypeError, ValueError):  # some built-in functions have no signature
            parameters = ()

        def call(prompt: Prompt) -> Any:
            return function(*prompt.args, **prompt.kwargs)

        @wraps(function)
        def ask(*args: Any, **kwargs: Any) -> Any:
            prompt = Prompt.find(parameters, args, kwargs)
            return self.drive(self.run(prompt, prompt.question, Prompt.add), call)

        @wraps(function)
        async def ask_async(*args: Any, **kwargs: Any) -> Any:
            return await ask(*args, **kwargs)

        return ask_async if iscoroutinefunction(function) else ask

    def drive(self, steps: Steps, call: Callable[[Any], Any]) -> Any:
        """Answer each sample of the steps with its result, and each request with its reply.

        Return what the steps return, or a coroutine if `call` is asynchronous. So the same lines
        guard blocking and asynchronous functions.
        """
        sent: Any = None
        try:
            while not isawaitable(sent):
                step = steps.send(sent)
                sent = self.evaluator.evaluate(step) if isinstance(step, Sample) else call(step)
        except StopIteration as end:
            return end.value
        return self._drive_async(steps, call, sent)

    async def _drive_async(self, steps: Steps, call: Callable[[Any], Any], sent: Any) -> Any:
        try:
            while True:
                step = steps.send(await sent)
                sent = self.evaluator.aevaluate(step) if isinstance(step, Sample) else call(step)
        except StopIteration as end:
            return end.value

    def run(
        self,
        request: Any,
        question: Any,
        add: Callable[[Any, Any, Result], Any],
        find: Callable[[Any], Any] = lambda reply: reply,
    ) -> Steps:
        """Return the best answer to a request; `question` is the input for a judge.

        `add` returns the request with a reply and its feedback. `find` returns the output in a
        reply. MISSING ends the tries.
        """
        fields = {"input": question, **self.fields}
        answers: list[GuardResult] = []
        results: list[Result] = []
        for _ in range(self.tries):
            reply = yield request
            output = find(reply)
            if output is MISSING:
                return GuardResult(reply, Result.unscored("not looked at"), results, [])
            answer = GuardResult(reply, (yield Sample(output, **fields)), results, [])
            text = read_answer(reply).value if self.repairs else None
            if answer.result.passed is False and isinstance(text, str):
                done = repair_text(text)
                if done.edits and done.refusal is None:
                    result = yield Sample(done.text, **fields)
                    if result.passed is not False:
                        answer = GuardResult(done.text, result, results, done.edits)
            results.append(answer.result)
            answers.append(answer)
            if answer.result.passed is not False:
                return answer
            request = add(request, reply, answer.result)
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
