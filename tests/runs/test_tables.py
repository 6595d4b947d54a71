"""A table of Arrow in, a table of rows out; a frame in, the same with further columns out."""

import pytest

from llmeval_integrations import (
    InputError,
    JsonEquality,
    JsonValidity,
    evaluate,
    evaluate_batch,
)
from llmeval_integrations.runs.tables import RowErrorWarning, score_columns

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


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="expected a Table or RecordBatch of pyarrow"):
        evaluate_batch(ROWS, EVALUATORS)


def scored(rows, evaluators=EVALUATORS, **options):
    present = list(rows[0])
    read = []

    def select(names):
        read.extend(names)
        return [{name: row[name] for name in names} for row in rows]

    return read, {
        name: cells for name, _, cells in score_columns(present, select, evaluators, **options)
    }


def test_a_result_is_five_columns():
    rows = [{**row, "unread": object()} for row in ROWS[:3]]
    with pytest.warns(RowErrorWarning, match="json_equality: 1 of 3 rows were not evaluated"):
        read, found = scored([{**row, "group": None} for row in rows])
    assert read == ["output", "reference", "id", "group"]
    assert found["json_equality"] == [1.0, 0.0, None]
    assert found["json_equality_passed"] == [True, False, None]
    assert found["json_validity_label"] == [None, "truncated", None]
    assert found["json_equality_error"][2].startswith("MissingFieldError: null in column")
    assert not any(name.endswith("metadata") for name in found)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"columns": {"output": "answer"}}, "needs column 'answer', and there are only"),
        ({"evaluators": {"a": JsonValidity(), "a_label": JsonValidity()}}, "would have one name"),
    ],
)
def test_columns_that_make_no_sense_are_refused(options, error):
    with pytest.raises(InputError, match=error):
        scored(ROWS[:1], **options)
