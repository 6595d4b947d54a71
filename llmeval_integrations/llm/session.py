"""Sessions of questions: cache, limits, budget and retries between judges and clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import msgspec

from llmeval_integrations.core.errors import ClientError, CutReplyError, RefusedReplyError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.llm.batches import Batches
from llmeval_integrations.llm.budget import Budget, Price, Spending
from llmeval_integrations.llm.cache import Cache, CacheError, request_key
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.failures import Limiter
from llmeval_integrations.llm.messages import Image, Request
from llmeval_integrations.llm.reply import Reply

if TYPE_CHECKING:
    from typing_extensions import Self

_REMEMBERED: Final = 10_000  # replies in memory, so that equal samples share them

ACTIVE: Final[ContextVar[Session | None]] = ContextVar("ACTIVE", default=None)
"""The session for judges that are evaluated without a run."""


class _Line(NamedTuple):
    """What a session knows of a client."""

    client: Client
    identity: str
    limiter: Limiter
    price: Price | None
    batches: Batches | None


@dataclass(eq=False)
class Session:
    """Answers requests: from the cache, from an equal request under way, or by a call.

    If a server pushes back, all its callers slow down together. A session serves the background
    loop. Inside `with` it also answers judges that are evaluated without a run.
    """

    concurrency: int = 32  # the most calls to one server at a time
    _: KW_ONLY
    cache: Cache | None = None  # replies of all runs
    replies: Cache | None = None  # of one run until it is done, with its notes on batches
    budget: Budget = field(default_factory=Budget)
    batch: bool = False  # whether models are asked by batches; needs `replies`
    # called in the place of a model; it raises, so that nothing is concluded from a missing reply
    count: Callable[[Client, Request], NoReturn] | None = None

    def __post_init__(self) -> None:
        self._lines: dict[int, _Line] = {}
        self._limiters: dict[str, Limiter] = {}
        self._flights: dict[bytes, asyncio.Task[Reply]] = {}
        self._paid: set[bytes] = set()  # keys of the replies that were counted as new
        self._is_closing = False

    async def reply(self, client: Client, request: Request) -> Reply:
        """Return the reply to a request; raises JudgeError or CacheError.

        Equal requests wait for one call. A reply that the run paid for before it was interrupted
        counts as new, once.
        """
        line = self._lines.get(id(client)) or self._open_line(client)
        key = request_key(line.identity, request)
        if (flight := self._flights.get(key)) is not None:
            return (await asyncio.shield(flight)).serve(request, cached=True)
        for store in filter(None, (self.replies, self.cache)):
            if (kept := store.get(key)) is not None:
                is_new = store is self.replies and key not in self._paid
                if is_new:
                    self._paid.add(key)
                    self.budget.spent.add(kept)
                return kept.serve(request, cached=not is_new)
        if self.count is not None:
            self.count(client, request)
        if self.cache is not None and self.cache.frozen:
            raise ClientError(f"{self.cache.path} lacks the reply", kind="not_cached")
        flight = self._flights[key] = asyncio.ensure_future(self._fetch(line, key, request))
        try:
            reply = await asyncio.shield(flight)
        except Exception:
            self._flights.pop(key, None)
            raise
        self._paid.add(key)
        if self.cache is not None or len(self._flights) > _REMEMBERED:
            self._flights.pop(key, None)
        return reply.serve(request, cached=False)

    def _open_line(self, client: Client) -> _Line:
        identity = client.identity()
        names = ("client", "platform", "base_url", "name")  # of the server that shares its limits
        server = {name: identity[name] for name in names if name in identity} or identity
        limiter = self._limiters.setdefault(json.dumps(server), Limiter(self.concurrency))
        text = json.dumps(identity, sort_keys=True)
        price, batches = self.budget.price(client), None
        if self.batch and self.replies is not None:
            batches = Batches(client, self.replies, self.budget, price)
        line = _Line(client, text, limiter, price, batches)
        self._lines[id(client)] = line
        return line

    async def _fetch(self, line: _Line, key: bytes, request: Request) -> Reply:
        """Ask, and store the reply before it is read."""
        client, _, limiter, price, batches = line

        async def call() -> Reply:
            if self._is_closing:
                raise ClientError("not asked, because the run was interrupted", kind="budget")
            if self.cache is not None:
                self.cache.open()  # raises if the cache has failed, so that no more calls are paid
            return await self.budget.pay(request, price, partial(client.complete, request))

        alone = partial(limiter.retry, call, client.retries)
        reply = await (batches.reply(key, request, alone) if batches else alone())
        if reply.finish != "failed":  # like a call that failed, it may succeed later
            for store in filter(None, (self.replies, self.cache)):
                with suppress(CacheError):  # the reply is paid for; the next use raises again
                    store.put(key, reply)
        return reply

    async def drain(self) -> None:
        """Begin no further call, and wait for the replies to the calls under way."""
        self._is_closing = True
        for line in self._lines.values():
            if line.batches is not None:  # a batch takes up to a day, and a later run continues it
                await line.batches.close()
        await asyncio.gather(*self._flights.values(), return_exceptions=True)

    async def close(self) -> None:
        """Cancel the calls under way."""
        for flight in self._flights.values():
            flight.cancel()
        await self.drain()

    def __enter__(self) -> Self:
        self._token = ACTIVE.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        ACTIVE.reset(self._token)


@dataclass(eq=False)
class Ask:
    """The way a judge asks its model: `reply = await ask(request)`.

    It records the replies and costs of its own calls and of all Ask objects made from it.
    """

    session: Session
    client: Any = None
    draws: tuple[int, ...] = ()  # in the enclosing votes, from the outermost inwards
    temperature: float | None = None  # of requests that set none
    images: tuple[Image, ...] = ()  # shown with each question
    parents: tuple[Ask, ...] = ()  # where the calls count, too

    def __post_init__(self) -> None:
        self.replies: list[Reply] = []
        self.spending = Spending()

    async def __call__(self, request: Request | str, *, whole: bool = True) -> Reply:
        """Ask the judge's model, by a text or a Request.

        Raises ClientError if there is no reply, RefusedReplyError for a refusal, and CutReplyError
        for a reply that was cut at its limit or broken off. With `whole=False` a reply that was
        cut at its limit is returned.
        """
        request = Request.of(request) if isinstance(request, str) else request
        numbered = enumerate(self.images, 1)
        images = [each for n, image in numbered for each in (f"[image {n}]", image)]
        request = request.prepend(images) if images else request
        own = request.temperature
        temperature = self.temperature if own is None else own
        draw = (*self.draws, *request.draw)
        request = msgspec.structs.replace(request, temperature=temperature, draw=draw)
        try:
            reply = await self.session.reply(self.client, request)
        except ClientError as error:
            for account in (self, *self.parents):
                account.spending.add_failure(error)
            raise
        for account in (self, *self.parents):
            account.replies.append(reply)
            account.spending.add(reply)
        check_end(reply, whole=whole)
        return reply

    def of(self, client: Any) -> Ask:
        """Return an Ask for another client, whose calls count here, too."""
        return self._narrow(client=client or self.client)

    def draw(self, number: int, temperature: float | None = None) -> Ask:
        """Return an Ask for the draw with this number, whose replies are cached separately.

        Requests without a temperature use the given one.
        """
        chosen = self.temperature if temperature is None else temperature
        return self._narrow(draws=(*self.draws, number), temperature=chosen)

    def show(self, images: Sequence[Image]) -> Ask:
        """Return an Ask that shows the model these images with each question."""
        return self._narrow(images=(*self.images, *images))

    def _narrow(self, **changes: Any) -> Ask:
        return replace(self, parents=(self, *self.parents), **changes)

    def account(self) -> dict[str, Any]:
        """Return the models, outputs, calls, tokens and cost for a result's metadata."""
        models = dict.fromkeys(reply.model for reply in self.replies if reply.model)
        outputs = dict.fromkeys(reply.output for reply in self.replies)
        names = {"model": ", ".join(models) or None, "output": ", ".join(outputs) or None}
        return {**names, **self.spending.summary()}


def check_end(reply: Reply, *, whole: bool) -> None:
    """Raise JudgeError for a reply that did not end by itself."""
    if reply.finish == "length" and whole:
        raise CutReplyError(
            f"the reply was cut at its limit of tokens, after {reply.usage.output_tokens}; "
            "raise max_tokens"
        )
    if reply.finish == "refused":
        raise RefusedReplyError(f"the model refused to answer: {quote(reply.text)}")
    if reply.finish == "failed":
        raise CutReplyError("the reply was broken off by an error at the server")
