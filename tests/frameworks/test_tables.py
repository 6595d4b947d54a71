"""pandas, polars and Hugging Face datasets: a table in, the same with results as columns out."""

import os

import pytest
from framework_cases import run_example

from llmeval_integrations import InputError, JsonEquality, JsonValidity
from llmeval_integrations.frameworks import tables as ours
from llmeval_integrations.frameworks.tables import evaluate
from llmeval_integrations.runs.tables import RowErrorWarning

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")


@pytest.fixture(params=["pandas", "polars", "datasets"])
def make(request):
    """Give a function that makes a table of one of the libraries."""
    library = pytest.importorskip(request.param)
    return library.DataFrame if hasattr(library, "DataFrame") else library.Dataset.from_dict


def columns(table):
    """Give the cells by column, None for what is missing."""
    if hasattr(table, "with_format"):
        return table.with_format(None).to_dict()
    if hasattr(table, "to_dicts"):
        return table.to_dict(as_series=False)
    rows = table.astype(object).where(table.notna(), None)
    return {name: rows[name].to_list() for name in rows}


def test_the_table_is_given_back_with_five_columns_more(make):
    given = {"output": ["[1]", "[1,"], "other": [1, 2]}
    found = columns(evaluate(make(given), [JsonValidity()]))
    reasons = found.pop("json_validity_reason")
    assert found == {
        **given,
        "json_validity": [1.0, 0.0],
        "json_validity_passed": [True, False],
        "json_validity_label": [None, "truncated"],
        "json_validity_error": [None, None],
    }
    assert list(found)[:3] == ["output", "other", "json_validity"]
    assert "truncated" not in str(reasons[0])


def test_null_is_absent_and_json_null_is_a_text(make):
    table = make({"output": ["null", "null"], "reference": ["null", None]})
    with pytest.warns(RowErrorWarning, match="json_equality: 1 of 2 rows"):
        found = columns(evaluate(table, [JsonEquality()]))
    assert found["json_equality"] == [1.0, None]
    assert "null in column 'reference'" in found["json_equality_error"][1]
    for wrong, options, message in (
        ([{"output": "1"}], {}, "expected a Data"),
        (table, {"columns": {"output": "answer"}}, "answer"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate(wrong, [JsonValidity()], **options)


def test_pandas_keeps_the_index_and_reads_arrays_out_of_parquet(tmp_path):
    pd, _ = map(pytest.importorskip, ("pandas", "pyarrow"))
    run_example(ours)
    frame = pd.DataFrame({"output": [[1, 2], [3]], "reference": ["[1, 2]", "[2]"]}, index=["b"] * 2)
    frame.to_parquet(tmp_path / "data.parquet")
    scored = evaluate(pd.read_parquet(tmp_path / "data.parquet"), [JsonEquality()])
    assert (scored.index.to_list(), scored["json_equality"].to_list()) == (["b", "b"], [1.0, 0.0])
    assert str(scored["json_equality_passed"].dtype) == "boolean"


def test_datasets_are_evaluated_in_splits_and_after_a_shuffle(tmp_path):
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict({"output": [str(n) if n % 3 else "x" for n in range(30)]})
    table.save_to_disk(tmp_path / "data")
    mixed = datasets.load_from_disk(tmp_path / "data").shuffle(seed=3).select(range(20))
    splits = datasets.DatasetDict({"train": mixed.with_format("numpy"), "test": table})
    scored = evaluate(splits, [JsonValidity()])
    assert scored["train"].format["type"] == "numpy"
    for part in scored.values():
        rows = part.with_format(None).to_list()
        assert all(row["json_validity"] == (row["output"] != "x") for row in rows)
