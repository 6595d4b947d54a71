"""pandas: DataFrames of many kinds, their index, and what is missing in them."""

import json

import pytest
from framework_cases import RESULTS, Fixed, run_example
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations import InputError, JsonEquality, JsonFields, JsonMatch, JsonValidity
from llmeval_integrations.core.sample import MISSING

pytest.importorskip("pandas")

import pandas as pd

from llmeval_integrations.frameworks import pandas as ours
from llmeval_integrations.frameworks.pandas import evaluate
from llmeval_integrations.runs.tables import RowErrorWarning


def test_the_frame_is_given_back_with_columns_of_nullable_types():
    frame = pd.DataFrame({"output": ["[1]", "[1,"], "other": [object(), None]})
    scored = evaluate(frame, [JsonValidity()])
    assert list(frame.columns) == ["output", "other"]
    new = scored[[column for column in scored if column not in frame]]
    assert new.dtypes.astype(str).to_dict() == {
        "json_validity": "Float64",
        "json_validity_passed": "boolean",
        "json_validity_label": "string",
        "json_validity_reason": "string",
        "json_validity_error": "string",
    }
    pd.testing.assert_frame_equal(scored[list(frame)], frame)
    assert new.iloc[1].to_list()[:3] == [0.0, False, "truncated"]


def test_unscored_rows_are_in_no_mean():
    frame = pd.DataFrame({"output": ["1", "2"]})
    scored = evaluate(frame, {"no": Fixed(RESULTS["unscored"]), "yes": Fixed(RESULTS["number"])})
    assert (scored["no"].count(), scored["yes"].count()) == (0, 2)
    assert pd.isna(scored["no"].mean())
    assert scored["yes"].mean() == 0.25
    assert scored["no_passed"].isna().all()
    assert scored["no_label"].value_counts().to_dict() == {"torn": 2}


@pytest.mark.parametrize("absent", [None, float("nan"), pd.NA])
def test_what_is_missing_is_absent_and_json_null_is_a_text(absent):
    frame = pd.DataFrame({"output": ["null", "null"], "reference": pd.Series(["null", absent], dtype=object)})  # fmt: skip
    with pytest.warns(RowErrorWarning, match="json_equality: 1 of 2 rows were not evaluated"):
        scored = evaluate(frame, [JsonEquality()])
    assert scored["json_equality"].to_list() == [1.0, pd.NA]
    assert scored["json_equality_error"][1].startswith("MissingFieldError: null in col")


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([7, 3, 3]),
        pd.Index(["c", "a", "b"], name="id"),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]),
        pd.date_range("2026-01-01", periods=3)[::-1],
    ],
)
def test_the_index_stays_and_rows_keep_their_results(index):
    frame = pd.DataFrame({"output": ["1", "x", "2"]}, index=index)
    scored = evaluate(frame, [JsonValidity()])
    pd.testing.assert_index_equal(scored.index, index)
    assert scored["json_validity"].to_list() == [1.0, 0.0, 1.0]


def test_evaluating_again_replaces_the_columns():
    once = evaluate(pd.DataFrame({"output": ["1"]}), {"a": Fixed(RESULTS["number"])})
    again = evaluate(once, {"a": Fixed(RESULTS["yes"])})
    assert list(again.columns) == list(once.columns)
    assert again["a_label"].isna().all()


def test_an_empty_frame_has_empty_columns_of_the_same_types():
    empty = evaluate(pd.DataFrame({"output": []}), [JsonValidity()])
    full = evaluate(pd.DataFrame({"output": ["1"]}), [JsonValidity()])
    assert len(empty) == 0
    assert empty.dtypes[1:].equals(full.dtypes[1:])


def test_values_of_objects_are_looked_at():
    fixed = Fixed(RESULTS["yes"])
    evaluate(pd.DataFrame({"output": [{"a": 1}, [1]]}), [fixed])
    assert [sample.output for sample in fixed.samples] == [{"a": 1}, [1]]
    assert fixed.samples[0].reference is MISSING


def test_lists_and_objects_that_come_out_of_parquet_are_json(tmp_path):
    pytest.importorskip("pyarrow")
    value = {"a": [{"b": [1, 2]}], "c": [[1.5], []]}
    frame = pd.DataFrame({"output": [value], "contexts": [["x", "y"]]})
    frame.to_parquet(tmp_path / "data.parquet")
    again = pd.read_parquet(tmp_path / "data.parquet").assign(reference=json.dumps(value))
    assert type(again["contexts"][0]).__name__ == "ndarray"
    fixed = Fixed(RESULTS["yes"])
    scored = evaluate(again, [JsonEquality(), fixed])
    assert scored["json_equality_passed"].to_list() == [True]
    assert fixed.samples[0].contexts == ["x", "y"]


def test_a_value_too_deep_to_be_looked_through_is_still_evaluated():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    scored = evaluate(pd.DataFrame({"output": [deep, "1"]}), [JsonValidity()])
    assert scored["json_validity_error"].isna().all()


def test_details_are_a_column_of_json():
    frame = pd.DataFrame({"output": ['{"a": 1, "b": 2}'], "reference": ['{"a": 1, "b": 3}']})
    scored = evaluate(frame, [JsonFields()], metadata=True)
    assert json.loads(scored["json_fields_metadata"][0])


@given(st.lists(st.none() | st.sampled_from(["[1]", "[1.0]", "{}", "x", "null"]), max_size=8))
def test_a_row_has_what_the_evaluator_says_of_it_alone(outputs):
    frame = pd.DataFrame({"output": pd.Series(outputs, dtype=object), "reference": "[1]"})
    scored = evaluate(frame, [JsonMatch()])
    for output, score, error in zip(outputs, scored["json_match"], scored["json_match_error"]):
        assert score == float(JsonMatch()(output, "[1]").score) and pd.isna(error)


@pytest.mark.parametrize("table", [[{"output": "1"}], {"output": ["1"]}, pd.Series(["1"])])
def test_what_is_no_frame_is_refused(table):
    with pytest.raises(InputError, match="expected a DataFrame of pandas, got"):
        evaluate(table, [JsonValidity()])


def test_a_frame_with_a_column_twice_is_refused():
    frame = pd.DataFrame([["1", "2"]], columns=["output", "output"])
    with pytest.raises(InputError, match="share a name"):
        evaluate(frame, [JsonValidity()])


def test_columns_are_called_by_texts():
    frame = pd.DataFrame([["1", "2"]])
    with pytest.raises(InputError, match="is not a field and a column"):
        evaluate(frame, [JsonValidity()], columns={"output": 0})


def test_the_example():
    run_example(ours)
