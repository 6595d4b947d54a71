"""A process that evaluates parts of a file of JSON Lines; `workers.py` starts it and asks it.

It reads a pickled Job from standard input, then a line for every part, and writes an answer for
each, its length before it, in the order of the parts.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Mapping
from io import BytesIO
from itertools import islice
from queue import Queue
from threading import Thread
from typing import BinaryIO, Final, NamedTuple

import msgspec

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.runs.answering import begin
from llmeval_integrations.runs.chunks import MOST_ROWS, seldom_collected
from llmeval_integrations.runs.fields import Columns
from llmeval_integrations.runs.judging import Judging
from llmeval_integrations.runs.reading.json_rows import read_lines
from llmeval_integrations.runs.reading.source import RowNumber, Source, on_line
from llmeval_integrations.runs.rows import Row, by_sample, read_many, sample_lines, write_rows
from llmeval_integrations.runs.samples import stored_of
from llmeval_integrations.runs.summary import counted_of

LENGTH: Final = 8
"""Bytes before an answer that give its length, the highest first."""

READY: Final = b"ready"
"""What it writes once it has the job."""

_WAITING: Final = 4


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


def main() -> None:
    """Answer until there are no more parts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks decides when it is over
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what an evaluator prints is no answer
    job: Job = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started us
    gc.freeze()  # what is there by now stays, so nobody has to look at it again
    answers.write(READY)
    answers.flush()
    written: Queue[bytes | None] = Queue(_WAITING)
    thread = Thread(target=_write, args=(written, answers))
    thread.start()
    with open(job.path, "rb") as file, seldom_collected():  # noqa: PTH123 - a path in text is all it takes
        for line in sys.stdin.buffer:
            offset, length, number, place = map(int, line.split())
            part = Part(offset, length, on_line(number, place))
            file.seek(part.offset)
            answer = evaluate_part(job, file.read(part.length), part.number)
            written.put(answer.packed())
    written.put(None)
    thread.join()


def _write(waiting: Queue[bytes | None], answers: BinaryIO) -> None:
    """Write answers while the next ones are made."""
    try:
        while (answer := waiting.get()) is not None:
            answers.write(len(answer).to_bytes(LENGTH, "big"))
            answers.write(answer)
            answers.flush()
    except OSError:
        os._exit(1)  # who asked is gone, perhaps killed


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
                scores[at] += map(float, column.scores)
                others[at] += [counted_of(column.rows[place]) for place in column.others]
        answer.samples += len(pending[0].samples)
    answer.rows = b"".join(written)
    answer.counted = [*zip(scores, others, strict=True)]
    return answer
