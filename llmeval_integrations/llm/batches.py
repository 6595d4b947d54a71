"""Requests through a vendor's batch interface, at half the price and within a day."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, Final, TypeVar

import msgspec

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.budget import Budget, Price
from llmeval_integrations.llm.cache import Cache
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.limiter import Limiter
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.reply import Reply

T = TypeVar("T")

_log = logging.getLogger(__name__)

LARGEST: Final = 10_000
"""The most requests in one batch; OpenAI accepts 50,000 and Anthropic 100,000."""

_QUIET: Final = 1.0
"""The seconds without a new request after which the gathered requests are submitted."""

_FIRST_POLL, _LONGEST_POLL = 2.0, 60.0
"""The shortest and the longest pause between two polls of a batch, in seconds."""


class Batches:
    """Gathers requests until no more come, submits them as a batch, and waits for the replies.

    The store has a note for each request, in the form of a Reply: its text is the name of the
    batch, and its model is the mark of the batch. The note is written before the batch is
    submitted, at first without the name. If the process is killed during the submission, the mark
    finds the batch among those of the server. The first request to each client is sent by itself,
    so that a wrong key or name does not fail a whole batch.
    """

    def __init__(self, store: Cache, budget: Budget) -> None:
        self._store = store
        self._budget = budget
        self._line = Limiter(4)  # batches that are submitted or polled at a time
        self._first: dict[Client, asyncio.Event] = {}
        self._queues: dict[Client, dict[str, tuple[bytes, Request]]] = {}
        self._sends: dict[int, asyncio.Task[Reply]] = {}
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._is_closing = False

    async def reply(
        self,
        client: Client,
        key: bytes,
        request: Request,
        alone: Callable[[], Awaitable[Reply]],
        price: Price | None,
    ) -> Reply:
        """Return the reply to a request; `alone` sends a request that no batch answered."""
        name, place = key.hex()[:48], b"batch " + key
        note = self._store.get(place)
        if note is None and client not in self._first:
            answered = self._first[client] = asyncio.Event()
            try:
                return await alone()
            finally:
                answered.set()
        if note is None:
            await self._first[client].wait()

        async def wait() -> Reply | None:
            found = note
            if found is not None and not found.text:
                found = await self._find(client, name, found)
            found = found or await self._hand_over(client, name, place, request)
            reply = (await self._replies(client, found.text)).get(name)
            return reply and msgspec.structs.replace(reply, fence=found.fence)

        return await self._budget.pay(request, price, wait, 0.5) or await alone()

    async def close(self) -> None:
        """Stop waiting for replies; submissions under way are completed and recorded."""
        self._is_closing = True
        await asyncio.gather(*self._sends.values(), return_exceptions=True)
        for task in self._tasks.values():
            task.cancel()

    async def _find(self, client: Client, name: str, note: Reply) -> Reply | None:
        """Find the batch of a request whose submission was interrupted; None if there is none."""
        mark = note.model
        for batch in await self._once(mark, partial(self._try, client, partial(client.find, mark))):
            with suppress(ClientError):  # a batch of another run may have failed or expired
                if name in await self._replies(client, batch):
                    return msgspec.structs.replace(note, text=batch)
        return None

    async def _hand_over(self, client: Client, name: str, place: bytes, request: Request) -> Reply:
        """Wait until the request is part of a batch, and return the note about it."""
        queue = self._queues.setdefault(client, {})
        if not queue:
            self._sends[id(queue)] = asyncio.ensure_future(self._send(client, queue))
        queue[name] = (place, request)
        if len(queue) == LARGEST:
            del self._queues[client]
        note = await asyncio.shield(self._sends[id(queue)])
        return msgspec.structs.replace(note, fence=request.fence)

    async def _send(self, client: Client, queue: dict[str, tuple[bytes, Request]]) -> Reply:
        """Submit the requests of a queue once no more come; return the note without a fence."""
        size = 0
        while size < len(queue) < LARGEST:
            size = len(queue)
            await asyncio.sleep(_QUIET)
        if self._queues.get(client) is queue:
            del self._queues[client]
        if self._is_closing:
            raise ClientError("not asked, because the run was interrupted", kind="budget")
        requests = {name: request for name, (_, request) in queue.items()}
        mark = f"{int(time.time())}-{len(queue)}-{secrets.token_hex(8)}"
        tries = count()

        async def submit() -> str:
            if next(tries):  # the server may have taken the batch although its answer was lost
                for batch in await client.find(mark):
                    if batch not in self._tasks:
                        return batch
            return await client.submit(requests, mark)

        self._write(queue, Reply("", model=mark))
        note = Reply(await self._try(client, submit), model=mark)
        self._write(queue, note)
        _log.warning(
            "the batch %s of %d questions is under way; you may stop with Ctrl-C and "
            "continue later with --resume", note.text, len(requests)
        )  # fmt: skip
        return note

    def _write(self, queue: dict[str, tuple[bytes, Request]], note: Reply) -> None:
        for place, request in queue.values():
            kept = msgspec.structs.replace(note, fence=request.fence)
            self._store.put(place, kept, replace=True)

    async def _replies(self, client: Client, batch: str) -> Mapping[str, Reply]:
        replies: Mapping[str, Reply] = await self._once(
            batch, partial(self._collect, client, batch)
        )
        return replies

    async def _collect(self, client: Client, batch: str) -> Mapping[str, Reply]:
        pause = _FIRST_POLL
        while True:
            try:
                replies = await self._try(client, partial(client.collect, batch))
            except ClientError as error:
                if error.kind != "not_found":
                    raise
                return {}  # the batch has expired, and its requests are sent again
            if replies is not None:
                return replies
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_POLL)

    async def _try(self, client: Client, call: Callable[[], Awaitable[T]]) -> T:
        return await self._line.retry(call, client.retries)

    async def _once(self, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        """Await a call that all requests of a batch share."""
        if name not in self._tasks:
            self._tasks[name] = asyncio.ensure_future(call())
        return await asyncio.shield(self._tasks[name])
