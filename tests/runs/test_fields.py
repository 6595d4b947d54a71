"""Columns become the fields of samples."""

import pytest

from llmeval_integrations import ExactMatch, InputError, JsonMatch, JsonSchema, JsonValidity, Sample
from llmeval_integrations.json_text import parse
from llmeval_integrations.runs import compare, evaluate
from llmeval_integrations.runs.fields import parse_field

ROW = {
    "output": "1",
    "reference": "2",
    "response": "3",
    "expected": "3",
    "schema": {"const": 3},
    "key": "k",
}


@pytest.mark.parametrize(
    ("fields", "passed", "id"),
    [
        ({}, False, 1),
        ({"output": "response"}, False, 1),
        ({"output": "response", "reference": "expected"}, True, 1),
        ({"output": "reference"}, True, 1),
        ({"exact_match.output": "reference"}, True, 1),
        ({"output": "response", "exact_match.output": "reference"}, True, 1),
        ({"id": "key"}, False, "k"),
    ],
)
def test_a_mapping_names_the_column_of_a_field(fields, passed, id):
    [row] = evaluate([ROW], [ExactMatch()], fields=fields).rows
    assert (row.passed, row.id) == (passed, id)


def test_an_evaluators_own_mapping_is_for_no_other():
    fields = {"output": "response", "reference": "expected", "json_schema.reference": "schema"}
    rows = evaluate([ROW], [JsonMatch(), JsonSchema()], fields=fields).rows
    assert [(row.evaluator, row.passed) for row in rows] == [
        ("json_match", True),
        ("json_schema", True),
    ]


def test_a_mapping_goes_by_the_name_in_the_run():
    evaluators = {"one": ExactMatch(), "other": ExactMatch()}
    rows = evaluate([ROW], evaluators, fields={"other.output": "reference"}).rows
    assert [(row.evaluator, row.passed) for row in rows] == [("one", False), ("other", True)]


def test_a_mapping_also_reads_the_fields_of_samples():
    [row] = evaluate(
        [Sample("1", reference="2", input="2")], [ExactMatch()], fields={"output": "input"}
    ).rows
    assert row.passed


@pytest.mark.parametrize("row", [{"output": "1"}, Sample("1")])
def test_a_field_that_an_evaluator_needs_and_a_row_lacks_is_its_error_alone(row):
    rows = list(evaluate([row, ROW], [JsonValidity(), JsonMatch()]).rows)
    assert [row.error for row in rows] == [
        None,
        "MissingFieldError: row 1: nothing in column 'reference' (json_match needs it), only in 'output'",
        None,
        None,
    ]


def test_what_an_evaluator_needs_may_depend_on_its_options():
    rows = list(evaluate([{"output": "1"}], [JsonSchema(), JsonSchema({"const": 1})]).rows)
    assert [(row.evaluator, row.passed) for row in rows] == [
        ("json_schema", None),
        ("json_schema_2", True),
    ]
    assert "'reference' (json_schema needs it)" in rows[0].error


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"reference": "gold"}, [True, True]),
        ({"json_match.reference": "gold"}, [False, True]),
        ({"id": "gold"}, [True, True]),
    ],
)
def test_a_column_that_a_mapping_names_and_a_row_lacks_is_an_error_row(tmp_path, fields, errors):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"output": "1", "reference": "1", "id": "first"}')
    rows = list(evaluate(path, [JsonValidity(), JsonMatch()], fields=fields).rows)
    assert [row.error is not None for row in rows] == errors
    message = "InputError: line 1: nothing in column 'gold', only in 'output', 'reference', 'id'"
    assert {row.error for row in rows} - {None} == {message}


def test_all_rows_of_a_sample_have_its_id_even_those_of_evaluators_that_lack_a_column():
    rows = evaluate([{"output": "1", "id": "s"}], [JsonValidity(), JsonMatch()]).rows
    assert [row.id for row in rows] == ["s", "s"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"outputs": "x"},
            "no field is called 'outputs'; did you mean 'output'\\? there are output, reference",
        ),
        (
            {"json_mtch.reference": "x"},
            "no evaluator of this run is called 'json_mtch'; did you mean 'json_match'",
        ),
        ({"json_match.id": "x"}, "the id belongs to the sample"),
        ({"output": ""}, "is not a field and a column's name"),
        ({"output": 3}, "is not a field and a column's name"),
    ],
)
def test_a_mapping_that_makes_no_sense_stops_at_once(fields, message):
    with pytest.raises(InputError, match=message):
        evaluate([ROW], [JsonMatch()], fields=fields)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("output=response", ("output", "response")),
        ("json_schema.reference=the schema", ("json_schema.reference", "the schema")),
        ("output=a=b", ("output", "a=b")),
    ],
)
def test_a_mapping_can_be_written_in_a_line(text, expected):
    assert parse_field(text) == expected


@pytest.mark.parametrize("text", ["output", "=x", "output=", ""])
def test_a_line_that_is_no_mapping_is_refused(text):
    with pytest.raises(InputError, match="FIELD=COLUMN"):
        parse_field(text)


def test_a_row_without_an_id_is_not_taken_for_another(tmp_path):
    lines = ['{"id": 3, "output": "1"}', '{"id": null, "output": "2"}', '{"output": "3"}', "{"]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines))
    rows = evaluate(path, [JsonValidity()], out=tmp_path / "run").rows
    assert [row.id for row in rows] == [3, "line 2", "line 3", "line 4"]
    assert len(evaluate(path, [JsonValidity()], out=tmp_path / "run", resume=True).rows) == 4
    same = compare(evaluate(path, [JsonValidity()]), evaluate([*map(parse, lines[:3])], [JsonValidity()]))  # fmt: skip
    assert same.evaluators["json_validity"].joined == 1


def test_where_no_row_has_an_id_their_numbers_are_the_ids():
    rows = [{"output": "1"}, {"output": "2"}]
    assert [row.id for row in evaluate(rows, [JsonValidity()]).rows] == [1, 2]
