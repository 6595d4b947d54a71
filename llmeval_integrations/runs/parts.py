"""Parts of a file of JSON Lines: cut, and evaluated by whatever process has them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs.answering import begin
from llmeval_integrations.runs.chunks import MOST_ROWS
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.judging import Judging
from llmeval_integrations.runs.reading.json_rows import read_lines
from llmeval_integrations.runs.reading.source import RowNumber, Source, on_line, place_of
from llmeval_integrations.runs.rows import Row, by_sample, read_many, sample_lines, write_rows
from llmeval_integrations.runs.samples import stored_of
from llmeval_integrations.runs.summary import counted_of

_PARTS: Final = 8
"""The parts that each who evaluates has at least, where they are not shorter than a few lines."""

_SHORTEST: Final = 1 << 12
"""The fewest bytes of a part, to which comes the rest of its last line."""

_SPACE_BEGINS_A_LINE: Final = re.compile(rb"\n\s")


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

    offset: int
    """Where they begin, in bytes."""

    length: int
    """How many bytes they have."""

    number: RowNumber
    """The number of the first row."""


class Answer(msgspec.Struct):
    """The rows of a part, as they stand in the run's files, and what is counted of them."""

    samples: int
    """How many samples it has."""

    rows: bytes
    """The lines of `results.jsonl`."""

    failing: list[tuple[int, bytes]]
    """The samples that did not pass: the place in this part, and the line but for its place."""

    counted: list[tuple[list[float], list[Row]]]
    """For each evaluator the scores of rows of which nothing else is counted, and its other rows:
    what is counted of them, or the whole of them where there is a breakdown or a judge."""

    def packed(self) -> bytes:
        """Write it for another process."""
        counted = [(scores, write_rows(others)) for scores, others in self.counted]
        return _pack((self.samples, self.rows, self.failing, counted))

    @classmethod
    def unpacked(cls, text: bytes | bytearray) -> Answer:
        """Read it as another process has written it."""
        samples, rows, failing, counted = _unpack(text)
        return cls(samples, rows, failing, [(scores, read_many(rest)) for scores, rest in counted])


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(
    tuple[int, bytes, list[tuple[int, bytes]], list[tuple[list[float], bytes]]]
).decode


def evaluate_part(
    job: Job, text: bytes, number: RowNumber, judging: Judging | None = None
) -> Answer:
    """Evaluate the samples of a part by its text, whose first row has this number."""
    source = Source(job.path)
    source.records = read_lines(BytesIO(text), source, first=number)
    has_more = [
        each.breakdown() is not None or isinstance(each, JudgedEvaluator)
        for each in job.evaluators.values()
    ]
    answer = Answer(0, b"", [], [])
    written = []
    scores: list[list[float]] = [[] for _ in has_more]
    others: list[list[Row]] = [[] for _ in has_more]
    begun = (
        begin(job.evaluators, job.columns, chunk, source, judging)
        for chunk in iter(lambda: list(islice(source.records, MOST_ROWS)), [])
    )
    for pending in begun if judging is None else list(begun):
        columns = [each.column() for each in pending]
        samples = {each.name: each.samples for each in pending}
        written.append(write_rows(by_sample(columns)))
        for place, line in sample_lines(columns, stored_of(samples)):
            answer.failing.append((answer.samples + place, line))
        for at, column in enumerate(columns):
            if has_more[at]:
                others[at] += column.rows
            else:
                scores[at] += column.scores
                others[at] += [counted_of(column.rows[place]) for place in column.others]
        answer.samples += len(pending[0].samples)
    answer.rows = b"".join(written)
    answer.counted = [*zip(scores, others, strict=True)]
    return answer


def parts_of(
    path: str, offset: int, number: RowNumber, length: int
) -> Iterator[tuple[Part, bytes]]:
    """Cut a file from an offset on into parts of about this many bytes; give their texts, too."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        while text := file.read(length):
            text += file.readline()
            yield Part(offset, len(text), number), text
            offset += len(text)
            lines = text.count(b"\n")
            rows = lines - _empty_lines(text)
            first, line = place_of(number)
            number = on_line(first + rows, line + lines)


def _empty_lines(text: bytes) -> int:
    """Count the lines that are not rows; at once where there is none."""
    if not text[:1].isspace() and _SPACE_BEGINS_A_LINE.search(text) is None:
        return 0
    return sum(not line or line.isspace() for line in text.split(b"\n")[:-1])


def length_of_parts(bytes_left: int, evaluated_at_a_time: int, longest: int) -> int:
    """Return the bytes of a part, so that each who evaluates has several to the end."""
    return min(max(bytes_left // (_PARTS * evaluated_at_a_time), _SHORTEST), longest)


Asked = TypeVar("Asked")


def in_order(
    ask: Callable[[Part, bytes], Asked],
    parts: Iterator[tuple[Part, bytes]],
    most: int,
    wait: Callable[[Asked, Part], bytes],
    cancel: Callable[[Asked], object],
) -> Iterator[tuple[Answer, int]]:
    """Have parts evaluated, so many at a time; give the answers in order, each with where it ends.

    `ask` begins to have a part evaluated, `wait` returns the packed answer, and `cancel` gives up
    what nobody waits for any more.
    """
    asked: deque[tuple[Asked, Part]] = deque()

    def take() -> tuple[Answer, int]:
        pending, part = asked.popleft()
        return Answer.unpacked(wait(pending, part)), part.offset + part.length

    try:
        for part, text in parts:
            asked.append((ask(part, text), part))
            if len(asked) >= most:
                yield take()
        while asked:
            yield take()
    finally:
        for pending, _ in asked:
            cancel(pending)
