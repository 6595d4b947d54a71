"""What a call over HTTP that failed means, whichever the SDK.

Told by status, by the codes that a server gives and by the class of an exception, never by the
wording of a message: that changes from one version of a server or an SDK to the next.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

from llmeval_integrations.core.errors import ClientError, JudgeError, RefusedReplyError

_STATUS: Final = {
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
_CODES: Final = {
    "context_length_exceeded": "context_overflow",  # OpenAI, Azure
    "exceed_context_size_error": "context_overflow",  # llama.cpp
    "insufficient_quota": "failed",  # OpenAI: comes with 429 and does not pass
}
_REFUSALS: Final = {"content_filter", "content_policy_violation"}
_UNSUPPORTED: Final = {"unsupported_parameter", "unsupported_value"}

_LIBRARIES: Final = {"httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "requests", "asyncio"}
_TIMEOUTS: Final = {"Timeout", "TimeoutError", "TimeoutException"}


def status_problem(
    status: int, body: Any = None, headers: Mapping[str, str] | None = None
) -> JudgeError:
    """Say what an answer with the status of an error means.

    `body` is the answer's JSON, or what an SDK keeps of it; `headers` are found by names in lower
    case.
    """
    account = _account(body)
    codes = {str(account.get(key)) for key in ("code", "type", "status")}
    said = f"the server answered {status}: {_message(account, body)}"
    if codes & _REFUSALS:
        return RefusedReplyError(said)
    named = [_CODES[code] for code in codes if code in _CODES]
    asked = retry_after(headers or {})
    return ClientError(
        said,
        kind=named[0] if named else _kind_of(status),
        status=status,
        retry_after=_delay_in(account) if asked is None else asked,
        parameter=account.get("param") if codes & _UNSUPPORTED else None,
    )


def _kind_of(status: int) -> str:
    """Return the kind by the status; one that tells of no error came with something unreadable."""
    unlisted = "garbled" if status < 400 else "failed" if status < 500 else "server"
    return _STATUS.get(status, unlisted)


def transport_problem(error: BaseException) -> ClientError | None:
    """Say what an exception of an HTTP library means; None for one of another origin."""
    classes = type(error).__mro__
    told = f"{type(error).__name__}: {error}"
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return ClientError(f"the response is not JSON: {told}", kind="garbled")
    libraries = {kind.__module__.partition(".")[0] for kind in classes}
    if not isinstance(error, OSError) and not libraries & _LIBRARIES:
        return None
    if {kind.__name__ for kind in classes} & _TIMEOUTS:
        return ClientError(f"no reply in time: {told}", kind="timeout")
    return ClientError(f"the connection failed: {told}", kind="connection")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read the seconds that a server asks to wait: RFC 9110's header, or OpenAI's in milliseconds.

    A date in the past is 0; what cannot be read is None.
    """
    finer = _number(headers.get("retry-after-ms"))
    if finer is not None:
        return finer / 1000
    asked = headers.get("retry-after")
    if not asked:
        return None
    seconds = _number(asked)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _account(body: Any) -> Mapping[str, Any]:
    """Find the part of a body that tells of the error; an SDK may have unwrapped it already."""
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error", body)
    return inner if isinstance(inner, Mapping) else {"message": inner}


def _message(account: Mapping[str, Any], body: Any) -> str:
    return str(account.get("message") or body or "without a word")


def _delay_in(account: Mapping[str, Any]) -> float | None:
    """Read the pause that Google asks for, which it does in the body: `"retryDelay": "21s"`."""
    for detail in _mappings(account.get("details")):
        delay = detail.get("retryDelay")
        if isinstance(delay, str):
            return _number(delay.removesuffix("s"))
    return None


def _mappings(items: Any) -> Iterator[Mapping[str, Any]]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping):
            yield item


def _number(text: str | None) -> float | None:
    """Read a pause; None for one that is not a number, negative or without end."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
