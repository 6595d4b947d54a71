"""A table of Arrow in, a table of rows out."""

import pytest

from llmeval_integrations import JsonEquality, JsonValidity, evaluate, evaluate_batch

pyarrow = pytest.importorskip("pyarrow")

ROWS = [
    {"id": "a", "output": "[1]", "reference": "[1.0]"},
    {"id": "b", "output": "[1,", "reference": "[1]"},
    {"id": "c", "output": "1", "reference": None},
    {"id": None, "output": "\u2026", "reference": "2", "group": "g"},
]
EVALUATORS = [JsonValidity(), JsonEquality()]
TABLE = pyarrow.Table.from_pylist(
    ROWS, pyarrow.schema(dict.fromkeys(("id", "output", "reference", "group"), pyarrow.string()))
)


@pytest.mark.parametrize("metadata", [False, True])
def test_the_rows_are_those_of_a_run(metadata):
    found = evaluate_batch(TABLE, EVALUATORS, metadata=metadata)
    names = ["id", "group", "evaluator", "score", "passed", "label", "reason", "unscored", "error"]
    assert found.column_names == names + ["metadata"] * metadata
    rows = list(evaluate(TABLE, EVALUATORS).rows)
    rows[6].id = rows[7].id = "4"  # an id is a text there
    for row, cells in zip(rows, found.to_pylist(), strict=True):
        assert [getattr(row, name) for name in names] == [cells[name] for name in names]


@pytest.mark.parametrize("table", [TABLE, TABLE.slice(0, 0), TABLE.slice(0, 1)])
def test_the_types_of_the_columns_depend_on_no_row(table):
    schema = evaluate_batch(table, EVALUATORS).schema
    assert schema == evaluate_batch(TABLE, EVALUATORS).schema
    assert str(schema.field("score").type) == "double"
