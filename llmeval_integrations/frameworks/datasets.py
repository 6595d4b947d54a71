"""Our evaluators for Hugging Face datasets: a dataset in, the same with the results out.

    from datasets import Dataset
    from llmeval_integrations import JsonEquality, JsonValidity
    from llmeval_integrations.frameworks.datasets import evaluate

    dataset = Dataset.from_dict({"answer": ["[1]", "[1,"], "gold": ["[1.0]", "[1, 2]"]})
    scored = evaluate(
        dataset, [JsonValidity(), JsonEquality()], columns={"output": "answer", "reference": "gold"}
    )
    list(scored["json_equality"])  # [1.0, 0.0]
    list(scored["json_validity_label"])  # [None, 'truncated']

A figure with its interval is what `llmeval_integrations.evaluate` gives, of an iterable of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.frameworks._base import optional
from llmeval_integrations.runs.tables import score_columns

with optional("datasets", "datasets", "datasets"):
    from datasets import Dataset, DatasetDict, Value

_TYPES: Final = {float: "float64", bool: "bool", str: "string"}

D = TypeVar("D", Dataset, DatasetDict)


def evaluate(
    dataset: D,
    evaluators: Mapping[str, Evaluator] | Sequence[Evaluator],
    *,
    columns: Mapping[str, str | None] | None = None,
    **options: Any,
) -> D:
    """Evaluate each row, and give the dataset with the results as further columns.

    For each evaluator NAME is the score, a float, then come NAME_passed, NAME_label, NAME_reason
    and NAME_error. A row that an evaluator cannot look at has its error alone. None is the empty
    text as an output, and absent as any other field: JSON null is the text "null". A DatasetDict is
    evaluated by split. A column of `Json` has the values and not their JSON; a mapping in another
    column has all keys of all rows, None where a row lacks one. Raises InputError for what is no
    such dataset, as one that is streamed, and for a column that is not there.

    Args:
        evaluators: A list, or a mapping from the names that the columns shall have.
        columns: Names of columns, as {"output": "answer", "exact_match.reference": "title"}.
        options: `metadata=True` for a column NAME_metadata; those of judges as in `evaluate`.
    """
    if isinstance(dataset, DatasetDict):
        every = dataset.items()
        return DatasetDict(
            {k: evaluate(v, evaluators, columns=columns, **options) for k, v in every}
        )
    if not isinstance(dataset, Dataset):
        raise InputError(f"expected a Dataset or a DatasetDict, got {quote(dataset)}")
    made = score_columns(
        dataset.column_names,
        lambda names: dataset.select_columns(names).with_format("arrow")[:],
        evaluators,
        columns=columns,
        **options,
    )
    for name, kind, cells in made:
        if name in dataset.column_names:
            dataset = dataset.remove_columns(name)
        dataset = dataset.add_column(name, cells, feature=Value(_TYPES[kind]))
    return dataset
