"""Carrying requests to a client and replies back."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from llmeval_integrations.core.errors import CutReplyError, InvalidOptionError, RefusedReplyError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.client import Ask, Client
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest
from llmeval_integrations.llm.steps import Step, Steps

T = TypeVar("T")


def answered(
    client: Client,
    conversation: Generator[JudgeRequest | Step, Any, T],
    note: Callable[[JudgeReply], object] = lambda _: None,
) -> Steps[T]:
    """Do the work with its requests answered by the client; `note` is told of each reply.

    Raises ClientError where there is no reply, CutReplyError and RefusedReplyError for a reply
    that did not end by itself, InvalidOptionError for what is not a Client.
    """
    given: Any = None
    while True:
        try:
            wanted = conversation.send(given)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        if isinstance(wanted, JudgeRequest):
            if not isinstance(client, Client):
                raise InvalidOptionError(
                    f"the judge asks a client of type {type(client).__name__}, which is no Client; "
                    "load_client(self.client) makes one, in __post_init__"
                )
            given = yield Ask(client, wanted)
            note(given)
            _check_whole(given)
        else:
            given = yield wanted


def _check_whole(reply: JudgeReply) -> None:
    if reply.finish == "length":
        raise CutReplyError(
            f"the reply was cut at its limit of tokens, after {reply.usage.output_tokens}; "
            "raise max_tokens"
        )
    if reply.finish == "refused":
        raise RefusedReplyError(f"the model refused to answer: {quote(reply.text)}")
    if reply.finish == "failed":
        raise CutReplyError("an error at the server broke the reply off")
