"""A table of Arrow in, a table of rows out: the rows are those of a run."""

import datetime
import json
import pickle
import re
import shutil
import sys
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remote_model import Remote, Repeats
from slow_evaluators import Slow

from llmeval_integrations import (
    ExactMatch,
    InputError,
    InvalidOptionError,
    JsonEquality,
    JsonFields,
    JsonSchema,
    JsonValidity,
    StringDistance,
    evaluate,
    evaluate_batch,
)
from llmeval_integrations.runs.batch import Batches
from llmeval_integrations.runs.judging import JudgingOptions

pa = pytest.importorskip("pyarrow")

SCHEMA = {"type": "object", "required": ["a"]}
EVALUATORS = {
    "valid": JsonValidity(),
    "equal": JsonEquality(),
    "fields": JsonFields(),
    "schema": JsonSchema(SCHEMA),
    "distance": StringDistance(),
    "slow": Slow(0),
}
ROWS = [
    {"id": "a", "output": '{"a": 1}', "reference": '{"a": 1.0}', "group": 7},
    {"id": "b", "output": '{"a": 1,}', "reference": '{"a": 2}'},
    {"id": "c", "output": None, "reference": "1"},
    {"id": "d", "output": "raise", "reference": None},
    {"id": "é", "output": "unscored", "reference": "no JSON"},
    {"id": None, "output": "[]", "reference": "[]"},
]
COLUMNS = {
    "id": pa.string(),
    "group": pa.string(),
    "evaluator": pa.string(),
    "score": pa.float64(),
    "passed": pa.bool_(),
    "label": pa.string(),
    "reason": pa.string(),
    "unscored": pa.bool_(),
    "error": pa.string(),
    "metadata": pa.string(),
}


@pytest.fixture
def table():
    return pa.Table.from_pylist(ROWS)


def as_records(run):
    """Write a run's rows as the cells of a table."""
    return [
        {
            "id": str(row.id),
            "group": None if row.group is None else str(row.group),
            "evaluator": row.evaluator,
            "score": None if row.score is None else float(row.score),
            "passed": row.passed,
            "label": row.label,
            "reason": row.reason,
            "unscored": row.unscored,
            "error": row.error and re.sub(r": row \d+: ", ": ", row.error),
            "metadata": row.metadata,
        }
        for row in run.rows
    ]


def read(made):
    return [{**row, "metadata": json.loads(row["metadata"])} for row in made.to_pylist()]


def test_the_rows_are_those_of_a_run_errors_and_unscored_ones_too(table):
    made = evaluate_batch(table, EVALUATORS, metadata=True)
    expected = as_records(evaluate(table, EVALUATORS))
    assert read(made) == expected
    assert {row["unscored"] for row in expected} == {True, False}
    assert len({row["error"] for row in expected}) > 3


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], []])
def test_the_types_of_the_columns_depend_on_no_row(table, rows):
    samples = pa.Table.from_pylist(rows, schema=table.schema)
    made = evaluate_batch(samples, EVALUATORS, metadata=True)
    assert dict(zip(made.schema.names, made.schema.types)) == COLUMNS
    assert evaluate_batch(samples, EVALUATORS).equals(made.drop_columns(["metadata"]))
    assert made.num_rows == len(rows) * len(EVALUATORS)


def test_a_record_batch_is_as_good_as_a_table(table):
    [batch] = table.to_batches()
    assert evaluate_batch(batch, EVALUATORS).equals(evaluate_batch(table, EVALUATORS))


@given(st.lists(st.integers(0, 4), max_size=4))
def test_any_cut_of_a_table_gives_the_same_rows(cuts):
    table = pa.Table.from_pylist(ROWS[:5])
    ends = [0, *sorted(cuts), 5]
    parts = [evaluate_batch(table.slice(start, end - start), EVALUATORS) for start, end in pairwise(ends)]  # fmt: skip
    assert pa.concat_tables(parts).equals(evaluate_batch(table, EVALUATORS))


def test_columns_may_be_called_otherwise(table):
    table = table.rename_columns(["key", "answer", "gold", "group"])
    fields = {"id": "key", "output": "answer", "reference": "gold"}
    made = evaluate_batch(table, [JsonEquality()], columns=fields)
    assert made["score"].to_pylist()[:2] == [1.0, 0.0]
    assert made["id"].to_pylist() == ["a", "b", "c", "d", "é", "row 6"]


def test_half_a_surrogate_pair_is_written_out():
    table = pa.table({"output": ['"\\ud800"'], "reference": ['{"\\ud800": 1}']})
    made = evaluate_batch(table, EVALUATORS)
    made.validate(full=True)
    assert made.num_rows == len(EVALUATORS)


def test_judges_ask_side_by_side_and_pay_once(tmp_path):
    table = pa.table({"id": [f"n{number}" for number in range(40)], "output": [f"text {number}" for number in range(40)]})  # fmt: skip
    client = Remote(seconds=0.01)
    ask = partial(evaluate_batch, table, [Repeats(client)], concurrency=8, cache=tmp_path / "kept", metadata=True)  # fmt: skip
    made = ask()
    assert client.most_under_way == 8
    assert made["label"].to_pylist() == [text.upper() for text in table["output"].to_pylist()]
    again = ask(frozen=True)
    assert len(client.asked) == 40
    assert again["label"].equals(made["label"])
    assert {json.loads(each)["judge"]["cached"] for each in again["metadata"].to_pylist()} == {1}


