"""Parts of a file of JSON Lines: cut, and evaluated by whatever process has them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.runs.chunk import begin, by_sample, sample_lines
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.data.json_rows import read_lines
from llmeval_integrations.runs.data.source import Source
from llmeval_integrations.runs.judging import Judging, JudgingOptions
from llmeval_integrations.runs.rows import write_rows

_PARTS: Final = 8
"""The parts that each who evaluates has at least, where they are not shorter than a few lines."""

_SHORTEST: Final = 1 << 12
"""The fewest bytes of a part, to which comes the rest of its last line."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Job(NamedTuple):
    """What is to be evaluated, and how."""

    path: str
    """The file."""

    evaluators: Mapping[str, Evaluator]
    """By name."""

    columns: Mapping[str, Columns]
    """For each evaluator."""


class Part(NamedTuple):
    """Whole lines of a file."""

    number: int
    """The number of the first row."""

    text: bytes
    """The lines."""

    end: int
    """Where they end in the file."""


class Answer(NamedTuple):
    """The rows of a part, as they stand in the files of the run."""

    size: int
    """How many samples it has."""

    rows: bytes
    """The lines of `results.jsonl`."""

    samples: list[tuple[int, bytes]]
    """The samples that did not pass: the place in this part, and the line but for its place."""

    end: int
    """Where the part ends in the file."""


class Helpers(Protocol):
    """Evaluates the lines of one file elsewhere."""

    def answers(self, done: int) -> Iterator[Answer]:
        """Evaluate the rows behind the first `done`; give answers in order.

        Raises InputError where a part is not evaluated.
        """

    def close(self) -> None:
        """Return whatever was taken."""


class Engine(Protocol):
    """Makes the helpers of one run."""

    def __call__(self, job: Job, options: JudgingOptions, judges: Judging | None) -> Helpers:
        """Return helpers for a job; nothing has to be begun yet."""


def lines_of(source: Source) -> str:
    """Return the file whose lines an engine evaluates; raise InputError where there is none."""
    if source.path is None:
        raise InputError(
            f"an engine evaluates all lines of a file of JSON Lines, and {source.name} is none, or "
            "a part was asked for; for Parquet and other data evaluate_dataset of "
            "llmeval_integrations.frameworks.ray takes whatever Ray Data reads"
        )
    return source.path


def evaluate_part(job: Job, part: Part, judging: Judging | None = None) -> Answer:
    """Evaluate the samples of a part."""
    source = Source(job.path)
    source.records = read_lines(BytesIO(part.text), source, part.number)
    # All are begun before the first is waited for, so that judges are never idle.
    begun = [begin(job.evaluators, job.columns, chunk, judging) for chunk in source.chunks()]
    written: list[bytes] = []
    samples: list[tuple[int, bytes]] = []
    count = 0
    for pending in begun:
        rows = [each.rows() for each in pending]
        written.append(write_rows(by_sample(rows)))
        own = {each.name: each.samples for each in pending}
        samples += [(count + place, line) for place, line in sample_lines(own, rows)]
        count += len(rows[0])
    return Answer(count, b"".join(written), samples, part.end)


def parts_of(path: str, done: int, helpers: int, longest: int) -> Iterator[Part]:
    """Cut a file behind its first `done` rows into parts, several for each of the helpers."""
    with Path(path).open("rb") as file:
        if file.read(3) != _BYTE_ORDER_MARK:
            file.seek(0)
        number = 1
        while number <= done and (line := file.readline()):
            number += not line.isspace()
        left = Path(path).stat().st_size - file.tell()
        length = min(max(left // (_PARTS * helpers), _SHORTEST), longest)
        while text := file.read(length):
            text += file.readline()
            yield Part(number, text, file.tell())
            number += sum(not line.isspace() for line in BytesIO(text))


Asked = TypeVar("Asked")


def in_order(
    ask: Callable[[Part], Asked],
    parts: Iterator[Part],
    most: int,
    wait: Callable[[Asked, Part], Answer],
    cancel: Callable[[Asked], object],
) -> Iterator[Answer]:
    """Have parts evaluated, so many at a time; give the answers in order.

    `ask` begins to have a part evaluated, `wait` returns the answer, and `cancel` gives up what
    nobody waits for any more.
    """
    asked: deque[tuple[Asked, Part]] = deque()
    try:
        for part in parts:
            asked.append((ask(part), part))
            if len(asked) >= most:
                yield wait(*asked.popleft())
        while asked:
            yield wait(*asked.popleft())
    finally:
        for pending, _ in asked:
            cancel(pending)
