"""Our evaluators for polars: a DataFrame in, the same with the results out.

    import polars as pl
    from llmeval_integrations import JsonEquality, JsonValidity
    from llmeval_integrations.frameworks.polars import evaluate

    frame = pl.DataFrame({"answer": ["[1]", "[1,"], "gold": ["[1.0]", "[1, 2]"]})
    scored = evaluate(
        frame, [JsonValidity(), JsonEquality()], columns={"output": "answer", "reference": "gold"}
    )
    scored["json_equality"].to_list()  # [1.0, 0.0]
    scored["json_validity_label"].to_list()  # [None, 'truncated']

Of a LazyFrame `collect()` makes a DataFrame.
"""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.frameworks._base import optional
from llmeval_integrations.runs.tables import score_columns

with optional("polars", "polars", "polars"):
    import polars as pl

_TYPES: Final = {float: pl.Float64, bool: pl.Boolean, str: pl.String}


def evaluate(frame: pl.DataFrame, evaluators: Any, **options: Any) -> pl.DataFrame:
    """Evaluate each row, and give the frame with the results as further columns.

    Columns and options are those of `frameworks.pandas.evaluate`. A struct has all its keys in all
    rows, null where a row lacks one; texts of JSON tell the two apart. Raises InputError for a
    LazyFrame, too: `collect()` it.
    """
    if not isinstance(frame, pl.DataFrame):
        hint = "; collect() it" if isinstance(frame, pl.LazyFrame) else ""
        raise InputError(f"expected a DataFrame of polars, got {quote(frame)}{hint}")
    made = score_columns(frame.columns, frame.select, evaluators, **options)
    return frame.with_columns(
        pl.Series(name, cells, dtype=_TYPES[kind]) for name, kind, cells in made
    )
