"""The error of a failed call, for every SDK.

The status, the server's codes and the class of the exception decide. The wording of a message
never does, because it changes from one version of a server or an SDK to the next. LangChain,
LlamaIndex and LiteLLM pass the exceptions of SDKs on, or raise their own with these as the cause.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, Final

from llmeval_integrations.core.errors import ClientError, JudgeError, RefusedReplyError

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
    codes = [str(account.get(name)) for name in ("code", "type", "status")]
    other = "server" if status >= 500 else "failed" if status >= 300 else "garbled"
    known = (_KINDS[sign] for sign in (*codes, status) if sign in _KINDS)
    kind, text = next(known, other), f"the server answered {status}: {message}"
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


def transport_error(error: BaseException) -> ClientError | None:
    """Return the error for an exception of an HTTP library; None for any other exception."""
    classes = type(error).__mro__
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return ClientError(f"the response is not JSON: {text}", kind="garbled")
    packages = {kind.__module__.partition(".")[0] for kind in classes}
    if not isinstance(error, OSError) and not packages & _LIBRARIES:
        return None
    if {kind.__name__ for kind in classes} & _TIMEOUTS:
        return ClientError(f"no reply in time: {text}", kind="timeout")
    return ClientError(f"the connection failed: {text}", kind="connection")


def error_of(error: BaseException) -> JudgeError | None:
    """Return the error for an exception or one of its causes; None if none of them is known.

    The causes show best that there was no response: a library may invent a status for it. A
    response is read by the first status and by the body that the deepest cause keeps.
    """
    chain = [error]
    while (cause := _cause(chain[-1])) is not None and cause not in chain:
        chain.append(cause)
    status = next(filter(None, map(_status, chain)), None)
    classes = (kind.__name__ for each in chain for kind in type(each).__mro__)
    known = next((_KINDS[name] for name in classes if name in _KINDS), None)
    if known == "refused":
        return RefusedReplyError(str(error))
    if known is not None:
        return ClientError(str(error), kind=known, status=status)
    for each in chain:
        if getattr(each, "response", None) is None and (found := transport_error(each)):
            return found
    if status is None:
        return transport_error(error)
    chain.reverse()
    bodies = (getattr(each, name, None) for each in chain for name in ("body", "details"))
    heads = (getattr(getattr(each, "response", None), "headers", None) for each in chain)
    body = next((body for body in bodies if body and isinstance(body, Mapping)), None)
    headers = next((head for head in heads if head and isinstance(head, Mapping)), None)
    return status_error(status, body or {"message": str(error)}, headers)


def _cause(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _status(error: BaseException) -> int | None:
    """Find the HTTP status of a response, which each SDK keeps in a different place."""
    response: Any = getattr(error, "response", None)
    # the last one is Google's
    places = (error, "status_code"), (response, "status_code"), (error, "code")
    found = (getattr(thing, name, None) for thing, name in places)
    return next((int(each) for each in found if isinstance(each, int) and 200 <= each < 600), None)


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
