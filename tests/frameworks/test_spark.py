"""Spark maps evaluate_batch over the parts of a frame; `make test-spark` runs this."""

import shutil
import sys

import pytest

from llmeval_integrations import evaluate_batch

pyspark = pytest.importorskip("pyspark.sql")
pyarrow = pytest.importorskip("pyarrow")
EVALUATORS = ["json_validity", "json_equality"]


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_the_rows_are_those_of_the_whole_table(monkeypatch):
    def evaluated(parts):
        for part in parts:
            yield from evaluate_batch(part, EVALUATORS).to_batches()

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    outputs = ['{"a": 1}' if number % 3 else "{" for number in range(3_000)]
    table = pyarrow.table({"id": [*map(str, range(3_000))], "output": outputs})
    table = table.append_column("reference", [['{"a": 1}'] * 3_000])
    whole = evaluate_batch(table, EVALUATORS)
    types = {"string": "string", "double": "double", "bool": "boolean"}
    columns = ", ".join(f"{each.name} {types[str(each.type)]}" for each in whole.schema)
    with pyspark.SparkSession.builder.master("local[2]").getOrCreate() as spark:
        frame = spark.createDataFrame(table.to_pandas()).repartition(4)
        found = frame.mapInArrow(evaluated, columns).toArrow()
    order = [("id", "ascending"), ("evaluator", "ascending")]
    assert found.cast(whole.schema).sort_by(order).equals(whole.sort_by(order))
