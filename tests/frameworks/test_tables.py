"""pandas, polars and Hugging Face datasets: results as columns. Spark maps evaluate_batch."""

import os
import shutil
import sys

import pytest
from framework_cases import run_example

from llmeval_integrations import InputError, JsonEquality, JsonValidity, evaluate_batch
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
    with pytest.raises(InputError, match="expected a Data"):
        evaluate([{"output": "1"}], [JsonValidity()])
    with pytest.raises(InputError, match="answer"):
        evaluate(make(given), [JsonValidity()], columns={"output": "answer"})


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


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_the_rows_of_spark_are_those_of_the_whole_table(monkeypatch):
    pyarrow, spark = map(pytest.importorskip, ("pyarrow", "pyspark.sql"))

    def map_parts(parts):
        for part in parts:
            yield from evaluate_batch(part, ["json_validity", "json_equality"]).to_batches()

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    outputs = ['{"a": 1}' if number % 3 else "{" for number in range(3_000)]
    references, ids = ['{"a": 1}'] * 3_000, [*map(str, range(3_000))]
    table = pyarrow.table({"id": ids, "output": outputs, "reference": references})
    whole = pyarrow.Table.from_batches(map_parts([table]))
    types = {"string": "string", "double": "double", "bool": "boolean"}
    columns = ", ".join(f"{each.name} {types[str(each.type)]}" for each in whole.schema)
    with spark.SparkSession.builder.master("local[2]").getOrCreate() as session:
        frame = session.createDataFrame(table.to_pandas()).repartition(4)
        found = frame.mapInArrow(map_parts, columns).toArrow()
    order = [("id", "ascending"), ("evaluator", "ascending")]
    assert found.cast(whole.schema).sort_by(order).equals(whole.sort_by(order))
