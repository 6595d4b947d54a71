"""Our evaluators for the tables of pandas, polars and Hugging Face datasets.

    import pandas as pd
    from llmeval_integrations import JsonEquality, JsonValidity
    from llmeval_integrations.frameworks.tables import evaluate

    frame = pd.DataFrame({"answer": ["[1]", "[1,"], "gold": ["[1.0]", "[1, 2]"]})
    columns = {"output": "answer", "reference": "gold"}
    scored = evaluate(frame, [JsonValidity(), JsonEquality()], columns=columns)
    scored["json_equality"].tolist()  # [1.0, 0.0]
    scored["json_validity_label"].tolist()  # [<NA>, 'truncated']

`llmeval_integrations.evaluate` also accepts these tables; its Run has figures and intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.runs.tables import score_columns

T = TypeVar("T")


def evaluate(table: T, evaluators: Any, **options: Any) -> T:
    """Evaluate each row, and return the table with the results as further columns.

    The column NAME of an evaluator is its score, a float. Then come NAME_passed, NAME_label,
    NAME_reason and NAME_error. If a row is a bad call, only its error is set, and a RowErrorWarning
    counts these rows. A missing value (None, NaN, NA) is an empty output, or the absence of any
    other field. JSON null is the text "null".

    Args:
        table: A DataFrame of pandas or polars, a Dataset, or a DatasetDict.
        evaluators: A list, or a mapping from names of columns to evaluators.
        options: `columns` maps fields of a sample to columns, as
            {"output": "answer", "exact_match.reference": "title"}. `metadata=True` adds a column
            NAME_metadata with JSON. Options of judges as in `llmeval_integrations.evaluate`.

    Raises:
        InputError: This is not such a table, or it lacks a column.
    """
    kinds = [f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(table).__mro__]
    if "datasets.DatasetDict" in kinds:
        splits: Any = table
        found: T = type(splits)({n: evaluate(splits[n], evaluators, **options) for n in splits})
        return found
    library = next((_LIBRARIES[kind] for kind in kinds if kind in _LIBRARIES), None)
    if library is None:
        raise InputError(
            "expected a DataFrame of pandas or polars (collect() a LazyFrame), a Dataset or a "
            f"DatasetDict, got {quote(table)}"
        )
    present, select, write = library(table)
    written: T = write([*score_columns(present, select, evaluators, **options)])
    return written


def _pandas(frame: Any) -> Any:
    import pandas as pd

    types = {float: "Float64", bool: "boolean", str: "string"}

    def write(made: Any) -> Any:
        cells = {name: pd.array(values, dtype=types[kind]) for name, kind, values in made}
        return frame.assign(**cells)

    return list(frame.columns), frame.__getitem__, write


def _polars(frame: Any) -> Any:
    import polars as pl

    types = {float: pl.Float64, bool: pl.Boolean, str: pl.String}

    def write(made: Any) -> Any:
        return frame.with_columns(
            pl.Series(name, cells, dtype=types[kind]) for name, kind, cells in made
        )

    return frame.columns, frame.select, write


def _datasets(dataset: Any) -> Any:
    from datasets import Value

    types = {float: "float64", bool: "bool", str: "string"}

    def select(names: list[str]) -> Any:
        return dataset.select_columns(names).with_format("arrow")[:]

    def write(made: Any) -> Any:
        written = dataset
        for name, kind, cells in made:
            if name in written.column_names:
                written = written.remove_columns(name)
            written = written.add_column(name, cells, feature=Value(types[kind]))
        return written

    return dataset.column_names, select, write


_LIBRARIES: Final[dict[str, Callable[[Any], Any]]] = {
    "pandas.DataFrame": _pandas,
    "polars.DataFrame": _polars,
    "datasets.Dataset": _datasets,
}
"""Functions that return a table's columns, a function to select, and a function to write."""
