"""A model that is told why its answer is not accepted, and answers again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import wraps
from inspect import isawaitable, iscoroutinefunction, signature
from typing import Any, NamedTuple, TypeAlias

from llmeval_integrations.core.errors import InvalidOptionError, RejectedAnswerError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.guards.prompt import Prompt
from llmeval_integrations.guards.repair import Edit
from llmeval_integrations.guards.repair import repair as repair_text
from llmeval_integrations.messages.reading import read_answer


class GuardResult(NamedTuple):
    """What came of the tries."""

    output: Any
    """The best answer, as the function gave it; the text of a repair where one was accepted."""

    result: Result
    """What the evaluator says of it."""

    results: list[Result]
    """What it says of each try, in order."""

    edits: list[Edit]
    """What a repair changed in the answer."""


def guard(
    evaluator: Evaluator,
    tries: int = 3,
    *,
    repair: bool = False,
    raises: bool = False,
    **fields: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have a function that asks a model ask again, with the reason, while its answer fails.

    The function takes a prompt and returns an answer, blocking or asynchronous: one of your own, or
    `create` of an SDK. Its prompt is the argument `messages`, `input` or `prompt`, else the first
    text or list. The answer and `result.feedback()` are added to it, for each tool call by its id.
    A function with a parameter `feedback` is given that text instead.

    An answer is accepted unless the evaluator fails it: a judge that could not tell fails nothing.

    Example:
        >>> ask = guard(JsonSchema(schema), tries=3)(client.chat.completions.create)
        >>> done = ask(model="gpt-5-mini", messages=[{"role": "user", "content": "The total?"}])
        >>> done.result.passed, len(done.results)
        (True, 2)

    Args:
        evaluator: Looks at each answer. A judge is given the prompt as its input.
        tries: How often the function is called at most.
        repair: Whether a text is repaired, if it then passes, before the model is asked again.
        raises: Whether RejectedAnswerError is raised where the last try fails, too. Its `best`
            has what would have been returned.
        fields: Further fields of the sample, such as `reference` and `contexts`.

    Returns:
        A decorator; the decorated function returns GuardResult.
    """
    return Retry(evaluator, tries, raises, fields, repair).guard


Steps: TypeAlias = Generator[Any, Any, Any]
"""Yields samples, to be sent their results, and requests, to be sent what the model replies."""


@dataclass(frozen=True)
class Retry:
    """A model is asked until the evaluator accepts its answer, or the tries are used up."""

    evaluator: Evaluator
    tries: int
    raises: bool
    fields: dict[str, Any]
    repairs: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.evaluator, Evaluator):
            raise InvalidOptionError(f"guard takes an evaluator, got {quote(self.evaluator)}")
        if not isinstance(self.tries, int) or self.tries < 1:
            raise InvalidOptionError(f"tries is 1 or more, got {self.tries!r}")
        Sample(MISSING, **self.fields)  # a misspelt field raises here, before a model is asked

    def guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Have a function ask until its answer is accepted."""
        try:
            parameters = tuple(signature(function).parameters)
        except (TypeError, ValueError):  # some built-in functions say nothing of theirs
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
        """Send each sample of some steps its result, and each request what `call` makes of it.

        Returns what the steps return; where `call` is asynchronous, what waits for that. So
        blocking and asynchronous functions are guarded by the same lines.
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
        """Return the best answer to a request, whose `question` is a judge's input.

        `add` makes a request with a reply and what is wrong with it; `find` finds in a reply what
        is looked at, and MISSING ends the tries.
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
        # Of answers that are equally good the last was written with the reasons.
        best: GuardResult = max(reversed(answers), key=self._rank)
        if self.raises:
            message = f"no answer passed in {len(answers)} tries: {best.result.feedback()}"
            raise RejectedAnswerError(message, best)
        return best

    def _rank(self, answer: GuardResult) -> tuple[float, float]:
        """Return the score, and of a schema the share that is right."""
        score = answer.result.score
        figure = float("-inf") if score is None else float(score)
        share = answer.result.metadata.get("schema_score", 0.0)
        return -figure if self.evaluator.lower_is_better else figure, share
