"""Judges in tests, whose replies may come from a cache."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmeval_integrations.core.evaluator import Evaluator
    from llmeval_integrations.llm.caching.cache import Cache


class Judges:
    """Puts a cache before the clients of judges."""

    def __init__(self, path: str | None, *, frozen: bool) -> None:
        self._path = path
        self._frozen = frozen
        self._cache: Cache | None = None

    def ready(self, evaluator: Evaluator) -> Evaluator:
        """Return the evaluator; of a judge one that asks only what the cache lacks."""
        if self._path is None:
            return evaluator
        from llmeval_integrations.judges.evaluator import JudgedEvaluator
        from llmeval_integrations.llm.caching.cache import Cache
        from llmeval_integrations.llm.caching.cached import Cached

        if not isinstance(evaluator, JudgedEvaluator):
            return evaluator
        if self._cache is None:
            self._cache = Cache(self._path, frozen=self._frozen)
        return evaluator.with_clients(partial(Cached, cache=self._cache))

    def close(self) -> None:
        """Close the cache."""
        if self._cache is not None:
            self._cache.close()
