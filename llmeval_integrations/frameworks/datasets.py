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

A DatasetDict is evaluated split by split.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.frameworks._base import optional
from llmeval_integrations.runs.tables import score_columns

with optional("datasets", "datasets", "datasets"):
    from datasets import Dataset, DatasetDict, Value

_TYPES: Final = {float: "float64", bool: "bool", str: "string"}

D = TypeVar("D", Dataset, DatasetDict)


def evaluate(dataset: D, evaluators: Any, **options: Any) -> D:
    """Evaluate each row, and give the dataset with the results as further columns.

    Columns and options are those of `frameworks.pandas.evaluate`. A mapping has all keys of all
    rows, None where a row lacks one, but in a column of `Json`. Raises InputError for what is no
    such dataset, as one that is streamed.
    """
    if isinstance(dataset, DatasetDict):
        return DatasetDict(
            {name: evaluate(split, evaluators, **options) for name, split in dataset.items()}
        )
    if not isinstance(dataset, Dataset):
        raise InputError(f"expected a Dataset or a DatasetDict, got {quote(dataset)}")

    def select(names: list[str]) -> Any:
        return dataset.select_columns(names).with_format("arrow")[:]

    evaluated: Any = dataset
    for name, kind, cells in score_columns(dataset.column_names, select, evaluators, **options):
        if name in evaluated.column_names:
            evaluated = evaluated.remove_columns(name)
        evaluated = evaluated.add_column(name, cells, feature=Value(_TYPES[kind]))
    return evaluated
