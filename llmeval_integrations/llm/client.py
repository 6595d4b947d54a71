"""What every client is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest, Output
from llmeval_integrations.llm.steps import APerform, Perform, Step, Steps, adrive, drive


class Client(ABC):
    """How a judge reaches a model."""

    @abstractmethod
    def answer(self, request: JudgeRequest) -> Steps[JudgeReply]:
        """Work out the reply to a request; raises JudgeError where there is none.

        Each call is yielded as a `Call`, for a run holds these alone against concurrency and
        budget: what waits in here by itself makes all others wait.
        """

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Name everything but the request that shapes a reply, as JSON; never a key."""

    def check(self) -> None:  # noqa: B027 - most lack nothing
        """Raise InvalidOptionError where each call would fail for want of what it is set up by."""

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once and block; raises JudgeError."""
        return drive(self.answer(request))

    async def aask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once; raises JudgeError."""
        return await adrive(self.answer(request))

    def complete(
        self,
        prompt: str | Sequence[Message | Mapping[str, str]],
        result_type: Any = str,
        *,
        output: Output = "auto",
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Any:
        """Ask once and give the answer: a text, or an object of a pydantic model's class.

        Raises InvalidOptionError, and JudgeError where there is no such answer.
        """
        return drive(self._completion(prompt, result_type, output, temperature, max_tokens))

    async def acomplete(
        self,
        prompt: str | Sequence[Message | Mapping[str, str]],
        result_type: Any = str,
        *,
        output: Output = "auto",
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Any:
        """Do as `complete` does."""
        return await adrive(self._completion(prompt, result_type, output, temperature, max_tokens))

    def _completion(self, *arguments: Any) -> Steps[Any]:
        from llmeval_integrations.llm.completing import completion
        from llmeval_integrations.llm.conversing import answered

        return (yield from answered(self, completion(*arguments)))

    async def aclose(self) -> None:  # noqa: B027 - most hold nothing
        """Release what is held for the running event loop; the client stays usable."""


@dataclass(frozen=True)
class Ask(Step):
    """One request to one client; a run answers it from its cache where it can."""

    client: Client
    request: JudgeRequest

    def run(self, perform: Perform) -> JudgeReply:
        return drive(self.client.answer(self.request), perform)

    async def arun(self, perform: APerform) -> JudgeReply:
        return await adrive(self.client.answer(self.request), perform)
