"""Outputs to be judged, written by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from llmeval_integrations.core.errors import ClientError, InvalidOptionError, JudgeError
from llmeval_integrations.core.options import check_number, check_text, is_number
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.loading import load_client
from llmeval_integrations.llm.messages import Message, Request
from llmeval_integrations.llm.reply import Reply


class StudentResponse(msgspec.Struct, frozen=True):
    """One text of a model that is to be judged."""

    text: str
    """What it wrote."""

    prompt: str
    """What it was asked."""

    temperature: float | None
    """The sampling temperature."""

    finish: str
    """Why it ended: "stop", or "length" where it was cut."""


@dataclass(frozen=True)
class StudentRunner:
    """Lets a model write texts, as data for evaluations."""

    name: ClassVar[str] = "student_runner"
    """What messages call it."""

    model: Any
    """The model: whatever `load_client` takes."""

    role: str | None = None
    """The role that the model is given."""

    temperature: float | None = 0.7
    """The sampling temperature of variations; None leaves it to the client."""

    max_tokens: int | None = None
    """The longest text, in tokens; None leaves it to the client."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", load_client(self.model))
        check_text(self, "role", optional=True)
        check_number(self, "temperature", minimum=0, maximum=2, optional=True)
        check_number(self, "max_tokens", minimum=1, whole=True, optional=True)

    def generate_batch(
        self, task: str, num_responses: int, temperature_range: tuple[float, float] = (0.5, 0.9)
    ) -> list[StudentResponse]:
        """Let it write to one task so many times, at temperatures evenly spread over the range.

        The calls run side by side. Raises InvalidOptionError, and ClientError that says how many
        texts came where a call fails.
        """
        _check_task(task)
        requests = [
            self._request(task, temperature, draw)
            for draw, temperature in enumerate(_spread(temperature_range, num_responses))
        ]
        return self._responses([task] * num_responses, requests)

    def generate_variations(self, task: str, prompts: Sequence[str]) -> list[StudentResponse]:
        """Let it write to one task once for each prompt, which stands before the task.

        The calls run side by side. Raises as `generate_batch` does.
        """
        _check_task(task)
        if isinstance(prompts, str) or not isinstance(prompts, Sequence) or not prompts:
            raise InvalidOptionError(f"prompts={quote(prompts)} is not a list of texts")
        for prompt in prompts:
            if not isinstance(prompt, str) or not prompt.strip():
                raise InvalidOptionError(f"prompts: {quote(prompt)} is not a text")
        asked = [f"{prompt.strip()}\n\n{task.strip()}" for prompt in prompts]
        requests = [self._request(text, self.temperature) for text in asked]
        return self._responses(asked, requests)

    def _request(self, text: str, temperature: float | None, *draw: int) -> Request:
        system = () if self.role is None else (Message("system", self.role),)
        return Request(
            (*system, Message("user", text)),
            temperature=temperature,
            max_tokens=self.max_tokens,
            draw=draw,
        )

    async def _ask_all(self, requests: Sequence[Request]) -> list[Reply | BaseException]:
        from asyncio import gather

        from llmeval_integrations.llm.session import Ask, Session

        ask = Ask(Session(), self.model)

        async def text(request: Request) -> Reply:
            reply = await ask(request, whole=False)
            if not reply.text.strip():
                raise JudgeError(f"the model wrote nothing: {reply.finish}")
            return reply

        return await gather(*map(text, requests), return_exceptions=True)

    def _responses(
        self, prompts: Sequence[str], requests: Sequence[Request]
    ) -> list[StudentResponse]:
        from llmeval_integrations.llm.loop import start, wait

        replies = wait(start(self._ask_all(requests)))
        failed = [reply for reply in replies if isinstance(reply, Exception)]
        if failed:
            got = len(replies) - len(failed)
            message = f"{len(replies)} texts were asked for, and {got} came: {failed[0]}"
            kind = failed[0].kind if isinstance(failed[0], ClientError) else "failed"
            raise ClientError(message, kind=kind) from failed[0]
        return [
            StudentResponse(reply.text, prompt, request.temperature, reply.finish)
            for reply, prompt, request in zip(replies, prompts, requests, strict=True)
            if isinstance(reply, Reply)
        ]


def _check_task(task: Any) -> None:
    if not isinstance(task, str) or not task.strip():
        raise InvalidOptionError(f"task={quote(task)} is not a text")


def _spread(bounds: Any, count: Any) -> list[float]:
    """Spread so many temperatures evenly from the first bound to the last."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InvalidOptionError(f"num_responses={quote(count)} is not a whole number from 1")
    pair = isinstance(bounds, Sequence) and not isinstance(bounds, str) and len(bounds) == 2
    if not pair or not all(map(is_number, bounds)) or not 0 <= bounds[0] <= bounds[1] <= 2:
        raise InvalidOptionError(
            f"temperature_range={quote(bounds)} is not (lowest, highest) between 0 and 2"
        )
    low, high = bounds
    step = (high - low) / (count - 1) if count > 1 else 0.0
    return [round(low + number * step, 6) for number in range(count)]
