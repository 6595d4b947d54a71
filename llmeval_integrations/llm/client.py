"""What every client is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.reply import Reply


class Client(ABC):
    """How a judge reaches a model.

    A client of your own writes two methods, and makes what it holds open at its first call:

        class Mine(Client):
            async def complete(self, request):
                answer = await self.http.post(URL, json={"prompt": request.text})
                return Reply(answer.json()["text"])

            def identity(self):
                return {"client": "mine", "name": "my-model"}

    A JudgeError that it raises makes the result unscored; a ClientError of a kind that may pass is
    tried again, and so is what an HTTP library raises where there was no answer.
    """

    price: tuple[float, float] | None = None
    """US dollars for a million tokens in and out, where its owner names them."""

    retries: int = 5
    """How often a call that failed for a passing reason is tried again; a time-out at most once."""

    @property
    def has_batches(self) -> bool:
        """Whether many requests can be handed over at once, by `submit` and `collect`."""
        return False

    @abstractmethod
    async def complete(self, request: Request) -> Reply:
        """Make one call; raises JudgeError where there is no reply."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Name everything but the request that shapes a reply, as JSON; never a key."""

    def check(self) -> None:  # noqa: B027 - most lack nothing
        """Raise InvalidOptionError where each call would fail for want of what it is set up by."""

    async def submit(self, requests: Mapping[str, Request], mark: str) -> str:
        """Hand over many requests, by their names, under a mark; gives the name of the batch."""
        raise NotImplementedError

    async def find(self, mark: str) -> Sequence[str]:  # noqa: ARG002 - for those who have marks
        """List the recent batches that may be the one with this mark.

        A mark is the time of the handing over in seconds, the number of requests, and a random
        word, with a "-" between them. Without this a kill in the moment of handing over may have a
        batch handed over twice.
        """
        return ()

    async def collect(self, batch: str) -> Mapping[str, Reply] | None:
        """Return the replies of a batch by the names of the requests; None while it is under way.

        Requests without a reply are asked again by themselves.
        """
        raise NotImplementedError

    def ask(self, prompt: Any, result_type: Any = str, **settings: Any) -> Any:
        """Ask once and give the answer: a text, or an object of a pydantic model's class.

        The prompt is a text or a list of messages; settings are fields of Request, such as
        `temperature=0.5`. Raises InvalidOptionError, and JudgeError where there is no such answer.
        """
        from llmeval_integrations.llm.loop import start, wait

        return wait(start(self._answer(prompt, result_type, settings)))

    async def aask(self, prompt: Any, result_type: Any = str, **settings: Any) -> Any:
        """Do as `ask` does."""
        from llmeval_integrations.llm.loop import join

        return await join(self._answer(prompt, result_type, settings))

    async def _answer(self, prompt: Any, result_type: Any, settings: dict[str, Any]) -> Any:
        from llmeval_integrations.llm.answers import check_type, name_of, read_answer, schema_of
        from llmeval_integrations.llm.session import Ask, Session

        check_type(result_type)
        form = {"schema": schema_of(result_type), "schema_name": name_of(result_type)}
        reply = await Ask(Session(), self)(Request.of(prompt, **form, **settings))
        return read_answer(result_type, reply.text)
