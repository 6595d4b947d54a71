"""Requests through a vendor's batch interface, at half the price and within a day."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

import msgspec

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.budget import Budget, Price
from llmeval_integrations.llm.cache import Cache
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.failures import Limiter
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.reply import Reply

_log = logging.getLogger(__name__)

LARGEST: Final = 10_000
"""The most requests in one batch; OpenAI accepts 50,000 and Anthropic 100,000."""

_QUIET: Final = 1.0  # seconds without a new request until the gathered requests are submitted
_FIRST_POLL, _LONGEST_POLL = 2.0, 60.0  # seconds between two polls of a batch


class Batches:
    """Gathers a client's requests until no more come, submits them, and waits for the replies.

    Once a batch is submitted, the store has a note for each request, in the form of a Reply whose
    text is the name of the batch. If the process is killed during the submission, the requests are
    submitted again. The first request is sent by itself, so that a wrong key or name does not fail
    a whole batch.
    """

    def __init__(self, client: Client, store: Cache, budget: Budget, price: Price | None) -> None:
        self._client, self._store, self._budget, self._price = client, store, budget, price
        self._limiter = Limiter(4)  # batches that are submitted or polled at a time
        self._first: asyncio.Event | None = None
        self._queue: dict[str, tuple[bytes, Request]] = {}
        self._sends: list[asyncio.Task[str]] = []
        self._tasks: dict[str, asyncio.Task[Mapping[str, Reply]]] = {}
        self._is_closing = False

    async def reply(
        self, key: bytes, request: Request, alone: Callable[[], Awaitable[Reply]]
    ) -> Reply:
        """Return the reply to a request; `alone` sends a request that no batch answered."""
        name, place = key.hex()[:48], b"batch " + key
        note = self._store.get(place)
        if note is None:
            if self._first is None:
                self._first = asyncio.Event()
                try:
                    return await alone()
                finally:
                    self._first.set()
            await self._first.wait()

        async def wait() -> Reply | None:
            if note is not None:
                batch, fence = note.text, note.fence
            else:
                if not 0 < len(self._queue) < LARGEST:
                    self._queue = {}
                    self._sends.append(asyncio.ensure_future(self._send(self._queue)))
                self._queue[name] = (place, request)
                batch, fence = await asyncio.shield(self._sends[-1]), request.fence
            if batch not in self._tasks:
                self._tasks[batch] = asyncio.ensure_future(self._collect(batch))
            reply = (await asyncio.shield(self._tasks[batch])).get(name)
            return reply and msgspec.structs.replace(reply, fence=fence)

        return await self._budget.pay(request, self._price, wait, 0.5) or await alone()

    async def close(self) -> None:
        """Stop waiting for replies; submissions under way are completed and recorded."""
        self._is_closing = True
        await asyncio.gather(*self._sends, return_exceptions=True)
        for task in self._tasks.values():
            task.cancel()

    async def _send(self, queue: dict[str, tuple[bytes, Request]]) -> str:
        """Submit the requests of a queue once no more come; return the name of the batch."""
        size = 0
        while size < len(queue) < LARGEST:
            size = len(queue)
            await asyncio.sleep(_QUIET)
        if self._queue is queue:
            self._queue = {}
        if self._is_closing:
            raise ClientError("not asked, because the run was interrupted", kind="budget")
        requests = {name: request for name, (_, request) in queue.items()}
        submit = partial(self._client.submit, requests)
        batch = await self._limiter.retry(submit, self._client.retries)
        for place, request in queue.values():
            self._store.put(place, Reply(batch, fence=request.fence))
        _log.warning(
            "the batch %s of %d questions is under way; you may stop with Ctrl-C and "
            "continue later with --resume", batch, len(queue)
        )  # fmt: skip
        return batch

    async def _collect(self, batch: str) -> Mapping[str, Reply]:
        """Wait for the replies of a batch, by the names of the requests."""
        pause, call = _FIRST_POLL, partial(self._client.collect, batch)
        while True:
            try:
                replies = await self._limiter.retry(call, self._client.retries)
            except ClientError as error:
                if error.kind != "not_found":
                    raise
                return {}  # the batch has expired, and its requests are sent again
            if replies is not None:
                return replies
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_POLL)
