"""Works that were handed to a pool together."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Iterable
from threading import Event
from typing import Any, Generic, TypeVar

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.budget import Spending
from llmeval_integrations.llm.steps import APerform, Steps, adrive

T = TypeVar("T")


class Job(Generic[T]):
    """An iterator of works, and what became of those that were taken from it.

    Everything but `wait` happens in the pool's loop.
    """

    def __init__(
        self, works: Iterable[Steps[T]], perform_on: Callable[[Spending], APerform]
    ) -> None:
        self.accounts: list[Spending] = []
        """What each work took."""
        self._works = iter(works)
        self._perform_on = perform_on
        self._results: list[Any] = []
        self._open = 1  # the iterator counts as one
        self._ended = Event()
        self._error: BaseException | None = None

    def take(self) -> tuple[int, Steps[T]] | None:
        """Return the next work and the place of its result; None where there is none left."""
        if self._error is not None:
            return None
        try:
            work = next(self._works)
        except StopIteration:
            self._end_one()
            return None
        except BaseException as error:  # noqa: BLE001 - raised again where the job is waited for
            self.stop(error)
            return None
        self._results.append(None)
        self.accounts.append(Spending())
        self._open += 1
        return len(self._results) - 1, work

    async def do(self, place: int, work: Steps[T]) -> None:
        """Do a work and keep what it returns or raises."""
        try:
            self._results[place] = await adrive(work, self._perform_on(self.accounts[place]))
        except Exception as error:  # noqa: BLE001 - one work's failure is no other's
            self._results[place] = error
        except CancelledError:
            if self._error is not None:
                raise
            # nobody stopped the job: something that the call awaited was cancelled
            self._results[place] = ClientError("the call was cancelled", kind="connection")
        except BaseException as error:  # noqa: BLE001 - an interrupt, raised where it is waited for
            self.stop(error)
        self._end_one()

    def stop(self, error: BaseException) -> None:
        """End the job before its time."""
        self._error = self._error or error
        self._ended.set()

    def _end_one(self) -> None:
        self._open -= 1
        if not self._open:
            self._ended.set()

    def wait(self, seconds: float) -> bool:
        """Wait so long for the end; gives whether it came."""
        return self._ended.wait(seconds)

    def results(self) -> list[T | Exception]:
        """Return what each work returned or raised, in order; raises what ended the job early."""
        if self._error is not None:
            raise self._error
        return self._results
