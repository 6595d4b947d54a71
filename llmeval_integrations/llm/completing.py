"""One question and its answer, without a judge around."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.answers import check_type, name_of, read_answer, schema_of
from llmeval_integrations.llm.messages import ROLES, Message
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import OUTPUTS, JudgeRequest


def completion(
    prompt: Any, result_type: Any, output: Any, temperature: float | None, max_tokens: int | None
) -> Generator[JudgeRequest, JudgeReply, Any]:
    """Ask once and give the answer in the type asked for; text is given whole, thinking and all.

    Raises InvalidOptionError, and UnreadableJudgementError for an answer of another form.
    """
    check_type(result_type)
    if output not in OUTPUTS:
        raise InvalidOptionError(f"output={quote(output)} is not one of {', '.join(OUTPUTS)}")
    _check_settings(temperature, max_tokens)
    reply = yield JudgeRequest(
        _messages(prompt),
        schema_of(result_type),
        name_of(result_type),
        output,
        temperature,
        max_tokens,
    )
    return read_answer(result_type, reply.text)


def _check_settings(temperature: Any, max_tokens: Any) -> None:
    """Raise for what no server takes, so that the mistake is named where it is made."""
    if temperature is not None and not _is_number(temperature, (int, float), 0, 2):
        raise InvalidOptionError(
            f"temperature={quote(temperature)} is not a number from 0 to 2, or None"
        )
    if max_tokens is not None and not _is_number(max_tokens, int, 1, math.inf):
        raise InvalidOptionError(
            f"max_tokens={quote(max_tokens)} is not a whole number from 1, or None"
        )


def _is_number(value: Any, kind: Any, least: float, most: float) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and least <= value <= most


def _messages(prompt: Any) -> tuple[Message, ...]:
    if isinstance(prompt, str):
        return (Message("user", prompt),)
    if not isinstance(prompt, Sequence) or not prompt:
        raise InvalidOptionError(f"prompt={quote(prompt)} is not a text or a list of messages")
    return tuple(map(_message, prompt))


def _message(message: Any) -> Message:
    if isinstance(message, Message):
        return message
    if (
        not isinstance(message, Mapping)
        or message.get("role") not in ROLES
        or not isinstance(message.get("content"), str)
    ):
        raise InvalidOptionError(
            f"prompt: {quote(message)} is not a message with a role ({', '.join(ROLES)}) and a "
            "text as content"
        )
    return Message(message["role"], message["content"])
