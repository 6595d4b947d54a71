"""A client with a cache before it."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from typing import Any

import msgspec

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.llm.caching.cache import Cache, Kept
from llmeval_integrations.llm.caching.cache_file import CacheError
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest
from llmeval_integrations.llm.steps import Steps


class Cached(Client):
    """A client that asks only what its cache lacks.

    A reply is found again by everything that shapes it: the model and how it is called, the
    messages, the form of the answer, and which of several draws it is. Never by a key.
    """

    def __init__(self, client: Client, cache: Cache) -> None:
        self.client = client
        """Who is asked."""
        self.cache = cache
        """Where replies are kept."""
        self._identity = identity_text(client)

    def identity(self) -> dict[str, Any]:
        return self.client.identity()

    def answer(self, request: JudgeRequest) -> Steps[JudgeReply]:
        return self.answer_by(self.key(request), request)

    def key(self, request: JudgeRequest) -> bytes:
        """Return what the reply to a request is kept by."""
        return request_key(self._identity, request)

    def answer_by(self, key: bytes, request: JudgeRequest) -> Steps[JudgeReply]:
        """Work out the reply to the request that has this key; raises JudgeError, CacheError."""
        kept = self.cache.get(key)
        if kept is not None:
            text = kept.reply.text
            if kept.fence:
                text = text.replace(kept.fence, request.fence)
            return msgspec.structs.replace(kept.reply, text=text, cached=True)
        if self.cache.frozen:
            raise ClientError(f"{self.cache.path} does not hold the reply", kind="not_cached")
        reply = yield from self.client.answer(request)
        if reply.finish != "failed":  # like a call that failed, it may succeed later
            with suppress(CacheError):  # it is paid for; the next look says so, before paying
                self.cache.put(key, Kept(reply, request.fence))
        return reply

    async def aclose(self) -> None:
        await self.client.aclose()

    def __repr__(self) -> str:
        return f"Cached({self.client!r}, {self.cache!r})"


def identity_text(client: Client) -> str:
    """Write what tells a client's model and how it is called."""
    return canonical(json.loads(json.dumps(client.identity())))


def request_key(identity: str, request: JudgeRequest) -> bytes:
    """Return what tells a request from all others; `identity` is the client's."""
    shape = (
        identity,
        # the fence is drawn anew for each call: what matters is where it stands
        [[each.role, _split(each.content, request.fence)] for each in request.messages],
        request.schema,  # in the order of its properties, in which the model writes
        request.schema_name,
        request.output,
        None if request.temperature is None else float(request.temperature),
        request.max_tokens,
        *(request.draw or (0,)),  # as a vote's first, for which it may stand
    )
    return sha256(json.dumps(shape).encode()).digest()


def _split(content: str | tuple[str, ...], fence: str) -> Any:
    parts = (content,) if isinstance(content, str) else content
    return [part.split(fence) if fence else [part] for part in parts]
