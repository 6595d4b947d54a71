"""The marker of a test that is run for every row of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.naming import name_evaluators
from llmeval_integrations.runs.reading.opening import open_source


@dataclass(frozen=True)
class Marked:
    """What a marker asks for."""

    data: str | Path
    """A file of rows, relative to the file of the test."""

    evaluators: Mapping[str, Evaluator]
    """By name; empty where the test names its own."""

    min_pass_rate: float
    """The share of rows that have to pass; below 1 single rows may fail."""

    columns: Mapping[str, str | None] | None
    """Other columns than those called like the fields of a sample."""

    @classmethod
    def of(cls, marker: Any) -> Marked:
        """Read a marker; raises InvalidOptionError."""
        try:
            return _read(*marker.args, **marker.kwargs)
        except TypeError as error:
            known = ", ".join(signature(_read).parameters)
            wrong = str(error).removeprefix(f"{_read.__name__}() ")
            raise InvalidOptionError(f"the marker takes {known}: {wrong}") from error

    def samples(self, folder: Path) -> list[Sample]:
        """Read the rows; raises InputError for one that is none, and where there are none."""
        [columns] = columns_by_evaluator(self.columns or {}, ["row"]).values()
        source = open_source(folder / self.data)
        samples = []
        for number, row in source.records:
            sample = columns.sample(row, number)
            if not isinstance(sample, Sample):
                raise type(sample)(f"{source.name}, {source.place(number)}: {sample}")
            samples.append(sample)
        if not samples:  # for which pytest would skip the test
            raise InputError(f"{source.name} has no rows")
        return samples


def _read(
    data: str | Path,
    evaluators: Any = (),
    min_pass_rate: float = 1.0,
    columns: Mapping[str, str | None] | None = None,
) -> Marked:
    if not isinstance(data, (str, Path)):
        raise InvalidOptionError(f"data={quote(data)} is not the path of a file")
    is_rate = isinstance(min_pass_rate, (int, float)) and not isinstance(min_pass_rate, bool)
    if not is_rate or not 0 <= min_pass_rate <= 1:
        raise InvalidOptionError(f"min_pass_rate={quote(min_pass_rate)} is not from 0 to 1")
    named = name_evaluators(evaluators) if evaluators else {}
    return Marked(data, named, min_pass_rate, columns)
