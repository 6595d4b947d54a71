"""A chunk's rows as samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.runs.fields import Columns
from llmeval_integrations.runs.source import Record
from llmeval_integrations.sample import MISSING, Sample


class Samples:
    """What a chunk's rows are to evaluators that have the same columns."""

    def __init__(self, columns: Columns, chunk: Sequence[Record]) -> None:
        self._columns = columns
        self._chunk = chunk
        self._made = [columns.sample(row, number) for number, row in chunk]
        self._unreadable: dict[int, Any] = {
            place: made for place, made in enumerate(self._made) if type(made) is not Sample
        }

    def __len__(self) -> int:
        return len(self._made)

    @cached_property
    def ids(self) -> list[Any]:
        """Every row's id, of what is no sample as well."""
        return [
            made.id if type(made) is Sample else self._columns.id(row, number)
            for made, (number, row) in zip(self._made, self._chunk)
        ]

    def number(self, place: int) -> int:
        """Give the number of a row in the data."""
        return self._chunk[place][0]

    def stored(self, place: int) -> Sample | dict[str, Any]:
        """Give what is kept of a row that did not pass: the sample; of what is none, its id."""
        made = self._made[place]
        return made if type(made) is Sample else {"id": self.ids[place]}

    def unfit(self, evaluator: Evaluator, name: str) -> Mapping[int, Exception]:
        """Say why rows are nothing that this evaluator can look at, by their place."""
        unfit: dict[int, Exception] = {**self._unreadable}
        for field in evaluator.needs:
            get = attrgetter(field)
            for place, sample in enumerate(self._made):
                if place not in unfit and get(sample) is MISSING:
                    unfit[place] = self._columns.missing(self._chunk[place][1], field, name)
        return unfit

    def without(self, unfit: Mapping[int, Exception]) -> list[Any]:
        """Give the samples, but for those at these places."""
        if not unfit:
            return self._made
        return [made for place, made in enumerate(self._made) if place not in unfit]

    def readable(self) -> list[Any]:
        """Give what is a sample at all."""
        return self.without(self._unreadable)
