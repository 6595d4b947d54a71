"""What failed calls of every SDK mean, and when they are made again.

The status, the server's codes and the class of the exception decide. The wording of a message
never does, because it changes from one version of a server or an SDK to the next. LangChain,
LlamaIndex and LiteLLM pass the exceptions of SDKs on, or raise their own with these as the cause.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar

from llmeval_integrations.core.errors import ClientError, EvalError, JudgeError, RefusedReplyError

T = TypeVar("T")

_log = logging.getLogger(__name__)

_KINDS: Final[Mapping[object, str]] = {
    "context_length_exceeded": "context_overflow",  # OpenAI, Azure
    "exceed_context_size_error": "context_overflow",  # llama.cpp
    "ContextOverflowError": "context_overflow",  # LangChain's class
    "ContextWindowExceededError": "context_overflow",  # LiteLLM's class
    "insufficient_quota": "failed",  # OpenAI: comes with 429 and does not pass
    "content_filter": "refused",
    "content_policy_violation": "refused",
    "ContentFilterFinishReasonError": "refused",  # OpenAI's class
    "ContentPolicyViolationError": "refused",  # LiteLLM's class
    400: "bad_request",
    401: "authentication",
    403: "authentication",
    404: "not_found",
    408: "timeout",
    409: "server",  # a conflict or a call too early may pass when tried again
    413: "context_overflow",
    422: "bad_request",
    425: "server",
    429: "rate_limited",
    501: "bad_request",  # a feature that the server lacks
    504: "timeout",
    529: "rate_limited",  # Anthropic: overloaded
}
"""The kinds of errors by the server's code or the exception's class, else by the HTTP status."""

_LIBRARIES: Final = {"httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "requests", "asyncio"}
_TIMEOUTS: Final = {"Timeout", "TimeoutError", "TimeoutException"}

_LONGEST_PAUSE: Final = 60.0  # seconds; a server that asks for more has refused the call

# Seconds; each further pause is up to twice as long. The five default retries wait at least 15 s in
# total, longer than an outage of a few seconds.
_FIRST_PAUSE: Final = 1.0


class Limiter:
    """A bound on the calls under way, which shrinks when the server pushes back and recovers.

    Additive increase, multiplicative decrease (Chiu and Jain 1989): the bound is halved once for
    all calls that were under way together, and grows by one with each round of successful calls.
    Waiting calls begin in order of arrival. A limiter serves one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._under_way = 0
        self._answered = 0
        self._era = 0  # how often the bound was halved
        self._opens = 0.0  # the loop's time until which no call begins
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def retry(self, make: Callable[[], Awaitable[T]], retries: int) -> T:
        """Make a call once there is a place; repeat it after a transient failure."""
        failures = 0.0
        while True:
            answered = self._answered
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self._admit()
            await turn
            era = self._era
            try:
                answer = await make()
            except Exception as error:
                problem = error if isinstance(error, EvalError) else error_of(error)
                if not isinstance(problem, ClientError):
                    raise
                # If other calls succeed, the server works and only the number of calls is too high.
                is_crowded = problem.kind == "rate_limited" and self._answered > answered
                failures += 0.1 if is_crowded else 1
                pause = _find_pause(problem, failures, retries)
                if pause is None and problem is error:
                    raise
                if pause is None:
                    raise problem from error
                if problem.kind in ("rate_limited", "server"):  # the server is overloaded
                    self._slow(era, pause, asked=bool(problem.retry_after))
            else:
                self._answered += 1
                self._limit = min(self._limit + 1 / self._limit, self._most)
                return answer
            finally:
                self._under_way -= 1
                self._admit()
            await asyncio.sleep(pause)

    def _admit(self) -> None:
        """Give free places to waiting calls."""
        while self._waiting and self._under_way < int(self._limit):
            if asyncio.get_running_loop().time() < self._opens:
                return
            turn = self._waiting.popleft()
            if not turn.done():  # else its work was cancelled
                turn.set_result(None)
                self._under_way += 1

    def _slow(self, era: int, seconds: float, *, asked: bool) -> None:
        """Begin no call for so many seconds, because a call of this era was pushed back."""
        if era == self._era:
            self._era += 1
            self._limit = max(self._limit / 2, 1.0)
            _log.info("pushed back: %d calls at a time from now on", self._limit)
        elif not asked:  # the calls of that era have paused already
            return
        loop = asyncio.get_running_loop()
        self._opens = max(self._opens, loop.time() + seconds)
        loop.call_at(self._opens + 0.001, self._admit)


