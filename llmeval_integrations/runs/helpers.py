"""Whoever evaluates chunks of rows outside this process, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.runs.chunk import begin, by_sample, sample_lines
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.data.source import Record
from llmeval_integrations.runs.judging import Judging, JudgingOptions
from llmeval_integrations.runs.rows import write_rows


class Job(NamedTuple):
    """Evaluators and their columns by name, and whether samples that pass are kept, too."""

    evaluators: Mapping[str, Evaluator]
    columns: Mapping[str, Columns]
    keep_all: bool


class Answer(NamedTuple):
    """What is to be written of a chunk: so many samples, their rows, and those that are kept.

    Of a sample there is its place in the chunk, and its line but for the place.
    """

    size: int
    rows: bytes
    samples: list[tuple[int, bytes]]


class Helpers(Protocol):
    """Evaluates chunks elsewhere."""

    ahead: int
    """The chunks that are asked for before the first answer is waited for."""

    def ask(self, records: Sequence[Record]) -> Any:
        """Begin to evaluate a chunk; gives what `wait` takes."""

    def wait(self, asked: Any) -> Answer:
        """Return the answer; raise InputError where there is none."""

    def close(self) -> None:
        """Return whatever was taken, and give up what nobody waits for."""


class Engine(Protocol):
    """Makes the helpers of one run."""

    def __call__(self, job: Job, options: JudgingOptions, judges: Judging | None) -> Helpers:
        """Return helpers for a job; nothing has to be begun yet."""


def evaluate_chunk(job: Job, records: Sequence[Record], judging: Judging | None = None) -> Answer:
    """Evaluate a chunk, and write what is said of it."""
    pending = begin(job.evaluators, job.columns, records, judging)
    rows = [each.rows() for each in pending]
    samples = {each.name: each.samples for each in pending}
    lines = sample_lines(samples, rows, all=job.keep_all)
    return Answer(len(records), write_rows(by_sample(rows)), lines)
