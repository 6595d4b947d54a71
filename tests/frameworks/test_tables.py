"""pandas, polars and Hugging Face datasets: a table in, the same with results as columns out."""

import os
from dataclasses import dataclass
from typing import Any

import pytest
from framework_cases import run_example

from llmeval_integrations import InputError, JsonEquality, JsonValidity
from llmeval_integrations.frameworks import tables as ours
from llmeval_integrations.frameworks.tables import evaluate
from llmeval_integrations.runs.tables import RowErrorWarning

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")


@dataclass
class Library:
    """One of the libraries: how its tables are made and read."""

    name: str

    def __post_init__(self):
        self.package: Any = pytest.importorskip(self.name)

    def table(self, columns):
        if self.name == "datasets":
            return self.package.Dataset.from_dict(columns)
        return self.package.DataFrame(columns)

    def columns(self, table):
        """Give the cells by column, None for what is missing."""
        if self.name == "datasets":
            return table.with_format(None).to_dict()
        if self.name == "polars":
            return table.to_dict(as_series=False)
        rows = table.astype(object).where(table.notna(), None)
        return {name: rows[name].to_list() for name in rows}


@pytest.fixture(params=["pandas", "polars", "datasets"])
def library(request):
    return Library(request.param)


def test_the_table_is_given_back_with_five_columns_more(library):
    given = {"output": ["[1]", "[1,"], "other": [1, 2]}
    found = library.columns(evaluate(library.table(given), [JsonValidity()]))
    assert list(found)[:3] == ["output", "other", "json_validity"]
    assert {name: found[name] for name in given} == given
    assert found["json_validity"] == [1.0, 0.0]
    assert found["json_validity_passed"] == [True, False]
    assert found["json_validity_label"] == [None, "truncated"]
    assert found["json_validity_error"] == [None, None]
    assert "truncated" not in str(found["json_validity_reason"][0])


def test_null_is_absent_and_json_null_is_a_text(library):
    table = library.table({"output": ["null", "null"], "reference": ["null", None]})
    with pytest.warns(RowErrorWarning, match="json_equality: 1 of 2 rows"):
        found = library.columns(evaluate(table, [JsonEquality()]))
    assert found["json_equality"] == [1.0, None]
    assert "null in column 'reference'" in found["json_equality_error"][1]


def test_what_is_no_table_is_refused(library):
    with pytest.raises(InputError, match="expected a Data"):
        evaluate([{"output": "1"}], [JsonValidity()])
    table = library.table({"output": ["1"]})
    with pytest.raises(InputError, match="answer"):
        evaluate(table, [JsonValidity()], columns={"output": "answer"})


def test_the_example():
    pytest.importorskip("pandas")
    run_example(ours)


def test_pandas_keeps_the_index_and_reads_arrays_out_of_parquet(tmp_path):
    pd = Library("pandas").package
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"output": [[1, 2], [3]], "reference": ["[1, 2]", "[2]"]}, index=["b", "b"])  # fmt: skip
    frame.to_parquet(tmp_path / "data.parquet")
    scored = evaluate(pd.read_parquet(tmp_path / "data.parquet"), [JsonEquality()])  # fmt: skip
    assert (scored.index.to_list(), scored["json_equality"].to_list()) == (["b", "b"], [1.0, 0.0])
    assert str(scored["json_equality_passed"].dtype) == "boolean"


def test_datasets_are_evaluated_in_splits_and_after_a_shuffle(tmp_path):
    datasets = Library("datasets")
    table = datasets.table({"output": [str(n) if n % 3 else "x" for n in range(30)]})
    table.save_to_disk(tmp_path / "data")
    mixed = datasets.package.load_from_disk(tmp_path / "data").shuffle(seed=3).select(range(20))
    splits = datasets.package.DatasetDict({"train": mixed.with_format("numpy"), "test": table})
    scored = evaluate(splits, [JsonValidity()])
    assert scored["train"].format["type"] == "numpy"
    for part in scored.values():
        rows = part.with_format(None).to_list()
        assert all(row["json_validity"] == (row["output"] != "x") for row in rows)
