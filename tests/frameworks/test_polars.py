"""polars: DataFrames, and what is null in them."""

import pytest
from framework_cases import RESULTS, Fixed, run_example

from llmeval_integrations import InputError, JsonEquality, JsonSchema, JsonValidity

pytest.importorskip("polars")

import polars as pl

from llmeval_integrations.frameworks import polars as ours
from llmeval_integrations.frameworks.polars import evaluate
from llmeval_integrations.runs.tables import RowErrorWarning


def test_the_frame_is_given_back_with_typed_columns():
    frame = pl.DataFrame({"output": ["[1]", "[1,"], "other": [1, None]})
    scored = evaluate(frame, [JsonValidity()])
    assert scored.select(frame.columns).equals(frame)
    assert dict(list(scored.schema.items())[2:]) == {
        "json_validity": pl.Float64,
        "json_validity_passed": pl.Boolean,
        "json_validity_label": pl.String,
        "json_validity_reason": pl.String,
        "json_validity_error": pl.String,
    }
    assert scored.row(1)[2:5] == (0.0, False, "truncated")


def test_unscored_rows_are_in_no_mean():
    frame = pl.DataFrame({"output": ["1", "2"]})
    scored = evaluate(frame, {"no": Fixed(RESULTS["unscored"]), "yes": Fixed(RESULTS["number"])})
    assert scored.select("no", "yes").mean().row(0) == (None, 0.25)
    assert scored["no"].null_count() == 2
    assert scored["no_reason"].to_list() == ["cannot tell"] * 2


def test_null_is_absent_and_json_null_is_a_text():
    frame = pl.DataFrame({"output": ["null", "null"], "reference": ["null", None]})
    with pytest.warns(RowErrorWarning, match="1 of 2 rows"):
        scored = evaluate(frame, [JsonEquality()])
    assert scored["json_equality"].to_list() == [1.0, None]
    assert "null in column 'reference'" in scored["json_equality_error"][1]


def test_structs_and_lists_are_values():
    fixed = Fixed(RESULTS["yes"])
    struct = pl.Struct({"a": pl.Int64, "b": pl.Int64})
    outputs = pl.Series([{"a": 1}, {"b": 2}], dtype=struct)
    frame = pl.DataFrame({"output": outputs, "contexts": [["x"], []]})
    evaluate(frame, [fixed])
    assert [sample.output for sample in fixed.samples] == [{"a": 1, "b": None}, {"a": None, "b": 2}]
    assert [sample.contexts for sample in fixed.samples] == [["x"], []]


def test_evaluating_again_replaces_the_columns_in_their_places():
    once = evaluate(pl.DataFrame({"output": ["1"]}), {"a": Fixed(RESULTS["number"])})
    again = evaluate(once, {"a": Fixed(RESULTS["yes"])})
    assert again.columns == once.columns
    assert again["a_label"].to_list() == [None]


def test_an_empty_frame_has_empty_columns_of_the_same_types():
    empty = evaluate(pl.DataFrame({"output": []}, schema={"output": pl.String}), [JsonValidity()])
    assert empty.schema == evaluate(pl.DataFrame({"output": ["1"]}), [JsonValidity()]).schema


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pl.DataFrame({"output": ["1"]}).lazy(), "collect"),
        ([{"output": "1"}], "expected a DataFrame of polars"),
    ],
)
def test_what_is_no_frame_is_refused(table, message):
    with pytest.raises(InputError, match=message):
        evaluate(table, [JsonValidity()])


def test_half_a_surrogate_pair_ends_no_job():
    rows = pl.DataFrame({"output": ["[1]", '{"a\\ud800": 1}']})
    scored = evaluate(rows, [JsonSchema({"type": "object"}, parsing="lenient")], metadata=True)
    assert list(scored["json_schema"]) == [0.0, 0.0]
    assert "half of a surrogate pair" in list(scored["json_schema_reason"])[1]


def test_the_example():
    run_example(ours)
