"""What evaluates the chunks of a run: the job, its answers, and the order in which they come."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeVar

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.data.source import Record
from llmeval_integrations.runs.rows import Row, parse_rows, write_rows

T = TypeVar("T")

RARELY: Final = 50_000
"""The objects between two garbage collections of a run; a chunk makes fewer. The default, 700,
costs a tenth of the time."""


class Job(NamedTuple):
    """What is done with each chunk."""

    evaluators: Mapping[str, Evaluator]
    columns: Mapping[str, Columns]
    """The columns of each evaluator."""

    keep: Literal["none", "failing", "all"] = "none"
    """The samples that are written in addition to the rows."""


@dataclass
class Answers:
    """The rows of a chunk, and its samples that are kept."""

    rows: list[Row]
    """Sample by sample, each with one row of every evaluator."""

    samples: list[tuple[int, bytes]]
    """The place of each sample in the chunk, and its line without its beginning."""

    lines: bytes | None = None
    """The rows as JSON Lines, if another process has written them."""

    def write(self) -> bytes:
        """Write the rows as JSON Lines."""
        return write_rows(self.rows) if self.lines is None else self.lines

    def __reduce__(self) -> Any:
        # As JSON, because metadata may hold values that cannot be pickled.
        return _read_answers, (self.write(), self.samples)


def _read_answers(lines: bytes, samples: list[tuple[int, bytes]]) -> Answers:
    return Answers(parse_rows(lines), samples, lines)


class Engine(Protocol):
    """Evaluates the chunks of a run in this process or elsewhere."""

    ahead: int
    """The number of chunks that are started before the first is waited for."""

    def start(self, records: Sequence[Record]) -> Callable[[], Answers]:
        """Start to evaluate a chunk. The function that is returned waits for it."""

    def close(self) -> None:
        """Free all resources, and stop what nobody waits for."""


EngineMaker = Callable[[Job], Engine]
"""Makes the engine of a run."""


def finish_in_order(started: Iterator[Callable[[], T]], ahead: int) -> Iterator[T]:
    """Yield results in order. As many as `ahead` are started before the first is waited for."""
    waits: deque[Callable[[], T]] = deque()
    for wait in started:
        waits.append(wait)
        while len(waits) > ahead:
            yield waits.popleft()()
    while waits:
        yield waits.popleft()()


@contextmanager
def collect_rarely() -> Iterator[None]:
    """Collect garbage at most once a chunk."""
    before = gc.get_threshold()
    if before[0]:  # otherwise it is off
        gc.set_threshold(max(before[0], RARELY), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
