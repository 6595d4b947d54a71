"""Ending a run by an interrupt (Ctrl-C) so that rows and figures agree on what was done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeAlias

from llmeval_integrations.runs.run import Run

_Handler: TypeAlias = Callable[[int, "FrameType | None"], Any]


class Interrupted(KeyboardInterrupt):
    """A run was interrupted; `run` is what was done until then."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.run = run

    def __str__(self) -> str:
        return f"interrupted after {self.run.summary['samples']} samples"


class Interrupts:
    """Holds interrupts back while blocks run that are to be done whole.

    `with interrupts.watched():` stands around everything, and `with interrupts:` around each of
    the blocks, which costs next to nothing.
    """

    def __init__(self) -> None:
        self._is_in_block = False
        self._held: list[tuple[int, FrameType | None]] = []
        self._before: _Handler | None = None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Be told of interrupts; whoever was told before is so still, between blocks."""
        # Python raises interrupts in the main thread alone.
        is_main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGINT) if is_main else None
        if not callable(before):
            yield
            return
        self._before = before
        signal.signal(signal.SIGINT, self._take)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _take(self, number: int, frame: FrameType | None) -> None:
        self._held.append((number, frame))
        if not self._is_in_block:
            self._pass_on()

    def _pass_on(self) -> None:
        held, self._held = self._held, []
        for each in held:
            if self._before is not None:
                self._before(*each)

    def __enter__(self) -> None:
        self._is_in_block = True

    def __exit__(self, *_: object) -> None:
        self._is_in_block = False
        if self._held:
            self._pass_on()
