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

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.runs.tables import score_columns

try:
    import polars as pl
except ModuleNotFoundError as error:
    if error.name != "polars":
        raise
    raise MissingDependencyError.of("polars", "polars") from error

_TYPES: Final = {float: pl.Float64, bool: pl.Boolean, str: pl.String}


def evaluate(
    frame: pl.DataFrame,
    evaluators: Mapping[str, Evaluator] | Sequence[Evaluator],
    *,
    columns: Mapping[str, str | None] | None = None,
    **options: Any,
) -> pl.DataFrame:
    """Evaluate each row, and give the frame with the results as further columns.

    evaluators: a list, or a mapping from the names that the columns shall have.
    columns: which column is which field of a sample, where the name is another, as
        {"output": "answer", "exact_match.reference": "title"}.
    options: `metadata=True` for a column of details; `concurrency`, `cache`, `frozen`, `max_cost`
        and `max_tokens` of judges are those of `llmeval_integrations.evaluate`.

    For each evaluator there come five columns: NAME is the score, as a float, NAME_passed,
    NAME_label, NAME_reason and NAME_error, with NAME_metadata as JSON. Unscored rows are null,
    which means and counts leave out. A row that an evaluator cannot look at has its error in
    NAME_error alone, and a RowErrorWarning says how many there are. Columns of these names are
    replaced.

    A null is the empty text as an output, and absent as any other field: JSON null is the text
    "null". A struct has all its keys in all rows, null where a row lacks one; texts of JSON tell
    the two apart. Raises InputError for a column that is not there, and for a LazyFrame:
    `collect()` it.
    """
    if not isinstance(frame, pl.DataFrame):
        hint = "; collect() it" if isinstance(frame, pl.LazyFrame) else ""
        raise InputError(f"expected a DataFrame of polars, got {quote(frame)}{hint}")
    made = score_columns(frame.columns, frame.select, evaluators, columns=columns, **options)
    return frame.with_columns(
        pl.Series(name, cells, dtype=_TYPES[kind]) for name, kind, cells in made
    )
