"""Columns become the fields of samples."""

import json

import pytest
from row_forms import of_pandas, of_polars, of_pyarrow, of_samples

from llmeval_integrations import (
    ExactMatch,
    InputError,
    JsonMatch,
    JsonValidity,
    ToolCalls,
    ToolCallSchema,
)
from llmeval_integrations.runs import evaluate

ROW = {
    "output": "1",
    "reference": "2",
    "response": "3",
    "expected": "3",
    "schema": {"const": 3},
    "key": "k",
}


@pytest.mark.parametrize(
    ("columns", "passed", "id"),
    [
        ({}, False, 1),
        ({"output": "response"}, False, 1),
        ({"output": "response", "reference": "expected"}, True, 1),
        ({"exact_match.output": "reference"}, True, 1),
        ({"output": "response", "exact_match.output": "reference"}, True, 1),
        ({"id": "key"}, False, "k"),
    ],
)
def test_a_mapping_names_the_column_of_a_field(columns, passed, id):
    [row] = evaluate([ROW], [ExactMatch()], columns=columns).rows
    assert (row.passed, row.id) == (passed, id)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"outputs": "x"}, "no field is called 'outputs'; did you mean 'output'\\? there are outp"),
        ({"json_mtch.reference": "x"}, "no evaluator of this run is called 'json_mtch'; did you"),
        ({"json_match.id": "x"}, "the id is the same for all evaluators"),
        ({"output": None}, "the output needs a column"),
    ],
)
def test_a_mapping_that_makes_no_sense_stops_at_once(columns, message):
    with pytest.raises(InputError, match=message):
        evaluate([ROW], [JsonMatch()], columns=columns)


GROUPED = [
    {"output": "1", "group": "a", "schema": '{"type": "integer"}'},
    {"output": "2", "group": "b", "schema": ""},
    {"output": "{", "group": "a", "schema": '{"type": "object"}'},
    {"output": "4", "group": "", "schema": '{"type": "integer"}'},
]


FORMS = [list, of_pandas, of_polars, of_pyarrow]


@pytest.mark.parametrize("of", FORMS)
def test_a_group_is_kept_beside_what_is_said_of_its_samples(tmp_path, of):
    evaluators = [JsonValidity(), ExactMatch()]  # the second has nothing to compare with
    for columns, groups in (
        ({}, ["a", "b", "a", None]),
        ({"group": None}, [None] * 4),
        ({"group": "output"}, ["1", "2", "{", "4"]),
    ):
        for out in (None, tmp_path / str(columns.get("group", "own"))):
            run = evaluate(of(GROUPED), evaluators, columns=columns, out=out)
            assert [row.group for row in run.rows] == [each for each in groups for _ in evaluators]


def test_a_variable_may_be_the_group():
    rows = [{"output": "1", "variables": {"document": each}, "page": each} for each in "aab"]
    for columns in (
        {"group": "variables.document"},
        {"group": "variables.where", "variables.where": "page"},
    ):
        run = evaluate(rows, [JsonValidity()], columns=columns)
        assert [row.group for row in run.rows] == ["a", "a", "b"]
        assert run.summary["evaluators"]["json_validity"]["groups"]["n"] == 2
    [row, *_] = evaluate(rows, [JsonValidity()], columns={"group": "variables.documnt"}).rows
    assert "no variable 'documnt' for the group; did you mean 'document'?" in row.error


@pytest.mark.parametrize(
    ("columns", "taken"),
    [
        ({}, {"schema": "'schema'", "group": "'group'"}),
        ({"group": None}, {"schema": "'schema'"}),
        ({"group": "output", "schema": None}, {"group": "'output'"}),
        ({"group": None, "exact_match.schema": "output"}, {"schema": "'schema' and 'output'"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("of", [list, of_samples])
def test_who_asks_is_told_which_columns_are_schema_and_group(of, columns, taken):
    told = []
    evaluators = [JsonValidity(), ExactMatch()]
    evaluate(
        of(GROUPED), evaluators, columns=columns, on_columns=lambda taken, _: told.append(taken)
    )
    assert told == [taken]


TOOLS = [{"name": "f", "parameters": {"properties": {"n": {"type": "integer", "default": 1}}}}]
CALL = {"name": "f", "arguments": {}}
CALLED = {"output": CALL, "reference": {"name": "f", "arguments": {"n": 1}}}


@pytest.mark.parametrize(
    "columns", [{"variables.tools": "tools"}, {"tool_calls.variables.tools": "tools"}]
)
def test_a_variable_may_have_a_column_of_its_own(columns):
    rows = [{**CALLED, "tools": json.dumps(TOOLS)}]
    assert [row.passed for row in evaluate(rows, [ToolCalls()]).rows] == [False]
    assert [row.passed for row in evaluate(rows, [ToolCalls()], columns=columns).rows] == [True]


def test_a_column_counts_before_what_stands_among_the_variables():
    given = {"variables": {"tools": 3, "before": []}, "tools": TOOLS}
    options = {"columns": {"variables.tools": "tools"}}
    evaluators = [ToolCalls(), ToolCallSchema()]
    rows = evaluate([{**CALLED, **given}], evaluators, **options).rows
    assert [(row.passed, row.error) for row in rows] == [(True, None)] * 2
    [absent] = evaluate([CALLED], [ToolCallSchema()], **options).rows
    assert "nothing in column 'tools', only in" in absent.error
    [null] = evaluate([{**CALLED, "tools": None}], [ToolCallSchema()], **options).rows
    assert "or map one variable, such as variables.tools" in null.error


@pytest.mark.parametrize(
    ("rows", "columns", "absent"),
    [
        ([{"answer": 1}] * 9, {"output": "anwser"}, ["none of the first 8 rows has a column 'anwser'; did you mean 'answer'? there are answer"]),
        ([{"output": 1}], {"group": "task"}, ["the first row has no column 'task'; there are output"]),
        ([{"output": 1}, {"output": 1, "x": 1}], {"id": "x"}, []),
    ],
)  # fmt: skip
def test_columns_that_none_of_the_first_rows_has_are_told_before_the_run(rows, columns, absent):
    told = []
    evaluate(rows, "json_validity", columns=columns, on_columns=lambda _, lines: told.append(lines))
    assert told == [absent]
