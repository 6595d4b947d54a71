"""Columns become the fields of samples."""

import json

import pytest
from row_forms import of_pandas, of_polars, of_pyarrow, of_samples

from llmeval_integrations import ExactMatch, JsonValidity, ToolCalls, ToolCallSchema
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


TOOLS = [{"name": "f", "parameters": {"properties": {"n": {"type": "integer", "default": 1}}}}]
CALL = {"name": "f", "arguments": {}}
CALLED = {"output": CALL, "reference": {"name": "f", "arguments": {"n": 1}}}


def test_a_variable_may_have_a_column_which_counts_before_the_variables():
    own = {"tools": json.dumps(TOOLS)}
    for columns, given, passed in (
        ({}, {}, False),
        ({"variables.tools": "tools"}, {}, True),
        ({"tool_calls.variables.tools": "tools"}, {}, True),
        ({"variables.tools": "tools"}, {"variables": {"tools": 3, "before": []}}, True),
    ):
        [row] = evaluate([{**CALLED, **own, **given}], [ToolCalls()], columns=columns).rows
        assert (row.passed, row.error) == (passed, None)
    for sample, error in (
        (CALLED, "nothing in column 'tools', only in"),
        ({**CALLED, "tools": None}, "or map one variable, such as variables.tools"),
    ):
        columns = {"variables.tools": "tools"}
        [row] = evaluate([sample], [ToolCallSchema()], columns=columns).rows
        assert error in row.error


NONE = "none of the first 8 rows has a column 'anwser'; did you mean 'answer'? there are answer"
FIRST = "the first row has no column 'task'; there are output"


@pytest.mark.parametrize(
    ("rows", "columns", "taken", "absent"),
    [
        (GROUPED, {}, {"schema": "'schema'", "group": "'group'"}, []),
        (of_samples(GROUPED), {"group": None}, {"schema": "'schema'"}, []),
        (GROUPED, {"group": "output", "schema": None}, {"group": "'output'"}, []),
        (
            of_samples(GROUPED),
            {"group": None, "json_validity.schema": "output"},
            {"schema": "'output'"},
            [],
        ),
        ([{"answer": 1}] * 9, {"output": "anwser"}, {}, [NONE]),
        ([{"output": 1}], {"group": "task"}, {}, [FIRST]),
        ([{"output": 1}, {"output": 1, "x": 1}], {"id": "x"}, {}, []),
    ],
)
def test_who_asks_is_told_of_schema_group_and_absent_columns(rows, columns, taken, absent):
    told = []
    evaluate(rows, "json_validity", columns=columns, on_columns=lambda *both: told.append(both))
    assert told == [(taken, absent)]
