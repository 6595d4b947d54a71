"""The base class of all clients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.reply import Reply


class Client(ABC):
    """How a judge reaches a model.

    A client of your own defines two methods. It opens its connections at the first call:

        class Mine(Client):
            async def complete(self, request):
                answer = await self.http.post(URL, json={"prompt": request.text})
                return Reply(answer.json()["text"])

            def identity(self):
                return {"client": "mine", "name": "my-model"}

    If it raises a JudgeError, the result is unscored. A ClientError of a transient kind is tried
    again, and so is an exception of an HTTP library that received no response.
    """

    price: tuple[float, float] | None = None
    """US dollars for a million tokens in and out, if its owner sets them."""

    retries: int = 5
    """How often a call is tried again after a transient failure; at most once after a time-out."""

    @property
    def has_batches(self) -> bool:
        """Whether many requests can be sent at once, by `submit` and `collect`."""
        return False

    @abstractmethod
    async def complete(self, request: Request) -> Reply:
        """Make one call; raises JudgeError if there is no reply."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return as JSON everything that shapes a reply beside the request; never a key."""

    def check(self) -> None:  # noqa: B027 - most clients lack nothing
        """Raise InvalidOptionError if a setting is missing that every call needs.

        The default is for clients that need none.
        """

    async def submit(self, requests: Mapping[str, Request], mark: str) -> str:
        """Submit requests, by their names, as a batch with a mark; return the batch's name."""
        raise NotImplementedError

    async def find(self, mark: str) -> Sequence[str]:  # noqa: ARG002 - for clients with marks
        """List the recent batches that may have this mark.

        A mark consists of the time of submission in seconds, the number of requests, and a random
        word, joined by "-". Without this method a batch may be submitted twice if the process is
        killed during the submission.
        """
        return ()

    async def collect(self, batch: str) -> Mapping[str, Reply] | None:
        """Return the replies of a batch by the names of the requests; None while it is under way.

        Requests without a reply are sent again, one by one.
        """
        raise NotImplementedError
