"""What is said where a difference may come from something other than the outputs."""

import json

import pytest

from llmeval_integrations import ExactMatch, JsonMatch, JsonValidity, compare, evaluate

GOOD = [{"id": f"s{n}", "output": "{}", "reference": "{}"} for n in range(4)]


def warnings(tmp_path, a, b, evaluators_a=(), evaluators_b=(), **options_b):
    evaluate(a, evaluators_a or [JsonMatch()], out=tmp_path / "a")
    evaluate(b, evaluators_b or [JsonMatch()], out=tmp_path / "b", **options_b)
    return compare(tmp_path / "a", tmp_path / "b").warnings


def test_runs_of_the_same_samples_give_no_warning(tmp_path):
    other = [{**sample, "output": "[]", "input": "another prompt"} for sample in GOOD]
    assert warnings(tmp_path, GOOD, other) == []


def test_other_options_of_an_evaluator_are_named(tmp_path):
    told = warnings(tmp_path, GOOD, GOOD, [JsonMatch()], [JsonMatch(strict_order=False)])
    assert told == [
        "other evaluators or options: json_match.options.strict_order is False, and was True"
    ]


def test_another_version_of_this_package_is_named(tmp_path):
    assert warnings(tmp_path, GOOD, GOOD) == []
    path = tmp_path / "a/manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": "0.1"}))
    [told] = compare(tmp_path / "a", tmp_path / "b").warnings
    assert told.startswith("another version: A was evaluated by 0.1, B by ")


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ("aab", "1 sample has the id of another, and no group is named, so those with one id"),
        ("aabb", "2 samples have the id of another, and no group is named, so those with one id"),
        (["t1.0", "t1.1", "t2.0", "t2.1"], "ids such as 't1.0' and 't1.1' look like repeats of"),
    ],
)
def test_repeats_without_a_group_are_told(tmp_path, ids, said):
    rows = [{"id": each, "output": "{}", "reference": "{}"} for each in ids]
    [told] = warnings(tmp_path, rows, rows)
    assert told.startswith(said)
    grouped = [{**each, "group": each["id"][:2]} for each in rows]
    assert compare(*(evaluate(grouped, [JsonMatch()]) for _ in "ab")).warnings == []


def test_evaluators_that_only_one_run_has_are_named(tmp_path):
    told = warnings(
        tmp_path, *(GOOD, GOOD), *([JsonMatch(), JsonValidity()], [JsonMatch(), ExactMatch()])
    )
    assert told == [
        (
            "other evaluators or options: in A alone, so not compared: json_validity; "
            "in B alone, so not compared: exact_match"
        )
    ]


def test_another_part_of_the_data_is_named(tmp_path):
    assert warnings(tmp_path, GOOD, GOOD, limit=2) == [
        "other samples: 2 samples in A alone, so not compared"
    ]


def test_other_references_of_an_evaluator_with_a_column_of_its_own_are_noticed(tmp_path):
    failed = [{**sample, "output": "[]", "gold": "{}"} for sample in GOOD]
    other = [{**sample, "gold": "[1]"} for sample in failed[:3]] + failed[3:]
    evaluators = {"first": JsonMatch(), "own": JsonMatch(), "also": JsonMatch()}
    for name, rows in (("a", failed), ("b", other)):
        evaluate(rows, evaluators, columns={"own.reference": "gold"}, out=tmp_path / name)
    [told] = compare(tmp_path / "a", tmp_path / "b").warnings
    assert told == (
        "other references: own: 3 of 4 samples that both runs keep have another one in B"
    )


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"reference": "gold"}, ["columns.reference"]),
        ({"other.reference": "gold"}, ["columns.other.reference"]),
        ({"output": "gold", "other.input": "gold"}, []),
    ],
)
def test_references_from_another_column_of_one_file_are_noticed(tmp_path, columns, told):
    file = tmp_path / "data.csv"
    file.write_text("output,reference,gold\n" + "{},{},{}\n" * 4)
    evaluators = {"first": JsonMatch(), "other": JsonMatch()}
    evaluate(str(file), evaluators, out=tmp_path / "a")
    evaluate(str(file), evaluators, columns=columns, out=tmp_path / "b")
    said = "; ".join(f"{name} is 'gold', and was absent" for name in told)
    found = compare(tmp_path / "a", tmp_path / "b").warnings
    assert found == ([f"other references: {said}"] if told else [])


def test_samples_without_ids_are_joined_by_place_with_a_warning(tmp_path):
    rows = [{key: sample[key] for key in ("output", "reference")} for sample in GOOD]
    [told] = warnings(tmp_path, rows, rows)
    assert told.startswith("other samples: ids are the numbers of the rows")


def test_of_one_file_their_place_is_as_good_as_an_id(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("first,second,reference\n" + "{},[],{}\n" * 4)
    for name, column in (("a", "first"), ("b", "second")):
        evaluate(str(file), [JsonMatch()], columns={"output": column}, out=tmp_path / name)
    found = compare(tmp_path / "a", tmp_path / "b")
    assert found.warnings == []
    assert found.evaluators["json_match"].worse == 4


def test_a_run_that_was_broken_off_is_named(tmp_path):
    evaluate(GOOD, [JsonMatch()], out=tmp_path / "a")
    evaluate(GOOD, [JsonMatch()], out=tmp_path / "b")
    (tmp_path / "b" / "summary.json").unlink()
    [told] = compare(tmp_path / "a", tmp_path / "b").warnings
    assert told.startswith("other samples: B is incomplete: it was killed or is under way")