def test_a_spent_budget_leaves_rows_unscored():
    table = pa.table({"output": [f"text {number}" for number in range(40)]})
    made = evaluate_batch(table, [Repeats(Remote(seconds=0.001))], concurrency=1, max_tokens=1)
    assert made["label"].to_pylist().count("budget") > 30


def test_evaluators_that_have_looked_at_something_can_still_be_sent_elsewhere(table):
    expected = evaluate_batch(table, EVALUATORS)
    sent = pickle.loads(pickle.dumps(EVALUATORS))  # noqa: S301 - our own
    assert evaluate_batch(table, sent).equals(expected)


@pytest.mark.parametrize("thing", [ROWS, None, "data.parquet", {"output": ["1"]}])
def test_what_is_no_table_is_refused(thing):
    with pytest.raises(InputError, match="expected a Table or RecordBatch of pyarrow, got "):
        evaluate_batch(thing, [JsonValidity()])


def test_a_wrong_call_is_refused_before_anything_is_done(table):
    with pytest.raises(InvalidOptionError):
        evaluate_batch(table, [JsonValidity])
    with pytest.raises(InputError, match="no field is called 'ouput'"):
        evaluate_batch(table, [JsonValidity()], columns={"ouput": "answer"})
    with pytest.raises(InvalidOptionError, match="concurrency=0"):
        evaluate_batch(table, [Repeats(Remote())], concurrency=0)


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark_maps_it_over_a_frame(table, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")

    def evaluated(parts):
        for part in parts:
            yield from evaluate_batch(part, [JsonValidity(), JsonEquality()]).to_batches()

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    types = {pa.string(): "string", pa.float64(): "double", pa.bool_(): "boolean"}
    columns = ", ".join(f"{name} {types[kind]}" for name, kind in COLUMNS.items())
    spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()  # fmt: skip
    try:
        rows = [(f"n{number}", '{"a": 1}' if number % 3 else "{", '{"a": 1}') for number in range(3_000)]  # fmt: skip
        frame = spark.createDataFrame(rows, "id string, output string, reference string")
        found = frame.repartition(4).mapInArrow(evaluated, columns).toArrow()
    finally:
        spark.stop()
    whole = evaluate_batch(pa.table(dict(zip(table.column_names, zip(*rows)))), [JsonValidity(), JsonEquality()])  # fmt: skip
    order = [("id", "ascending"), ("evaluator", "ascending")]
    assert found.cast(whole.schema).sort_by(order).equals(whole.sort_by(order))


def test_a_table_whose_first_rows_lack_an_id_calls_none_by_the_id_of_another():
    rows = [{"id": None, "output": "1"}] * 9 + [{"id": 3, "output": "1"}]
    made = evaluate_batch(pa.Table.from_pylist(rows), [JsonValidity()])
    assert made["id"].to_pylist() == [*(f"row {number}" for number in range(1, 10)), "3"]


def test_a_table_with_a_column_twice_is_refused():
    with pytest.raises(InputError, match="the table: two columns share a name"):
        evaluate_batch(pa.table([["1"], ["x"]], names=["output", "output"]), [JsonValidity()])


def test_an_empty_text_is_no_id():
    table = pa.table({"output": ["{}"], "id": [""]})
    assert evaluate_batch(table, [JsonValidity()])["id"].to_pylist() == ["1"]


def test_an_id_is_written_as_a_run_keeps_it():
    days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]
    made = evaluate_batch(pa.table({"output": ["{}", "{}"], "id": days}), [JsonValidity()])
    assert made["id"].to_pylist() == ["2024-01-01", "2024-01-02"]


def test_a_cell_that_python_has_no_form_for_is_an_error_where_it_is_looked_at():
    far = pa.array([10**18, None], pa.int64()).cast(pa.timestamp("ms"))
    table = pa.table({"id": ["a", "b"], "output": ["{}", "1"], "far": far})
    assert evaluate_batch(table, [JsonValidity()])["score"].to_pylist() == [1.0, 1.0]
    made = evaluate_batch(table, [ExactMatch()], columns={"reference": "far"})
    first, second = made["error"].to_pylist()
    assert first.startswith("InputError: column 'far': timestamp[ms] that cannot be read: ")
    assert second.startswith("MissingFieldError: null in column 'far' (exact_match needs it)")
    made = evaluate_batch(table, [JsonValidity()], columns={"id": "far"})
    assert made["id"].to_pylist() == ["1", "2"]


@pytest.mark.parametrize(
    ("ids", "has_ids"),
    [
        (["a", "", None], [True, False, False]),
        ([0.5, float("nan"), float("inf")], [True, False, False]),
        ([datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 2)], [True, False, True]),
    ],
)
def test_a_row_has_an_id_as_it_has_in_a_run(ids, has_ids):
    batches = Batches([JsonValidity()], {"id": "key"}, JudgingOptions())
    assert list(batches.has_ids(pa.table({"output": ["1"] * 3, "key": ids}))) == has_ids
    assert list(batches.has_ids(pa.table({"output": ["1"] * 3, "id": ids}))) == []
