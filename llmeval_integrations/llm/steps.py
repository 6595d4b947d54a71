"""Work that waits, written once for blocking and asynchronous callers.

Whatever needs the outside world is a generator that yields steps and is sent what each step
gave. `drive` performs steps one after the other and blocks; `adrive` awaits them. They are the
only pair in the package whose halves differ by `await`. `asyncio` takes 40 ms to import, so
that only those who await pay for it.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")


class Step(ABC):
    """Something to be done outside, in either way.

    `perform` does the steps that this one is made of; whoever drives decides how, which is how a
    run adds its cache and its limits.
    """

    @abstractmethod
    def run(self, perform: Perform) -> Any:
        """Do it and block."""

    @abstractmethod
    async def arun(self, perform: APerform) -> Any:
        """Do it and let others work meanwhile."""


Steps: TypeAlias = Generator[Step, Any, T]
"""A piece of work: it yields steps, is sent what they gave, and returns a T."""

Perform: TypeAlias = Callable[[Step], Any]
APerform: TypeAlias = Callable[[Step], Awaitable[Any]]


def perform(step: Step) -> Any:
    """Do a step with nothing added."""
    return step.run(perform)


async def aperform(step: Step) -> Any:
    """Do a step with nothing added, asynchronously."""
    return await step.arun(aperform)


def drive(steps: Steps[T], perform: Perform = perform) -> T:
    """Do all steps, each after the one before, and give what the work returns."""
    resume: Callable[[Any], Step] = steps.send
    given: Any = None
    while True:
        try:
            step = resume(given)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            resume, given = steps.send, perform(step)
        except Exception as error:  # noqa: BLE001 - the work decides what it makes of it
            resume, given = steps.throw, error


async def adrive(steps: Steps[T], perform: APerform = aperform) -> T:
    """Await all steps, each after the one before, and give what the work returns."""
    resume: Callable[[Any], Step] = steps.send
    given: Any = None
    while True:
        try:
            step = resume(given)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            resume, given = steps.send, await perform(step)
        except Exception as error:  # noqa: BLE001 - the work decides what it makes of it
            resume, given = steps.throw, error


@dataclass(frozen=True)
class Call(Step):
    """One call over the network."""

    endpoint: Callable[[bool], Callable[..., Any]]
    """Gives the function to be called: the awaitable one for True, the blocking one for False."""

    arguments: Mapping[str, Any]
    """Its keyword arguments."""

    timeout: float | None = None
    """The seconds after which the call is given up, whatever the SDK's own clock says; that looks
    at each read, so that a server which sends a byte now and then would be waited for."""

    def run(self, perform: Perform) -> Any:  # noqa: ARG002 - a single step
        from llmeval_integrations.llm.own_threads import within

        call = partial(self.endpoint(False), **self.arguments)
        return call() if self.timeout is None else within(self.timeout, call)

    async def arun(self, perform: APerform) -> Any:  # noqa: ARG002 - a single step
        return await _within(self.timeout, self.endpoint(True)(**self.arguments))


async def _within(seconds: float | None, call: Awaitable[T]) -> T:
    """Await a call; raises TimeoutError after so many seconds."""
    import asyncio

    if sys.version_info >= (3, 11):
        async with asyncio.timeout(seconds):  # without a task of its own, as wait_for makes
            return await call
    try:
        return await asyncio.wait_for(call, seconds)
    except asyncio.TimeoutError as error:  # Python 3.10 has two of that name
        raise TimeoutError from error


@dataclass(frozen=True)
class Pause(Step):
    """Waiting before another try."""

    seconds: float

    pushed_back: bool = False
    """Whether the server asked for fewer calls."""

    asked: float = 0.0
    """The seconds that the server asked for; 0 where it named none."""

    def run(self, perform: Perform) -> None:  # noqa: ARG002 - a single step
        time.sleep(self.seconds)

    async def arun(self, perform: APerform) -> None:  # noqa: ARG002 - a single step
        import asyncio

        await asyncio.sleep(self.seconds)


@dataclass(frozen=True)
class Together(Step):
    """Several pieces of work, side by side where that is possible; gives the list of their results.

    What one of them raises is raised, when all have ended.
    """

    works: Sequence[Steps[Any]]

    def run(self, perform: Perform) -> list[Any]:
        return [drive(work, perform) for work in self.works]

    async def arun(self, perform: APerform) -> list[Any]:
        import asyncio

        given = await asyncio.gather(
            *(adrive(work, perform) for work in self.works), return_exceptions=True
        )
        for one in given:
            if isinstance(one, BaseException):
                raise one
        return given


def mapped(steps: Steps[T], change: Callable[[Step], Step]) -> Steps[T]:
    """Do the same work with each of its steps, and those of the works inside it, changed."""
    resume: Callable[[Any], Step] = steps.send
    given: Any = None
    while True:
        try:
            step = resume(given)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        if isinstance(step, Together):
            step = Together([mapped(work, change) for work in step.works])
        try:
            resume, given = steps.send, (yield change(step))
        except Exception as error:  # noqa: BLE001 - the work decides what it makes of it
            resume, given = steps.throw, error


def begun(steps: Steps[T]) -> Steps[T]:
    """Work up to the first steps, where a bad call raises, and give what goes on from there."""
    try:
        first = next(steps)
    except StopIteration as done:
        return _ended(done.value)
    if isinstance(first, Together):
        first = Together([begun(work) for work in first.works])
    return _going_on(steps, first)


def _ended(value: T) -> Steps[T]:
    return value
    yield  # which makes it a generator


def _going_on(steps: Steps[T], step: Step) -> Steps[T]:
    resume: Callable[[Any], Step]
    while True:
        try:
            resume, given = steps.send, (yield step)
        except Exception as error:  # noqa: BLE001 - the work decides what it makes of it
            resume, given = steps.throw, error
        try:
            step = resume(given)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