def _find_pause(error: ClientError, failures: float, retries: int) -> float | None:
    """Return the seconds until the next try; None if a call is not made again."""
    asked = error.retry_after
    allowed = min(retries, 1) if error.kind == "timeout" else retries
    if not error.is_transient or failures > allowed or (asked or 0) > _LONGEST_PAUSE:
        return None
    bound = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** max(int(failures) - 1, 0))
    # Random, so that calls that failed together are not repeated together.
    pause = random.uniform(bound / 2, bound)  # noqa: S311 - no secret
    pause = pause if asked is None else asked + pause / 10
    _log.info("%s; trying again in %.1f s", error, pause)
    return pause


def status_error(
    status: int, body: Any = None, headers: Mapping[str, str] | None = None
) -> JudgeError:
    """Return the error for a response with an error status.

    `body` is the JSON of the response, or the part that an SDK keeps. The names of `headers` are
    in lower case.
    """
    account: Any = body.get("error", body) if isinstance(body, Mapping) else {}
    account = account if isinstance(account, Mapping) else {"message": account}
    message = account.get("message") or body or "no message"
    if 300 <= status < 400:
        message = "a redirect, which is not followed; give the address that it points to"
    text = f"the server answered {status}: {message}"
    codes = [str(account.get(name)) for name in ("code", "type", "status")]
    other = "server" if status >= 500 else "failed" if status >= 300 else "garbled"
    kind = next((_KINDS[sign] for sign in (*codes, status) if sign in _KINDS), other)
    if kind == "refused":
        return RefusedReplyError(text)
    is_parameter = not {"unsupported_parameter", "unsupported_value"}.isdisjoint(codes)
    return ClientError(
        text,
        kind=kind,
        status=status,
        retry_after=_retry_after(headers or {}, account),
        parameter=account.get("param") if is_parameter else None,
    )


def error_of(error: BaseException) -> JudgeError | None:
    """Return the error for an exception or one of its causes; None if none of them is known.

    The causes show best that there was no response: a library may invent a status for it. A
    response is read by the first status and by the body that the deepest cause keeps.
    """
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    status = next(filter(None, map(_status, chain)), None)
    classes = (kind.__name__ for each in chain for kind in type(each).__mro__)
    known = next((_KINDS[name] for name in classes if name in _KINDS), None)
    if known == "refused":
        return RefusedReplyError(str(error))
    if known is not None:
        return ClientError(str(error), kind=known, status=status)
    for each in chain:
        if getattr(each, "response", None) is None and (found := _transport_error(each)):
            return found
    if status is None:
        return None
    chain.reverse()
    bodies = (getattr(each, name, None) for each in chain for name in ("body", "details"))
    heads = (getattr(getattr(each, "response", None), "headers", None) for each in chain)
    body = next((body for body in bodies if body and isinstance(body, Mapping)), None)
    headers = next((head for head in heads if head and isinstance(head, Mapping)), None)
    return status_error(status, body or {"message": str(error)}, headers)


def _transport_error(error: BaseException) -> ClientError | None:
    """Return the error for an exception of an HTTP library; None for any other exception."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return ClientError(f"the response is not JSON: {text}", kind="garbled")
    packages = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    if not isinstance(error, OSError) and not packages & _LIBRARIES:
        return None
    if {kind.__name__ for kind in type(error).__mro__} & _TIMEOUTS:
        return ClientError(f"no reply in time: {text}", kind="timeout")
    return ClientError(f"the connection failed: {text}", kind="connection")


def _status(error: BaseException) -> int | None:
    """Find the HTTP status of a response, which each SDK keeps in a different place."""
    response, own = getattr(error, "response", None), getattr(error, "status_code", None)
    places = own, getattr(response, "status_code", None), getattr(error, "code", None)
    return next((int(each) for each in places if isinstance(each, int) and 200 <= each < 600), None)


def _retry_after(headers: Mapping[str, str], account: Mapping[str, Any]) -> float | None:
    """Read the seconds that a server asks to wait; None if they cannot be read.

    They are in the header of RFC 9110, where a date in the past counts as 0, or in Google's body:
    `"retryDelay": "21s"`.
    """
    asked: Any = headers.get("retry-after")
    details = account.get("details")
    for detail in details if isinstance(details, list) else ():
        asked = asked or (isinstance(detail, Mapping) and detail.get("retryDelay"))
    with suppress(ValueError, TypeError, OverflowError, AttributeError):
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
    with suppress(ValueError):
        seconds = float(str(asked).removesuffix("s"))
        return seconds if 0 <= seconds < float("inf") else None
    return None
