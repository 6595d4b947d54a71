"""A chunk's rows as samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.runs.columns import Columns
from llmeval_integrations.runs.reading.source import Record, RowNumber
from llmeval_integrations.runs.rows import members_of

OWN: Final = "evaluators"
"""Under which a stored sample has what evaluators see that have columns of their own."""


class Samples:
    """What a chunk's rows are to evaluators that have the same columns."""

    def __init__(self, columns: Columns, chunk: Sequence[Record]) -> None:
        self._columns = columns
        self._chunk = chunk
        try:
            self._made = [columns.sample(row, number) for number, row in chunk]
        except InputError:  # of a cell that cannot be read
            self._made = [_sample(columns, row, number) for number, row in chunk]
        self._unreadable: dict[int, Any] = {
            place: made for place, made in enumerate(self._made) if type(made) is not Sample
        }

    def __len__(self) -> int:
        return len(self._made)

    @cached_property
    def ids(self) -> list[Any]:
        """Every row's id, of what is not a sample as well."""
        return [
            made.id if type(made) is Sample else self._columns.id(row, number)
            for made, (number, row) in zip(self._made, self._chunk)
        ]

    @cached_property
    def groups(self) -> list[Any]:
        """Every row's group; None of a row that has none, or is no sample."""
        groups = [made.group if type(made) is Sample else None for made in self._made]
        return [None if group is MISSING else group for group in groups]

    def number(self, place: int) -> RowNumber:
        """Return the number of a row in the data."""
        return self._chunk[place][0]

    def stored(self, place: int) -> Sample | dict[str, Any]:
        """Return what is kept of a row that did not pass: the sample; of what is none, its id."""
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
        """Return the samples, but for those at these places."""
        if not unfit:
            return self._made
        return [made for place, made in enumerate(self._made) if place not in unfit]

    def readable(self) -> list[Any]:
        """Return what is a sample at all."""
        return self.without(self._unreadable)


def _sample(columns: Columns, row: Any, number: RowNumber) -> Sample | InputError:
    try:
        return columns.sample(row, number)
    except InputError as error:
        return error


def samples_of(columns: Mapping[str, Columns], chunk: Sequence[Record]) -> dict[str, Samples]:
    """Make what a chunk's rows are to each evaluator; those that have the same columns share it."""
    made = {of: Samples(of, chunk) for of in dict.fromkeys(columns.values())}
    return {name: made[of] for name, of in columns.items()}


def stored_of(samples: Mapping[str, Samples]) -> Callable[[int], Sample | dict[str, Any]]:
    """Return what says by its place what is kept of a row that did not pass.

    That is the sample as the first evaluator sees it, and under "evaluators" as each other one
    does that has columns of its own.
    """
    first = next(iter(samples.values()))
    own = {name: each for name, each in samples.items() if each is not first}
    if not own:
        return first.stored

    def stored(place: int) -> dict[str, Any]:
        common = first.stored(place)
        fields = members_of(common) if isinstance(common, Sample) else common
        return {**fields, OWN: {name: each.stored(place) for name, each in own.items()}}

    return stored
