"""Hugging Face datasets: in memory and on disk, shuffled, in splits."""

import os

import pytest
from framework_cases import RESULTS, Fixed, run_example

from llmeval_integrations import ExactMatch, InputError, JsonEquality, JsonSchema, JsonValidity
from llmeval_integrations import evaluate as evaluate_file

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")
pytest.importorskip("datasets")

from datasets import Dataset, DatasetDict, Value, load_dataset, load_from_disk

from llmeval_integrations.frameworks import datasets as ours
from llmeval_integrations.frameworks.datasets import evaluate
from llmeval_integrations.runs.tables import RowErrorWarning


def test_the_dataset_is_given_back_with_typed_columns():
    dataset = Dataset.from_dict({"output": ["[1]", "[1,"], "other": [1, None]})
    scored = evaluate(dataset, [JsonValidity()])
    assert scored.select_columns(["output", "other"]).to_list() == dataset.to_list()
    assert {name: kind for name, kind in scored.features.items() if name not in dataset.features} == {
        "json_validity": Value("float64"),
        "json_validity_passed": Value("bool"),
        "json_validity_label": Value("string"),
        "json_validity_reason": Value("string"),
        "json_validity_error": Value("string"),
    }  # fmt: skip
    assert (scored[1]["json_validity"], scored[1]["json_validity_label"]) == (0.0, "truncated")


def test_unscored_rows_are_none():
    scored = evaluate(Dataset.from_dict({"output": ["1", "2"]}), [Fixed(RESULTS["unscored"])])
    assert (
        scored.select_columns(["fixed", "fixed_label", "fixed_error"]).to_list()
        == [{"fixed": None, "fixed_label": "torn", "fixed_error": None}] * 2
    )


def test_none_is_absent_and_json_null_is_a_text():
    dataset = Dataset.from_dict({"output": ["null", "null"], "reference": ["null", None]})
    with pytest.warns(RowErrorWarning, match="1 of 2 rows"):
        scored = evaluate(dataset, [JsonEquality()])
    assert list(scored["json_equality"]) == [1.0, None]
    assert "null in column 'reference'" in scored[1]["json_equality_error"]


def test_rows_keep_their_results_whatever_was_done_to_the_dataset_before(tmp_path):
    dataset = Dataset.from_dict({"output": [str(number) if number % 3 else "x" for number in range(30)]})  # fmt: skip
    dataset.save_to_disk(tmp_path / "data")
    mixed = load_from_disk(tmp_path / "data").shuffle(seed=3).select(range(20)).with_format("numpy")
    scored = evaluate(mixed, [JsonValidity()])
    assert scored.format["type"] == "numpy"
    rows = scored.with_format(None).to_list()
    assert [row["output"] for row in rows] == list(mixed.with_format(None)["output"])
    assert all(row["json_validity"] == (row["output"] != "x") for row in rows)


def test_each_split_is_evaluated():
    splits = DatasetDict({"train": Dataset.from_dict({"output": ["1"]}), "test": Dataset.from_dict({"output": ["x", "2"]})})  # fmt: skip
    scored = evaluate(splits, [JsonValidity()])
    assert {split: list(part["json_validity"]) for split, part in scored.items()} == {"train": [1.0], "test": [0.0, 1.0]}  # fmt: skip


def test_evaluating_again_replaces_the_columns():
    once = evaluate(Dataset.from_dict({"output": ["1"]}), {"a": Fixed(RESULTS["number"])})
    again = evaluate(once, {"a": Fixed(RESULTS["yes"])})
    assert again.column_names == once.column_names
    assert again[0]["a_label"] is None


def test_an_empty_dataset_has_empty_columns():
    dataset = Dataset.from_dict({"output": ["1"]}).select([])
    scored = evaluate(dataset, [JsonValidity()])
    assert (len(scored), len(scored.column_names)) == (0, 6)


@pytest.mark.parametrize("table", [[{"output": "1"}], Dataset.from_dict({"output": ["1"]}).to_iterable_dataset()])  # fmt: skip
def test_what_is_no_dataset_is_refused(table):
    with pytest.raises(InputError, match="expected a Dataset or a DatasetDict, got"):
        evaluate(table, [JsonValidity()])


def test_half_a_surrogate_pair_ends_no_job():
    rows = Dataset.from_dict({"output": ["[1]", '{"a\\ud800": 1}']})
    scored = evaluate(rows, [JsonSchema({"type": "object"}, parsing="lenient")], metadata=True)
    assert list(scored["json_schema"]) == [0.0, 0.0]
    assert "half of a surrogate pair" in list(scored["json_schema_reason"])[1]


def test_a_text_in_a_column_of_mixed_types_is_the_text(tmp_path):
    data = tmp_path / "mixed.jsonl"
    data.write_text(
        '{"output": "yes", "reference": "yes"}\n{"output": {"a": [1]}, "reference": "no"}\n{"output": null}\n'
    )
    dataset = load_dataset("json", data_files=str(data), split="train", cache_dir=tmp_path / "kept")
    if type(dataset.features["output"]).__name__ != "Json":
        # what is mended is how their cells are read; older versions of datasets have no such type
        pytest.skip("this version has no such columns")
    evaluators = [ExactMatch(), JsonValidity()]
    with pytest.warns(RowErrorWarning, match="exact_match: 1 of 3"):
        scored = evaluate(dataset, evaluators)
    for name in ("exact_match", "json_validity"):
        rows = [row for row in evaluate_file(data, evaluators).rows if row.evaluator == name]
        assert list(scored[name]) == [row.score for row in rows]
    assert list(scored["exact_match"]) == [1.0, 0.0, None]


def test_arrays_of_a_format_are_lists():
    dataset = Dataset.from_dict({"output": [{"a": [1, 2]}], "reference": ['{"a": [1, 2]}']})
    [row] = evaluate_file(dataset.with_format("numpy"), [JsonEquality()]).rows
    assert row.passed is True


def test_the_example():
    run_example(ours)
