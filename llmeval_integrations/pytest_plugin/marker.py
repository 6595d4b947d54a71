"""The marker `llmeval`, which runs a test for every row of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.options import check_number
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.data.source import open_source
from llmeval_integrations.runs.options import name_evaluators


class Marker:
    """The arguments of a marker."""

    name = "llmeval"

    def __init__(
        self,
        data: str | Path,
        evaluators: Any = (),
        min_pass_rate: float = 1.0,
        columns: Mapping[str, str | None] | None = None,
    ) -> None:
        self.evaluators = name_evaluators(evaluators) if evaluators else {}
        """Evaluators by name; empty if the test passes its own."""
        self.min_pass_rate = min_pass_rate
        """The share of rows that have to pass; below 1 single rows may fail."""
        check_number(self, "min_pass_rate", minimum=0, maximum=1)
        self._data, self._columns = data, columns

    def read_samples(self, folder: Path) -> list[Sample]:
        """Read the rows; raise InputError for a row that is not a sample, or if there are none."""
        [columns] = columns_by_evaluator(self._columns or {}, ["row"]).values()
        source = open_source(folder / self._data)
        samples = []
        for number, row in source.records:
            sample = columns.sample(row, number)
            if not isinstance(sample, Sample):
                raise type(sample)(f"{source.name}, row {number}: {sample}")
            samples.append(sample)
        if not samples:  # pytest would skip the test
            raise InputError(f"{source.name} has no rows")
        return samples
