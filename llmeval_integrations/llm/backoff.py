"""Trying a call again."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Final, TypeVar

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.steps import Pause, Steps

_log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_PAUSE: Final = 0.5
"""The longest first pause, in seconds; each further one may be twice as long."""

LONGEST_PAUSE: Final = 60.0
"""The longest pause, in seconds; a server that asks for more has refused the call."""


def tried_again(attempt: Callable[[], Steps[T]], retries: int) -> Steps[T]:
    """Do the work, up to `retries` times more where it fails with what may pass.

    The pause is what the server asks for by Retry-After, else drawn evenly from nothing to twice
    the bound before ("full jitter", Brooker 2015), so that callers who failed together do not
    come back together.
    """
    for number in range(retries + 1):
        try:
            return (yield from attempt())
        except ClientError as error:
            asked = error.retry_after
            if number == retries or not error.is_transient or (asked or 0) > LONGEST_PAUSE:
                raise
            bound = min(LONGEST_PAUSE, FIRST_PAUSE * 2**number)
            jitter = random.uniform(0, bound)  # noqa: S311 - no secret
            pause = jitter if asked is None else asked + jitter / 10
            _log.info("%s; trying again in %.1f s", error, pause)
            yield Pause(pause, pushed_back=error.kind == "rate_limited", asked=asked or 0.0)
    raise AssertionError  # the last attempt returns or raises
