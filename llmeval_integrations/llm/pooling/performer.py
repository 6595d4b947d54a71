"""How a pool performs the steps of its works."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakValueDictionary

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.backoff import FIRST_PAUSE, LONGEST_PAUSE
from llmeval_integrations.llm.budget import Budget, Spending
from llmeval_integrations.llm.caching.cache import Cache
from llmeval_integrations.llm.caching.cache_file import CacheError
from llmeval_integrations.llm.caching.cached import Cached, identity_text, request_key
from llmeval_integrations.llm.caching.replies import Replies
from llmeval_integrations.llm.client import Ask, Client
from llmeval_integrations.llm.pooling.limiter import Limiter
from llmeval_integrations.llm.prices import Price
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest
from llmeval_integrations.llm.steps import APerform, Call, Pause, Step, Steps, adrive

_ASKED_AGAIN: Final = 10
"""How often a request that was pushed back to its end is asked anew, as long as others get by."""

_SERVER: Final = ("client", "platform", "base_url", "name")
"""What of a client's identity tells which server's limits it shares with others."""


@dataclass
class _Line:
    """A client, and what is between it and its server."""

    client: Client
    limiter: Limiter
    price: Price | None
    identity: str


class Performer:
    """Performs steps with a pool's cache, limits and budget added.

    A work that pauses leaves its place to another. Where a server pushes back, all who call it
    slow down together; a request that had no luck in all its tries is asked anew as long as others
    get by, for it is the pool that asked too much.
    """

    def __init__(
        self,
        concurrency: int,
        cache: Cache | None,
        budget: Budget,
        on_pause: Callable[[int], None],
        replies: Replies | None = None,
    ) -> None:
        self._concurrency = concurrency
        self._cache = cache
        self._budget = budget
        self._on_pause = on_pause
        self._replies = replies
        self._lines: dict[int, _Line] = {}
        self._limiters: dict[str, Limiter] = {}
        self._asked: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()

    def on_account(self, *accounts: Spending) -> APerform:
        """Return the function that performs steps; what they take is added to each account."""
        charged = (*accounts, self._budget.spent)

        async def perform(step: Step) -> Any:
            if isinstance(step, Ask):
                return await self._ask(step, charged)
            if isinstance(step, Pause):
                return await self.pause(step)
            return await step.arun(perform)

        return perform

    async def close(self) -> None:
        """Release what the clients hold for this loop."""
        for line in self._lines.values():
            await line.client.aclose()

    async def _ask(self, ask: Ask, accounts: Sequence[Spending]) -> JudgeReply:
        line = self._lines.get(id(ask.client)) or self._line(ask.client)
        try:
            reply = await self._left_or_new(line, ask.request)
        except ClientError as error:
            for account in accounts:
                account.add_failure(error)
            raise
        for account in accounts:
            account.add(reply, line.price)
        return reply

    def _line(self, client: Client) -> _Line:
        identity = client.identity()
        server = {name: identity[name] for name in _SERVER if name in identity}
        limiter = self._limiters.setdefault(
            json.dumps(server or identity), Limiter(self._concurrency)
        )
        price = self._budget.price(identity)
        asked = client if self._cache is None else Cached(client, self._cache)
        line = self._lines[id(client)] = _Line(asked, limiter, price, identity_text(client))
        return line

    async def _left_or_new(self, line: _Line, request: JudgeRequest) -> JudgeReply:
        """Return the reply that the run has paid before it broke off, else ask."""
        if self._replies is None:
            return await self._reply(line, request)
        key = request_key(line.identity, request)
        left = self._replies.take(key, request)
        if left is not None:
            return left
        reply = await self._reply(line, request)
        with suppress(CacheError):  # it is paid for; the next look says so, before paying
            self._replies.put(key, request, reply)
        return reply

    async def _reply(self, line: _Line, request: JudgeRequest) -> JudgeReply:
        """Let one of several who ask the same go first; the others find its reply in the cache."""
        client = line.client
        if not isinstance(client, Cached):
            return await self._answer(line.limiter, lambda: client.answer(request))
        key = client.key(request)
        lock = self._asked.get(key)
        if lock is None:
            lock = self._asked[key] = asyncio.Lock()
        async with lock:
            return await self._answer(line.limiter, lambda: client.answer_by(key, request))

    async def _answer(
        self, limiter: Limiter, answer: Callable[[], Steps[JudgeReply]]
    ) -> JudgeReply:
        for asked_again in range(_ASKED_AGAIN + 1):
            calls, answered = _Calls(self, limiter), limiter.answered
            try:
                return await adrive(answer(), calls.perform)
            except ClientError as error:
                pause = error.retry_after or FIRST_PAUSE
                if (
                    error.kind != "rate_limited"
                    or pause > LONGEST_PAUSE
                    or limiter.answered == answered
                    or asked_again == _ASKED_AGAIN
                ):
                    raise
                limiter.slower(calls.era, pause, error.retry_after or 0.0)
        raise AssertionError  # the last time returns or raises

    async def call(self, step: Call, limiter: Limiter) -> Any:
        """Make a call that has its place; raises ClientError where the budget is spent."""
        answered = False
        try:
            self._budget.check()
            given = await step.arun(self.pause)
            answered = True
        finally:
            limiter.release(answered=answered)
        return given

    async def pause(self, step: Step) -> Any:
        """Pause, and let another work begin meanwhile."""
        self._on_pause(1)
        try:
            return await step.arun(self.pause)
        finally:
            self._on_pause(-1)


class _Calls:
    """The calls that one request takes."""

    def __init__(self, performer: Performer, limiter: Limiter) -> None:
        self.era = 0
        """When the latest began, in the limiter's count."""
        self._performer = performer
        self._limiter = limiter

    async def perform(self, step: Step) -> Any:
        if isinstance(step, Call):
            self.era = await self._limiter.acquire()
            return await self._performer.call(step, self._limiter)
        if isinstance(step, Pause):
            if not step.pushed_back:
                return await self._performer.pause(step)
            self._limiter.slower(self.era, step.seconds, step.asked)  # nobody else begins either
        return await step.arun(self.perform)
