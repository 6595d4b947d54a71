"""Ending a run by an interrupt (Ctrl-C) so that what was done is known."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from llmeval_integrations.runs.run import Run


class Interrupted(KeyboardInterrupt):
    """A run was interrupted; `run` is what was done until then."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.run = run

    def __str__(self) -> str:
        return f"interrupted after {self.run.summary['samples']} samples"


@contextmanager
def done_whole() -> Iterator[None]:
    """Hold an interrupt back until the block has ended, so that rows and figures agree."""
    # Python raises interrupts in the main thread alone.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for each in held:
            before(*each)
