"""Our evaluators for pandas: a DataFrame in, the same with the results out.

    import pandas as pd
    from llmeval_integrations import JsonEquality, JsonValidity
    from llmeval_integrations.frameworks.pandas import evaluate

    frame = pd.DataFrame({"answer": ["[1]", "[1,"], "gold": ["[1.0]", "[1, 2]"]})
    scored = evaluate(
        frame, [JsonValidity(), JsonEquality()], columns={"output": "answer", "reference": "gold"}
    )
    scored["json_equality"].tolist()  # [1.0, 0.0]
    scored["json_validity_label"].tolist()  # [<NA>, 'truncated']

A frame is also what `llmeval_integrations.evaluate` takes, whose Run has figures and intervals.
"""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.frameworks._base import optional
from llmeval_integrations.runs.tables import score_columns

with optional("pandas", "pandas", "pandas"):
    import pandas as pd

_TYPES: Final = {float: "Float64", bool: "boolean", str: "string"}


def evaluate(frame: pd.DataFrame, evaluators: Any, **options: Any) -> pd.DataFrame:
    """Evaluate each row, and give the frame with the results as further columns.

    For each evaluator NAME is the score, a float, then come NAME_passed, NAME_label, NAME_reason
    and NAME_error. A row that an evaluator cannot look at has its error alone, and a
    RowErrorWarning says how many there are. What is missing (None, NaN, NA) is the empty text as an
    output, and absent as any other field: JSON null is the text "null". The index stays. Raises
    InputError for what is not such a table, and for a column that is not there.

    Args:
        evaluators: A list, or a mapping from the names that the columns shall have.
        options: `columns`, which says which column is which field of a sample, as
            {"output": "answer", "exact_match.reference": "title"}; `metadata=True` for a column
            NAME_metadata, as JSON; options of judges as in `llmeval_integrations.evaluate`.
    """
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"expected a DataFrame of pandas, got {quote(frame)}")
    made = score_columns(list(frame.columns), frame.__getitem__, evaluators, **options)
    return frame.assign(**{name: pd.array(cells, dtype=_TYPES[kind]) for name, kind, cells in made})
