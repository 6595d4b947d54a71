"""Our evaluators for pandas, polars and Hugging Face datasets: a table in, with the results out.

    import pandas as pd
    from llmeval_integrations import JsonEquality, JsonValidity
    from llmeval_integrations.frameworks.tables import evaluate

    frame = pd.DataFrame({"answer": ["[1]", "[1,"], "gold": ["[1.0]", "[1, 2]"]})
    columns = {"output": "answer", "reference": "gold"}
    scored = evaluate(frame, [JsonValidity(), JsonEquality()], columns=columns)
    scored["json_equality"].tolist()  # [1.0, 0.0]
    scored["json_validity_label"].tolist()  # [<NA>, 'truncated']

A table is also what `llmeval_integrations.evaluate` takes, whose Run has figures and intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.runs.tables import score_columns

T = TypeVar("T")


def evaluate(table: T, evaluators: Any, **options: Any) -> T:
    """Evaluate each row, and give the table with the results as further columns.

    Takes a DataFrame of pandas or polars, a Dataset, or a DatasetDict, whose splits are evaluated
    each by itself. For each evaluator NAME is the score, a float, then come NAME_passed,
    NAME_label, NAME_reason and NAME_error. A row that an evaluator cannot look at has its error
    alone, and a RowErrorWarning says how many there are. What is missing (None, NaN, NA) is the
    empty text as an output, and absent as any other field: JSON null is the text "null". A struct
    of polars or datasets has all keys of all rows. Raises InputError for what is no such table, and
    for a column that is not there.

    Args:
        evaluators: A list, or a mapping from the names that the columns shall have.
        options: `columns`, which says which column is which field of a sample, as
            {"output": "answer", "exact_match.reference": "title"}; `metadata=True` for a column
            NAME_metadata, as JSON; options of judges as in `llmeval_integrations.evaluate`.
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
"""What gives a table's columns, selects some of them, and writes further ones."""
