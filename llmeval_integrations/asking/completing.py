"""One question and its answer, without a judge around."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from llmeval_integrations.asking.answers import check_type, name_of, read_answer, schema_of
from llmeval_integrations.asking.messages import ROLES, Message
from llmeval_integrations.asking.reply import JudgeReply
from llmeval_integrations.asking.request import OUTPUTS, JudgeRequest
from llmeval_integrations.errors import InvalidOptionError
from llmeval_integrations.wording import shown


def completion(
    prompt: Any, result_type: Any, output: Any, temperature: float | None, max_tokens: int | None
) -> Generator[JudgeRequest, JudgeReply, Any]:
    """Ask once and give the answer in the type asked for.

    Raises InvalidOptionError, and UnreadableJudgementError for an answer of another form.
    """
    check_type(result_type)
    if output not in OUTPUTS:
        raise InvalidOptionError(f"output={shown(output)} is not one of {', '.join(OUTPUTS)}")
    reply = yield JudgeRequest(
        _messages(prompt),
        schema_of(result_type),
        name_of(result_type),
        output,
        temperature,
        max_tokens,
    )
    return read_answer(result_type, reply.text)


def _messages(prompt: Any) -> tuple[Message, ...]:
    if isinstance(prompt, str):
        return (Message("user", prompt),)
    if not isinstance(prompt, Sequence) or not prompt:
        raise InvalidOptionError(f"prompt={shown(prompt)} is not a text or a list of messages")
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
            f"prompt: {shown(message)} is not a message with a role ({', '.join(ROLES)}) and a "
            "text as content"
        )
    return Message(message["role"], message["content"])
