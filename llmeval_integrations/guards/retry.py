"""Ask a model again, with the reason, until its answer is accepted."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import isawaitable, iscoroutinefunction, signature
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from llmeval_integrations.core.errors import InvalidOptionError, RejectedAnswerError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.guards.repair import Edit
from llmeval_integrations.guards.repair import repair as repair_text
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.messages.read import read_answer

_NAMES: Final = ("messages", "input", "prompt", "user_msg")
"""The names that SDKs and applications give to the parameter for the prompt."""

_VALID_CALL: Final = "This call is valid. It was not run because another call was not accepted."


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
        names = tuple(signature(function).parameters)

        @wraps(function)
        def ask(*args: Any, **kwargs: Any) -> Any:
            place = _find_prompt(names, args, kwargs)

            def call(prompt: Any) -> Any:
                if isinstance(place, int):
                    return function(*args[:place], prompt, *args[place + 1 :], **kwargs)
                return function(*args, **kwargs | ({} if prompt is MISSING else {place: prompt}))

            if place == "feedback":
                return self.ask(call, MISSING, MISSING, lambda _, __, result: result.feedback())
            prompt = args[place] if isinstance(place, int) else kwargs[place]
            return self.ask(call, prompt, _find_question(prompt), _add_turns)

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
            results: list[Result] = []  # all answers share this list
            while True:
                reply = await reply if is_async else reply
                output = find(reply)
                if output is MISSING:
                    return GuardResult(reply, Result.unscored("not checked"), results, [])
                sample = Sample(output, **{"input": question, **self.fields})
                answer, result, edits = await self._check(reply, sample, is_async)
                results.append(result)
                answers.append(GuardResult(answer, result, results, edits))
                if result.passed is not False:
                    return answers[-1]
                if len(answers) == self.tries:
                    return self._choose(answers)
                request = add(request, reply, result)
                reply = call(request)

        return run(reply, request) if is_async else _finish(run(reply, request))

    async def _check(
        self, reply: Any, sample: Sample, is_async: bool
    ) -> tuple[Any, Result, list[Edit]]:
        """Return a reply, its result and no edits; or if it fails, those of its repaired text."""

        async def evaluate(sample: Sample) -> Result:
            evaluator = self.evaluator
            return await evaluator.aevaluate(sample) if is_async else evaluator.evaluate(sample)

        result = await evaluate(sample)
        text = read_answer(reply).value if self.repairs and result.passed is False else None
        if isinstance(text, str):
            repaired = repair_text(text)
            if repaired.edits and repaired.refusal is None:
                better = await evaluate(replace(sample, output=repaired.text))
                if better.passed is not False:
                    return repaired.text, better, repaired.edits
        return reply, result, []

    def _choose(self, answers: list[GuardResult]) -> GuardResult:
        """Return the best of answers that failed, or raise RejectedAnswerError."""

        def rank(answer: GuardResult) -> tuple[float, float]:
            # The score, and for a schema the share of it that the answer meets.
            score = answer.result.score
            figure = float("-inf") if score is None else float(score)
            share = answer.result.metadata.get("schema_score", 0.0)
            return -figure if self.evaluator.lower_is_better else figure, share

        # Among equal answers the last is best, since the model knew the reasons.
        best: GuardResult = max(reversed(answers), key=rank)
        if self.raises:
            message = f"no answer passed in {len(answers)} tries: {best.result.feedback()}"
            raise RejectedAnswerError(message, best)
        return best


def _finish(coroutine: Coroutine[Any, Any, GuardResult]) -> Any:
    """Run a coroutine that awaits nothing to its end."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value


def _find_prompt(names: Sequence[str], args: Sequence[Any], kwargs: dict[str, Any]) -> int | str:
    """Return the position or name of the prompt among a function's arguments."""
    if "feedback" in names:
        return "feedback"
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    places = [place for place, value in given if isinstance(value, (str, list, tuple))]
    named: dict[int | str, str] = dict(enumerate(names))
    found = [place for place in places if named.get(place, place) in _NAMES]
    found += [place for place in places if isinstance(place, int)]
    if not found:
        raise InvalidOptionError(
            "guard finds no prompt that can tell the model what is wrong: pass a text or messages "
            "as the first argument or as messages=, input= or prompt=, or give the function a "
            "parameter named feedback"
        )
    return found[0]


