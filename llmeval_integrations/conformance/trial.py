"""A trial asks about one case twice, awaits the answer too, and looks for a changed reference."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

from llmeval_integrations.conformance.answer import Answer
from llmeval_integrations.conformance.case import Case
from llmeval_integrations.conformance.subject import Subject
from llmeval_integrations.core.printable import one_line
from llmeval_integrations.core.quoting import quote


class Observation(NamedTuple):
    """An evaluator's answers about one case."""

    first: Answer
    """What it said."""

    again: Answer | None = None
    """What it said of the same once more, where it was asked."""

    awaited: Answer | None = None
    """What it said when awaited, where it can be both called and awaited."""

    changed: bool = False
    """Whether the reference is no longer what it was."""

    seconds: float = 0.0
    """The processor's time of the first call."""


class Trial:
    """Asks one evaluator about cases."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._loop = asyncio.new_event_loop()

    def observe(self, case: Case, *, once: bool = False) -> Observation:
        """Ask about a case; `once` where the time is all that counts."""
        subject = self._subject
        case, before = replace(case, reference=deepcopy(case.reference)), case.reference
        ways = [way for way in (subject.call, self._awaited(subject.acall)) if way]
        start = time.process_time()
        first = self._ask(ways[0], case)
        seconds = time.process_time() - start
        if once:
            return Observation(first, seconds=seconds)
        again = self._ask(ways[0], case)
        awaited = self._ask(ways[1], case) if len(ways) > 1 else None
        return Observation(first, again, awaited, case.reference != before, seconds)

    def close(self) -> None:
        """Close the event loop, unless somebody is still being asked."""
        if not self._loop.is_running():
            self._loop.close()

    def _awaited(self, acall: Callable[[Case], Any] | None) -> Callable[[Case], Any] | None:
        if acall is None:
            return None

        return lambda case: self._loop.run_until_complete(_wait_for(acall(case)))

    def _ask(self, way: Callable[[Case], Any], case: Case) -> Answer:
        try:
            result = way(case)
            if inspect.isawaitable(result):  # of a function that is not declared as `async`
                result = self._loop.run_until_complete(_wait_for(result))
            return self._subject.read(result)
        except self._subject.refusal as error:
            return Answer("nothing", None, _describe_error(error))
        except BaseException as error:  # noqa: BLE001 - it may raise anything, and even exit
            return Answer("raised", None, _describe_error(error))


async def _wait_for(awaitable: Any) -> Any:
    return await awaitable


def _describe_error(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an error's own words may fail
        text = quote(error)
    return one_line(f"{type(error).__name__}: {text[:200]}")
