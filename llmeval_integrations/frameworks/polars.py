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
    scored["json_equality"].mean()  # 0.5

A frame is also what `llmeval_integrations.evaluate` takes, whose Run has figures and intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.frameworks._base import optional
from llmeval_integrations.runs.tables import score_columns

with optional("polars", "polars", "polars"):
    import polars as pl

_TYPES: Final = {float: pl.Float64, bool: pl.Boolean, str: pl.String}


def evaluate(
    frame: pl.DataFrame,
    evaluators: Mapping[str, Evaluator] | Sequence[Evaluator],
    *,
    columns: Mapping[str, str | None] | None = None,
    **options: Any,
) -> pl.DataFrame:
    """Evaluate each row, and give the frame with the results as further columns.

    For each evaluator NAME is the score, a float, then come NAME_passed, NAME_label, NAME_reason
    and NAME_error. A row that an evaluator cannot look at has its error alone, and a
    RowErrorWarning says how many there are. What is missing is the empty text as an output, and
    absent as any other field: JSON null is the text "null". Raises InputError for what is not such
    a table, and for a column that is not there.

    A struct has all its keys in all rows, null where a row lacks one; texts of JSON tell the two
    apart. Raises InputError for a LazyFrame, too: `collect()` it.

    Args:
        evaluators: A list, or a mapping from the names that the columns shall have.
        columns: Which column is which field of a sample, where the name is another, as
            {"output": "answer", "exact_match.reference": "title"}.
        options: `metadata=True` for a column NAME_metadata, as JSON; options of judges as in
            `llmeval_integrations.evaluate`.
    """
    if not isinstance(frame, pl.DataFrame):
        hint = "; collect() it" if isinstance(frame, pl.LazyFrame) else ""
        raise InputError(f"expected a DataFrame of polars, got {quote(frame)}{hint}")
    made = score_columns(frame.columns, frame.select, evaluators, columns=columns, **options)
    return frame.with_columns(
        pl.Series(name, cells, dtype=_TYPES[kind]) for name, kind, cells in made
    )
