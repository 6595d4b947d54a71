"""Asking once more where a reply cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, TypeVar

import msgspec

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest

T = TypeVar("T")

_NOTHING: Final = "(nothing)"
"""Stands for a reply without text, which some servers refuse in a conversation."""


def read_reply(
    request: JudgeRequest, read: Callable[[JudgeReply], T], retries: int
) -> Generator[JudgeRequest, JudgeReply, T]:
    """Ask until the reply can be read, up to `retries` times more, telling what was wrong with it.

    Raises UnreadableJudgementError for the last reply.
    """
    asked = request
    for number in range(retries + 1):
        reply = yield asked
        try:
            return read(reply)
        except UnreadableJudgementError as error:
            if number == retries:
                raise
            asked = _corrected(request, reply, error)
    raise AssertionError  # the last reply is read or raises


def _corrected(request: JudgeRequest, reply: JudgeReply, error: Any) -> JudgeRequest:
    said = Message("assistant", reply.text if reply.text.strip() else _NOTHING)
    objection = Message(
        "user", f"That reply cannot be used: {error}. Answer again, in the form asked for."
    )
    messages = (*request.messages, said, objection)
    return msgspec.structs.replace(request, messages=messages)
