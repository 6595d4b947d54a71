"""What the judges of one run have said, until the run is done."""

from __future__ import annotations

import os

import msgspec

from llmeval_integrations.llm.caching.cache import Cache, Kept
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest


class Replies:
    """Replies that a run which broke off has paid for, and those that it gets now.

    Unlike a cache's, such a reply is given back as it came, for it is the run's own, and only once:
    the same request asked twice within a run is asked twice.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._kept = Cache(path)
        self._used: set[bytes] = set()

    def take(self, key: bytes, request: JudgeRequest) -> JudgeReply | None:
        """Return the reply that was left, None where there is none; raises CacheError."""
        kept = None if key in self._used else self._kept.get(key)
        if kept is None:
            return None
        self._used.add(key)
        text = kept.reply.text
        if kept.fence:
            text = text.replace(kept.fence, request.fence)
        return msgspec.structs.replace(kept.reply, text=text)

    def put(self, key: bytes, request: JudgeRequest, reply: JudgeReply) -> None:
        """Keep a reply; raises CacheError."""
        self._used.add(key)
        self._kept.put(key, Kept(reply, request.fence))

    def close(self) -> None:
        """Close the file."""
        self._kept.close()
