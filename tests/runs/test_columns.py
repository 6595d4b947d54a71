"""Columns become the fields of samples."""

import json

import pytest
from row_forms import of_pandas, of_polars, of_pyarrow, of_samples

from llmeval_integrations import ExactMatch, JsonValidity, ToolCalls, ToolCallSchema
from llmeval_integrations.runs import evaluate

ROW = {"output": "1", "reference": "2", "response": "3", "expected": "3", "key": "k"}
TOOLS = [{"name": "f", "parameters": {"properties": {"n": {"type": "integer", "default": 1}}}}]
CALL = {"output": {"name": "f"}, "reference": {"name": "f", "arguments": {"n": 1}}}
CALLED = {**CALL, "tools": json.dumps(TOOLS)}
BOTH = {**CALLED, "variables": {"tools": 3, "before": []}}
PAGE = {"output": "1", "reference": "1", "variables": {"document": "d"}, "page": "p"}
NO_TOOLS = "or map one variable, such as variables.tools"


@pytest.mark.parametrize(
    ("row", "evaluator", "columns", "expected"),  # passed, id and group
    [
        (ROW, ExactMatch(), {}, (False, 1, None)),
        (ROW, ExactMatch(), {"output": "response"}, (False, 1, None)),
        (ROW, ExactMatch(), {"output": "response", "reference": "expected"}, (True, 1, None)),
        (ROW, ExactMatch(), {"exact_match.output": "reference"}, (True, 1, None)),
        (ROW, ExactMatch(), {"output": "key", "exact_match.output": "reference"}, (True, 1, None)),
        (ROW, ExactMatch(), {"id": "key"}, (False, "k", None)),
        (PAGE, ExactMatch(), {"group": "variables.document"}, (True, 1, "d")),
        (PAGE, ExactMatch(), {"group": "variables.x", "variables.x": "page"}, (True, 1, "p")),
        (CALLED, ToolCalls(), {}, (False, 1, None)),
        (CALLED, ToolCalls(), {"variables.tools": "tools"}, (True, 1, None)),
        (CALLED, ToolCalls(), {"tool_calls.variables.tools": "tools"}, (True, 1, None)),
        # a column counts before the variables
        (BOTH, ToolCalls(), {"variables.tools": "tools"}, (True, 1, None)),
    ],
)
def test_a_mapping_names_the_column_of_a_field_or_of_a_variable(row, evaluator, columns, expected):
    [found] = evaluate([row], evaluator, columns=columns).rows
    assert (found.passed, found.id, found.group, found.error) == (*expected, None)


@pytest.mark.parametrize(
    ("row", "columns", "error"),
    [
        (PAGE, {"group": "variables.documnt"}, "for the group; did you mean 'document'?"),
        (CALL, {"variables.tools": "page"}, "nothing in column 'page', only in 'output'"),
        ({**CALL, "page": None}, {"variables.tools": "page"}, NO_TOOLS),
    ],
)
def test_a_row_without_a_column_that_is_needed_is_an_error_row(row, columns, error):
    [found] = evaluate([row], ToolCallSchema(), columns=columns).rows
    assert error in found.error


GROUPED = [
    {"output": "1", "schema": '{"type": "integer"}', "group": "a"},
    {"output": "2", "schema": "", "group": "b"},
    {"output": "{", "schema": '{"type": "object"}', "group": "a"},
    {"output": "4", "schema": '{"type": "integer"}', "group": ""},
]


@pytest.mark.parametrize("of", [list, iter, of_samples, of_pandas, of_polars, of_pyarrow])
@pytest.mark.parametrize(
    ("column", "groups"),
    [("group", ["a", "b", "a", None]), (None, [None] * 4), ("output", ["1", "2", "{", "4"])],
)
def test_data_of_any_form_gives_the_same_rows_with_their_groups(tmp_path, of, column, groups):
    evaluators = [JsonValidity(), ExactMatch()]  # the second has nothing to compare with
    columns = {"group": column}
    rows = evaluate(GROUPED, evaluators, columns=columns).rows
    assert [row.group for row in rows] == [each for each in groups for _ in evaluators]
    for out in (None, tmp_path / "run"):
        assert [*evaluate(of(GROUPED), evaluators, columns=columns, out=out).rows] == rows


NONE = "none of the first 8 rows has a column 'anwser'; did you mean 'answer'?"
FIRST = "the first row has no column 'task'; there are output"


@pytest.mark.parametrize(
    ("rows", "columns", "taken", "absent"),
    [
        (GROUPED, {}, {"schema": "'schema'", "group": "'group'"}, []),
        (of_samples(GROUPED), {"group": None}, {"schema": "'schema'"}, []),
        (GROUPED, {"group": "output", "schema": None}, {"group": "'output'"}, []),
        (GROUPED, {"group": None, "json_validity.schema": "output"}, {"schema": "'output'"}, []),
        ([{"answer": 1}] * 9, {"output": "anwser"}, {}, [NONE]),
        ([{"output": 1}], {"group": "task"}, {}, [FIRST]),
        ([{"output": 1}, {"output": 1, "x": 1}], {"id": "x"}, {}, []),
    ],
)
def test_who_asks_is_told_of_schema_group_and_absent_columns(rows, columns, taken, absent):
    told = []
    evaluate(rows, "json_validity", columns=columns, on_columns=lambda *both: told.append(both))
    assert told == [(taken, absent)]
