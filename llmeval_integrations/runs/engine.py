"""Whoever evaluates the lines of a file outside this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.judging import Judging, JudgingOptions
from llmeval_integrations.runs.reading.source import RowNumber, Source

if TYPE_CHECKING:
    from llmeval_integrations.runs.parts import Answer, Job


class Helpers(Protocol):
    """Evaluates parts of one file elsewhere: parts in, answers out in their order."""

    def ready(self, source: Source) -> bool:
        """Whether the rest of the data is to be evaluated there."""

    def answers(self, offset: int, number: RowNumber) -> Iterator[tuple[Answer, int]]:
        """Evaluate the lines from an offset on, the first row of which has this number.

        Gives answers in order, each with where its part ends. Raises InputError where a part is
        not evaluated.
        """

    def close(self) -> None:
        """Return back whatever was taken."""


class Engine(Protocol):
    """Makes the helpers of one run."""

    def __call__(self, job: Job, options: JudgingOptions, judges: Judging | None) -> Helpers:
        """Return helpers for a job; nothing has to be begun yet."""


def lines_of(source: Source) -> str:
    """Return the file whose lines an engine evaluates; raise InputError where there is none."""
    if source.lines_of is None:
        raise InputError(
            f"an engine evaluates all lines of a file of JSON Lines, and {source.name} is none, or "
            "a part was asked for; for Parquet and other data evaluate_dataset of "
            "llmeval_integrations.frameworks.ray takes whatever Ray Data reads"
        )
    return source.lines_of
