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


class GeneratedOutput(msgspec.Struct, frozen=True):
    """One text of a model that is to be judged; `finish` is "length" where it was cut."""

    text: str
    prompt: str
    temperature: float | None
    finish: str


@dataclass(frozen=True)
class OutputGenerator:
    """Lets a model write outputs, as data for evaluations."""

    name: ClassVar[str] = "output_generator"
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
    ) -> list[GeneratedOutput]:
        """Write to one task so many times, at temperatures evenly spread over the range.

        The calls run side by side. Raises InvalidOptionError, and ClientError that says how many
        texts came where a call fails.
        """
        _check("task", task)
        if not is_number(num_responses, whole=True) or num_responses < 1:
            raise InvalidOptionError(
                f"num_responses={quote(num_responses)} is not a whole number from 1"
            )
        try:
            low, high = map(float, temperature_range)
        except (TypeError, ValueError):
            low, high = -1, -1
        if not 0 <= low <= high <= 2:
            raise InvalidOptionError(
                f"temperature_range={quote(temperature_range)} is not (lowest, highest) between "
                "0 and 2"
            )
        step = (high - low) / max(1, num_responses - 1)
        spread = [round(low + number * step, 6) for number in range(num_responses)]
        return self._generate([(task, temperature) for temperature in spread])

    def generate_variations(self, task: str, prompts: Sequence[str]) -> list[GeneratedOutput]:
        """Write to one task once for each prompt, which stands before the task.

        The calls run side by side. Raises as `generate_batch` does.
        """
        _check("task", task)
        if isinstance(prompts, str) or not isinstance(prompts, Sequence) or not prompts:
            raise InvalidOptionError(f"prompts={quote(prompts)} is not a list of texts")
        for prompt in prompts:
            _check("prompts", prompt)
        asked = [f"{prompt.strip()}\n\n{task.strip()}" for prompt in prompts]
        return self._generate([(text, self.temperature) for text in asked])

    def _generate(self, asked: Sequence[tuple[str, float | None]]) -> list[GeneratedOutput]:
        from llmeval_integrations.llm.loop import start, wait

        replies = wait(start(self._ask(asked)))
        failed = [reply for reply in replies if isinstance(reply, BaseException)]
        if failed:
            got = len(replies) - len(failed)
            message = f"{len(replies)} texts were asked for, and {got} came: {failed[0]}"
            kind = failed[0].kind if isinstance(failed[0], ClientError) else "failed"
            raise ClientError(message, kind=kind) from failed[0]
        return [
            GeneratedOutput(reply.text, prompt, temperature, reply.finish)
            for reply, (prompt, temperature) in zip(replies, asked)
            if isinstance(reply, Reply)
        ]

    async def _ask(self, asked: Sequence[tuple[str, float | None]]) -> list[Reply | BaseException]:
        from asyncio import gather

        from llmeval_integrations.llm.session import Ask, Session

        ask = Ask(Session(), self.model)
        system = () if self.role is None else (Message("system", self.role),)

        async def write(draw: int, prompt: str, temperature: float | None) -> Reply:
            messages = (*system, Message("user", prompt))
            request = Request(
                messages, temperature=temperature, max_tokens=self.max_tokens, draw=(draw,)
            )
            reply = await ask(request, whole=False)
            if not reply.text.strip():
                raise JudgeError(f"the model wrote nothing: {reply.finish}")
            return reply

        calls = (write(number, *each) for number, each in enumerate(asked))
        return await gather(*calls, return_exceptions=True)


def _check(name: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise InvalidOptionError(f"{name}: {quote(text)} is not a text")
