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
    given = {
        "output": ["null", "[1,", "null"],
        "reference": ["null", "[1]", None],
        "other": [1, 2, 3],
    }
    with pytest.warns(RowErrorWarning, match="json_equality: 1 of 3 rows"):
        found = columns(evaluate(make(given), [JsonEquality()]))
    assert list(found)[:4] == [*given, "json_equality"]
    reasons, errors = (found.pop(f"json_equality_{name}") for name in ("reason", "error"))
    assert found == {
        **given,
        "json_equality": [1.0, 0.0, None],
        "json_equality_passed": [True, False, None],
        "json_equality_label": [None, "truncated", None],
    }
    assert reasons[0] is errors[0] is errors[1] is None
    assert "null in column 'reference'" in errors[2]
    for wrong, options, message in (
        ([{"output": "1"}], {}, "expected a Data"),
        (make(given), {"columns": {"output": "answer"}}, "answer"),
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


def test_datasets_are_evaluated_in_splits_and_after_a_shuffle():
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict({"output": [str(n) if n % 3 else "x" for n in range(30)]})
    mixed = table.shuffle(seed=3).select(range(20)).with_format("numpy")
    splits = datasets.DatasetDict({"train": mixed, "test": table})
    scored = evaluate(splits, [JsonValidity()])
    assert scored["train"].format["type"] == "numpy"
    for part in scored.values():
        rows = part.with_format(None).to_list()
        assert all(row["json_validity"] == (row["output"] != "x") for row in rows)
