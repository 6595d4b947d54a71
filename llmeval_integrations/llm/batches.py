"""Requests through a vendor's batch interface, at half the price and within a day."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Final

import msgspec

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.budget import Budget
from llmeval_integrations.llm.cache import Cache, Kept
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.limiter import Limiter
from llmeval_integrations.llm.messages import Request
from llmeval_integrations.llm.prices import Price
from llmeval_integrations.llm.reply import Reply

_log = logging.getLogger(__name__)

LARGEST: Final = 10_000
"""The most requests in one batch; OpenAI accepts 50,000 and Anthropic 100,000."""

_QUIET: Final = 1.0
"""The seconds without a new request after which the gathered requests are submitted."""

_FIRST_POLL, _LONGEST_POLL = 2.0, 60.0
"""The shortest and the longest pause between two polls of a batch, in seconds."""


class Batches:
    """Gathers requests until no more come, submits them as a batch, and waits for the replies.

    The store records which batch contains a request. A run that is resumed after an interruption
    waits for that batch. The store records the batch's mark before it is submitted. If the process
    is killed during the submission, the mark finds the batch among those of the server. The first
    request with each schema is sent separately, so that a form or a parameter that the server
    refuses does not fail a whole batch.
    """

    def __init__(self, store: Cache, budget: Budget) -> None:
        self._store = store
        self._budget = budget
        self._line = Limiter(4)  # batches that are submitted or polled at a time
        self._first: dict[tuple[int, str], asyncio.Future[None]] = {}
        self._queues: dict[Client, dict[str, tuple[bytes, Request]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._handed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sends: set[asyncio.Task[None]] = set()
        self._searches: dict[str, asyncio.Task[Sequence[str]]] = {}
        self._collections: dict[str, asyncio.Task[Mapping[str, Reply]]] = {}

    async def reply(
        self,
        client: Client,
        key: bytes,
        request: Request,
        alone: Callable[[], Awaitable[Reply]],
        price: Price | None,
    ) -> Kept:
        """Return the reply to a request; `alone` sends a request that no batch answered."""
        name, place = key.hex()[:48], b"batch " + key
        note = self._store.get(place)
        if note is None and await self._is_first(client, request):
            try:
                return Kept(await alone(), request.fence)
            finally:
                self._first[id(client), repr(request.schema)].set_result(None)
        held, reply, fence = await self._budget.reserve(request, price), None, request.fence
        try:
            if note is not None and not note.reply.text:
                note = await self._find(client, name, place, note)
            note = note or await self._hand_over(client, name, place, request)
            replies, fence = await self._replies(client, note.reply.text), note.fence
            if name in replies:
                reply = msgspec.structs.replace(replies[name], batch=True)
        finally:
            self._budget.settle(held, request, reply, price)
        return Kept(await alone(), request.fence) if reply is None else Kept(reply, fence)

    async def _is_first(self, client: Client, request: Request) -> bool:
        """Return whether the request is the first with its schema; if not, wait for the first."""
        form = (id(client), repr(request.schema))
        if form in self._first:
            await self._first[form]
            return False
        self._first[form] = asyncio.get_running_loop().create_future()
        return True

    async def close(self) -> None:
        """Stop waiting for replies; submissions under way are completed and recorded."""
        if self._timer is not None:
            self._timer.cancel()
        self._handed.cancel()
        await asyncio.gather(*self._sends, return_exceptions=True)
        for task in (*self._searches.values(), *self._collections.values()):
            task.cancel()

    async def _find(self, client: Client, name: str, place: bytes, note: Kept) -> Kept | None:
        """Find the batch of a request whose submission was interrupted; None if there is none."""
        mark = note.reply.model
        if mark not in self._searches:
            search = self._line.retry(partial(client.find, mark), client.retries)
            self._searches[mark] = asyncio.ensure_future(search)
        for batch in await asyncio.shield(self._searches[mark]):
            with suppress(ClientError):  # a batch of another run may have failed or expired
                if name in await self._replies(client, batch):
                    note = Kept(Reply(batch, model=mark), note.fence)
                    self._store.put(place, note, replace=True)
                    return note
        return None

    async def _hand_over(self, client: Client, name: str, place: bytes, request: Request) -> Kept:
        """Wait until the request is part of a batch, and return the record of the batch."""
        if self._handed.cancelled():
            raise ClientError("not asked, because the run was interrupted", kind="budget")
        self._queues.setdefault(client, {})[name] = (place, request)
        if self._timer is not None:
            self._timer.cancel()
        is_full = len(self._queues[client]) >= LARGEST
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(0 if is_full else _QUIET, self._send_all)
        await asyncio.shield(self._handed)
        note = self._store.get(place)
        assert note is not None  # noqa: S101 - `_send` has put it there
        return note

    def _send_all(self) -> None:
        queues, self._queues, self._timer = self._queues, {}, None
        handed, self._handed = self._handed, asyncio.get_running_loop().create_future()
        handed.add_done_callback(lambda done: done.exception())  # if none waits
        task = asyncio.ensure_future(self._send(queues, handed))
        self._sends.add(task)
        task.add_done_callback(self._sends.discard)

    async def _send(
        self,
        queues: dict[Client, dict[str, tuple[bytes, Request]]],
        handed: asyncio.Future[None],
    ) -> None:
        try:
            for client, queue in queues.items():
                requests = {name: request for name, (_, request) in queue.items()}
                mark = f"{int(time.time())}-{len(queue)}-{secrets.token_hex(8)}"
                self._note(queue.values(), Reply("", model=mark))
                submit = self._submit(client, requests, mark)
                batch = await self._line.retry(submit, client.retries)
                self._note(queue.values(), Reply(batch, model=mark))
                _log.warning(
                    "the batch %s of %d questions is under way; you may stop with Ctrl-C and "
                    "continue later with --resume", batch, len(requests)
                )  # fmt: skip
        except Exception as error:  # noqa: BLE001 - raised where each request waits
            handed.set_exception(error)
        else:
            handed.set_result(None)

    def _submit(
        self, client: Client, requests: dict[str, Request], mark: str
    ) -> Callable[[], Awaitable[str]]:
        """Return a call that submits; a second try first checks if the server has the batch."""
        tries = count()

        async def submit() -> str:
            if next(tries):
                found = [each for each in await client.find(mark) if each not in self._collections]
                if len(found) == 1:
                    return found[0]
            return await client.submit(requests, mark)

        return submit

    def _note(self, queue: Iterable[tuple[bytes, Request]], note: Reply) -> None:
        """Record the batch of these requests: its mark and, once it is known, its name."""
        for place, request in queue:
            self._store.put(place, Kept(note, request.fence), replace=True)

    async def _replies(self, client: Client, batch: str) -> Mapping[str, Reply]:
        if batch not in self._collections:
            self._collections[batch] = asyncio.ensure_future(self._collect(client, batch))
        return await asyncio.shield(self._collections[batch])

    async def _collect(self, client: Client, batch: str) -> Mapping[str, Reply]:
        pause = _FIRST_POLL
        while True:
            try:
                collect = partial(client.collect, batch)
                replies = await self._line.retry(collect, client.retries)
            except ClientError as error:
                if error.kind != "not_found":
                    raise
                return {}  # the batch has expired, and its requests are sent again
            if replies is not None:
                return replies
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_POLL)
