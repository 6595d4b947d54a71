"""How a model is told what is wrong with its answer: what is added to the prompt."""

from __future__ import annotations

import json
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.messages.reading import read_answer

_PROMPTS: Final = ("messages", "input", "prompt", "user_msg")
"""What SDKs and applications call the parameter that holds the prompt."""

_KINDS: Final = (str, list, tuple)

_VALID_CALL: Final = "This call is valid. It was not run, since another one was not accepted."


def find_prompt(
    parameters: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str | int:
    """Return the name or position of the argument that is the prompt: a text, or messages.

    `parameters` are the names of the function's parameters, in order. Raises InvalidOptionError
    where there is no prompt.
    """
    for name in _PROMPTS:
        if isinstance(kwargs.get(name), _KINDS):
            return name
    places = [place for place, value in enumerate(args) if isinstance(value, _KINDS)]
    known = {place for place, name in enumerate(parameters) if name in _PROMPTS}
    named = [place for place in places if place in known]
    if named or places:
        return (named or places)[0]
    raise InvalidOptionError(
        "guard finds no prompt to tell the model in what is wrong: give the function a text or "
        "messages first, or as one of messages=, input=, prompt=, or a parameter named feedback"
    )


def add_feedback(
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: str | int | None,
    reply: Any,
    result: Result,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call, the prompt with the reply and what is wrong with it.

    Without a place for that the feedback is an argument of its own.
    """
    if place is None:
        return args, {**kwargs, "feedback": result.feedback()}
    if isinstance(place, str):
        return args, {**kwargs, place: _continue(kwargs[place], reply, result)}
    return (*args[:place], _continue(args[place], reply, result), *args[place + 1 :]), kwargs


def question(args: tuple[Any, ...], kwargs: dict[str, Any], place: str | int | None) -> Any:
    """Return what a prompt asks: the text itself, or that of the last message of a user."""
    if place is None:
        return MISSING
    prompt = kwargs[place] if isinstance(place, str) else args[place]
    if isinstance(prompt, str):
        return prompt
    questions = [one for one in prompt if isinstance(one, dict) and one.get("role") == "user"]
    return questions[-1].get("content", MISSING) if questions else MISSING


def _continue(prompt: Any, reply: Any, result: Result) -> Any:
    if not isinstance(prompt, str):
        turns = _turns(reply, result)
        if prompt and type(prompt[-1]).__module__.startswith("llama_index."):
            kind = type(prompt[-1])
            return [*prompt, *(kind(role=one["role"], content=one["content"]) for one in turns)]
        return [*prompt, *turns]
    if isinstance(getattr(reply, "output", None), list):  # OpenAI's responses take both
        return [{"role": "user", "content": prompt}, *_turns(reply, result)]
    return f"{prompt}\n\nYour answer was:\n{_text(reply)}\n\n{result.feedback()}"


def _turns(reply: Any, result: Result) -> list[Any]:
    """Return the reply as a message, and what is wrong with it, for each tool call by its id."""
    if hasattr(reply, "choices"):
        return _chat_turns(reply.choices[0].message, result)
    if isinstance(getattr(reply, "output", None), list):
        return _response_turns(reply.output, result)
    if hasattr(reply, "role") and isinstance(getattr(reply, "content", None), list):
        return _message_turns(reply.content, result)
    if hasattr(reply, "tool_calls") and hasattr(reply, "additional_kwargs"):  # LangChain's
        return [reply, *_tell_calls([call["id"] for call in reply.tool_calls], result)]
    return [{"role": "assistant", "content": _text(reply)}, *_tell_calls([], result)]


def _tell_calls(ids: list[str], result: Result) -> list[dict[str, Any]]:
    """Write what is wrong with the calls of these ids; without calls, what is wrong at all."""
    feedback = [
        {"role": "tool", "tool_call_id": number, "content": text}
        for number, text in zip(ids, word_calls(result, len(ids)))
    ]
    return feedback or [{"role": "user", "content": result.feedback()}]


def _chat_turns(message: Any, result: Result) -> list[dict[str, Any]]:
    """Write the turns of OpenAI's chat completions."""
    kept = {"role", "content", "tool_calls"}
    turn = {"content": "", **message.model_dump(include=kept, exclude_none=True)}
    return [turn, *_tell_calls([call.id for call in message.tool_calls or ()], result)]


def _response_turns(items: list[Any], result: Result) -> list[dict[str, Any]]:
    """Write the turns of OpenAI's responses."""
    turn = [item.model_dump(exclude_none=True) for item in items]
    calls = [item for item in items if item.type == "function_call"]
    feedback = [
        {"type": "function_call_output", "call_id": call.call_id, "output": text}
        for call, text in zip(calls, word_calls(result, len(calls)))
    ]
    return [*turn, *(feedback or [{"role": "user", "content": result.feedback()}])]


def _message_turns(blocks: list[Any], result: Result) -> list[dict[str, Any]]:
    """Write the turns of Anthropic's messages, which are never empty."""
    turn = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in blocks]
    turn = [block for block in turn if block.get("text") != ""]
    calls = [block for block in blocks if block.type == "tool_use"]
    feedback: Any = [
        {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": True}
        for call, text in zip(calls, word_calls(result, len(calls)))
    ]
    turns: list[dict[str, Any]] = [{"role": "user", "content": feedback or result.feedback()}]
    return [{"role": "assistant", "content": turn}, *turns] if turn else turns


def word_calls(result: Result, calls: int) -> list[str]:
    """Word what is wrong for each call; all of it for each where it is not known by call."""
    rows = result.metadata.get("calls", ())
    if len(rows) != calls or not all("valid" in row for row in rows):
        return [result.feedback()] * calls
    alone = (Result(0.0, row["valid"], metadata={"calls": [row]}) for row in rows)
    return [one.feedback() or _VALID_CALL for one in alone]


def _text(reply: Any) -> str:
    value = read_answer(reply).value
    if isinstance(value, str):
        return value
    plain = parse(value)  # Pydantic models among them
    return str(value) if isinstance(plain, Defect) else json.dumps(plain, ensure_ascii=False)
