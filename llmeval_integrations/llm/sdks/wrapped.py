"""What an exception means that one library has made of another's.

LangChain, LlamaIndex and LiteLLM stand on the vendors' SDKs. They let those exceptions through, or
raise their own with the others as cause, some with a status that they make up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Final

from llmeval_integrations.core.errors import ClientError, JudgeError, RefusedReplyError
from llmeval_integrations.llm.sdks.http_problems import status_problem, transport_problem

_OVERFLOWS: Final = {
    "ContextOverflowError",  # langchain-core
    "ContextWindowExceededError",  # litellm
}
_REFUSALS: Final = {
    "ContentFilterFinishReasonError",  # openai
    "ContentPolicyViolationError",  # litellm
}
_KEYLESS: Final = ("openai", "OpenAIError")
"""What OpenAI's package raises of its base class is that it has no key."""

_LOOPS: Final = {"asyncio", "uvloop"}


def wrapped_problem(error: BaseException) -> JudgeError | None:
    """Say what an exception or one of its causes means; None where none of them is known.

    That there was no answer, a cause knows best; a status may be made up for it.
    """
    chain = [*causes(error)]
    names = {kind.__name__ for one in chain for kind in type(one).__mro__}
    if names & _REFUSALS:
        return RefusedReplyError(str(error))
    if names & _OVERFLOWS:
        return ClientError(str(error), kind="context_overflow", status=_status(error))
    if any((type(one).__module__, type(one).__name__) == _KEYLESS for one in chain):
        return ClientError(str(error), kind="authentication")
    unanswered = (one for one in chain if getattr(one, "response", None) is None)
    problems = filter(None, map(transport_problem, unanswered))
    return next(problems, None) or _answered(chain)


def of_another_loop(error: BaseException) -> bool:
    """Tell whether a connection failed because the event loop that opened it has ended."""
    return any(
        type(one) is RuntimeError and _raised_in(one.__traceback__) in _LOOPS
        for one in causes(error)
    )


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, its cause, the cause of that, and so on."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _raised_in(traceback: TracebackType | None) -> str | None:
    """Name the package whose code raised."""
    name = None
    while traceback is not None:
        name = traceback.tb_frame.f_globals.get("__name__")
        traceback = traceback.tb_next
    return name and name.partition(".")[0]


def _answered(chain: list[BaseException]) -> JudgeError | None:
    """Read the first status, and of the deepest cause that has them, what was said and headers."""
    status = next(filter(None, map(_status, chain)), None)
    if status is None:
        return None
    said = [getattr(one, name, None) for one in reversed(chain) for name in ("body", "details")]
    heads = [getattr(getattr(one, "response", None), "headers", None) for one in reversed(chain)]
    body = next(filter(_is_mapping, said), {"message": str(chain[0])})
    return status_problem(status, body, next(filter(_is_mapping, heads), None))


def _is_mapping(thing: Any) -> bool:
    return isinstance(thing, Mapping) and bool(thing)


def _status(error: BaseException) -> int | None:
    """Find the HTTP status of an answer: each SDK keeps it elsewhere."""
    response: Any = getattr(error, "response", None)
    places = [
        getattr(error, "status_code", None),
        getattr(response, "status_code", None),
        getattr(error, "code", None),  # Google
    ]
    if isinstance(response, Mapping):  # botocore
        places.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    numbers = (place for place in places if isinstance(place, int))
    return next((int(number) for number in numbers if 400 <= number < 600), None)