def _find_question(prompt: Any) -> Any:
    """Return a prompt that is a text, or else the content of the user's last message."""
    if isinstance(prompt, str):
        return prompt
    for one in reversed(prompt):
        if isinstance(one, dict):
            role, content = one.get("role"), one.get("content", MISSING)
        else:  # a message of LangChain or LlamaIndex
            role = getattr(one, "role", getattr(one, "type", None))
            content = getattr(one, "content", MISSING)
        if role in ("user", "human"):
            return content
    return MISSING


def _add_turns(prompt: Any, reply: Any, result: Result) -> Any:
    """Return a prompt with a reply and the feedback on it added."""
    if isinstance(prompt, str):
        if not _has_list(reply, "output"):
            return f"{prompt}\n\nYour answer was:\n{_write(reply)}\n\n{result.feedback()}"
        prompt = [{"role": "user", "content": prompt}]  # OpenAI's responses accept lists
    turns = write_turns(reply, result)
    if prompt and type(prompt[-1]).__module__.startswith("llama_index."):
        turns = [type(prompt[-1])(role=one["role"], content=one["content"]) for one in turns]
    return [*prompt, *turns]


def write_turns(reply: Any, result: Result) -> list[Any]:
    """Return the reply as a message, and messages with the feedback, one for each tool call."""
    turns: list[Any] = []
    ids: list[Any] = []
    form: dict[str, Any] = {"role": "tool"}
    id_key, text_key = "tool_call_id", "content"
    is_anthropic = hasattr(reply, "role") and _has_list(reply, "content")
    if hasattr(reply, "choices"):  # OpenAI's chat completions
        message = reply.choices[0].message
        kept = {"role", "content", "tool_calls"}
        turns = [{"content": "", **message.model_dump(include=kept, exclude_none=True)}]
        ids = [call.id for call in message.tool_calls or ()]
    elif _has_list(reply, "output"):  # OpenAI's responses
        # The API rejects what the SDK parsed.
        parsed = {"parsed_arguments": True, "content": {"__all__": {"parsed"}}}
        turns = [item.model_dump(exclude_none=True, exclude=parsed) for item in reply.output]
        ids = [item.call_id for item in reply.output if item.type == "function_call"]
        form, id_key, text_key = {"type": "function_call_output"}, "call_id", "output"
    elif is_anthropic:
        dump = {"exclude_none": True, "exclude": {"parsed_output"}}
        blocks = [block.model_dump(**dump) for block in reply.content]
        blocks = [block for block in blocks if block.get("text") != ""]  # the API rejects them
        turns = [{"role": "assistant", "content": blocks}] if blocks else []
        ids = [block.id for block in reply.content if block.type == "tool_use"]
        form, id_key = {"type": "tool_result", "is_error": True}, "tool_use_id"
    elif hasattr(reply, "tool_calls") and hasattr(reply, "additional_kwargs"):  # LangChain's
        turns, ids = [reply], [one["id"] for one in (*reply.tool_calls, *reply.invalid_tool_calls)]
        form["status"] = "error"
    else:
        turns = [{"role": "assistant", "content": _write(reply)}]
    texts = _word_calls(len(ids), result)
    feedback: Any = [{**form, id_key: id_, text_key: text} for id_, text in zip(ids, texts)]
    if is_anthropic or not ids:
        feedback = [{"role": "user", "content": feedback or result.feedback()}]
    return [*turns, *feedback]


def _has_list(reply: Any, name: str) -> bool:
    return isinstance(getattr(reply, name, None), list)


def _word_calls(count: int, result: Result) -> list[str]:
    """Return the feedback on each call; all feedback for each if it is not known by call."""
    rows = result.metadata.get("calls", ())
    if len(rows) != count or not all("valid" in row for row in rows):
        return [result.feedback()] * count
    alone = (Result(0.0, row["valid"], metadata={"calls": [row]}) for row in rows)
    return [one.feedback() or _VALID_CALL for one in alone]


def _write(reply: Any) -> str:
    value = read_answer(reply).value
    if isinstance(value, str):
        return value
    plain = parse(value)  # also reads Pydantic models
    return str(value) if isinstance(plain, Defect) else json.dumps(plain, ensure_ascii=False)
