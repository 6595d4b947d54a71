"""The prompt of a call, and the feedback that is added to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.messages.read import read_answer

_NAMES: Final = ("messages", "input", "prompt", "user_msg")
"""The names that SDKs and applications give to the parameter for the prompt."""

T = TypeVar("T")

_KINDS: Final = (str, list, tuple)

_VALID_CALL: Final = "This call is valid. It was not run because another call was not accepted."


class Prompt(NamedTuple):
    """The arguments of a call, one of which is the prompt."""

    arguments: dict[int | str, Any]
    """The arguments by position or name."""

    place: int | str
    """The position or name of the prompt, or "feedback" for a function with this parameter."""

    @classmethod
    def find(
        cls, parameters: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Prompt:
        """Find the prompt, a text or messages, by the names of a function's parameters."""
        arguments: dict[int | str, Any] = dict(enumerate(args))
        arguments.update(kwargs.items())
        if "feedback" in parameters:
            return cls(arguments, "feedback")
        places = [place for place, value in arguments.items() if isinstance(value, _KINDS)]
        names: dict[int | str, str] = dict(enumerate(parameters))
        found = [place for place in places if names.get(place, place) in _NAMES]
        found += [place for place in places if isinstance(place, int)]
        if not found:
            raise InvalidOptionError(
                "guard finds no prompt that can tell the model what is wrong: pass a text or "
                "messages as the first argument or as messages=, input= or prompt=, or give the "
                "function a parameter named feedback"
            )
        return cls(arguments, found[0])

    @property
    def question(self) -> Any:
        """The question: the prompt if it is a text, else the content of the last user message."""
        value = [] if self.place == "feedback" else self.arguments[self.place]
        if isinstance(value, str):
            return value
        asked = [one for one in value if isinstance(one, dict) and one.get("role") == "user"]
        return asked[-1].get("content", MISSING) if asked else MISSING

    def add(self, reply: Any, result: Result) -> Prompt:
        """Return the call with the reply and the feedback added to its prompt."""
        if self.place == "feedback":
            value: Any = result.feedback()
        else:
            value = _continue(self.arguments[self.place], reply, result)
        return self._replace(arguments={**self.arguments, self.place: value})

    def call(self, function: Callable[..., Any]) -> Any:
        """Call the function with these arguments."""
        args = [value for place, value in self.arguments.items() if isinstance(place, int)]
        kwargs = {place: each for place, each in self.arguments.items() if isinstance(place, str)}
        return function(*args, **kwargs)


def _continue(prompt: Any, reply: Any, result: Result) -> Any:
    if not isinstance(prompt, str):
        turns = _turns(reply, result)
        if prompt and type(prompt[-1]).__module__.startswith("llama_index."):
            kind = type(prompt[-1])
            return [*prompt, *(kind(role=one["role"], content=one["content"]) for one in turns)]
        return [*prompt, *turns]
    if isinstance(getattr(reply, "output", None), list):  # OpenAI's responses accept lists
        return [{"role": "user", "content": prompt}, *_turns(reply, result)]
    return f"{prompt}\n\nYour answer was:\n{_text(reply)}\n\n{result.feedback()}"


def _turns(reply: Any, result: Result) -> list[Any]:
    """Return the reply as a message, and messages with the feedback, one for each tool call."""
    if hasattr(reply, "choices"):  # OpenAI's chat completions
        message = reply.choices[0].message
        kept = {"role", "content", "tool_calls"}
        turn: Any = {"content": "", **message.model_dump(include=kept, exclude_none=True)}
        return [turn, *_tell([call.id for call in message.tool_calls or ()], result)]
    if isinstance(getattr(reply, "output", None), list):  # OpenAI's responses
        ids = [item.call_id for item in reply.output if item.type == "function_call"]
        outputs = [
            {"type": "function_call_output", "call_id": id_, "output": text}
            for id_, text in word_calls(ids, result)
        ]
        items = [item.model_dump(exclude_none=True) for item in reply.output]
        return [*items, *(outputs or _tell([], result))]
    if hasattr(reply, "role") and isinstance(getattr(reply, "content", None), list):
        return _message_turns(reply.content, result)
    if hasattr(reply, "tool_calls") and hasattr(reply, "additional_kwargs"):  # LangChain's
        return [reply, *_tell([call["id"] for call in reply.tool_calls], result)]
    return [{"role": "assistant", "content": _text(reply)}, *_tell([], result)]


def _message_turns(blocks: list[Any], result: Result) -> list[dict[str, Any]]:
    """Return the turns for Anthropic, which rejects empty messages."""
    turn = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in blocks]
    turn = [block for block in turn if block.get("text") != ""]
    feedback: Any = [
        {"type": "tool_result", "tool_use_id": id_, "content": text, "is_error": True}
        for id_, text in word_calls([b.id for b in blocks if b.type == "tool_use"], result)
    ]
    said: list[dict[str, Any]] = [{"role": "assistant", "content": turn}] if turn else []
    return [*said, {"role": "user", "content": feedback or result.feedback()}]


def _tell(ids: list[str], result: Result) -> list[dict[str, Any]]:
    """Return a message for each of these calls; without calls, one message with all feedback."""
    messages = [
        {"role": "tool", "tool_call_id": id_, "content": text}
        for id_, text in word_calls(ids, result)
    ]
    return messages or [{"role": "user", "content": result.feedback()}]


def word_calls(calls: Sequence[T], result: Result) -> list[tuple[T, str]]:
    """Return the feedback on each call; all feedback for each if it is not known by call."""
    rows = result.metadata.get("calls", ())
    if len(rows) != len(calls) or not all("valid" in row for row in rows):
        return [(call, result.feedback()) for call in calls]
    alone = (Result(0.0, row["valid"], metadata={"calls": [row]}) for row in rows)
    return [(call, one.feedback() or _VALID_CALL) for call, one in zip(calls, alone)]


def _text(reply: Any) -> str:
    value = read_answer(reply).value
    if isinstance(value, str):
        return value
    plain = parse(value)  # also reads Pydantic models
    return str(value) if isinstance(plain, Defect) else json.dumps(plain, ensure_ascii=False)
