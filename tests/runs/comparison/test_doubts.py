"""What is said where a difference may come from something other than the outputs."""

import json

import pytest

from llmeval_integrations import ExactMatch, JsonMatch, compare, evaluate

GOOD = [{"id": f"s{n}", "output": "{}", "reference": "{}"} for n in range(4)]


def warnings(tmp_path, a, b, evaluators=(), **options):
    """Give the warnings of a run with JsonMatch and a second run with these options."""
    evaluate(a, [JsonMatch()], out=tmp_path / "a")
    evaluate(b, evaluators or [JsonMatch()], out=tmp_path / "b", **options)
    return compare(tmp_path / "a", tmp_path / "b").warnings


def rows_of(ids):
    return [{"id": each, "output": "{}", "reference": "{}"} for each in ids]


@pytest.mark.parametrize(
    ("a", "b", "options", "told"),
    [
        (GOOD, [{**each, "output": "[]", "input": "another"} for each in GOOD], {}, ""),
        (
            GOOD,
            GOOD,
            {"evaluators": [JsonMatch(strict_order=False), ExactMatch()]},
            (
                "other evaluators or options: json_match.options.strict_order is False, and was "
                "True; in B alone, so not compared: exact_match"
            ),
        ),
        (GOOD, GOOD, {"limit": 2}, "other samples: 2 samples in A alone, so not compared"),
        (
            *[[{"output": "{}", "reference": "{}"}]] * 2,
            {},
            "other samples: ids are the numbers of the rows",
        ),
        (*[rows_of("aab")] * 2, {}, "1 sample has the id of another, and no group is named"),
        (*[rows_of(["t1.0", "t1.1", "t2.0", "t2.1"])] * 2, {}, "ids such as 't1.0' and 't1.1'"),
        (*[[{**each, "group": 1} for each in rows_of("aab")]] * 2, {}, ""),
    ],
)
def test_what_differs_besides_the_outputs_is_named(tmp_path, a, b, options, told):
    found = warnings(tmp_path, a, b, **options)
    assert [each[: len(told)] for each in found] == ([told] if told else [])


def test_another_version_of_this_package_and_a_killed_run_are_named(tmp_path):
    assert warnings(tmp_path, GOOD, GOOD) == []
    path = tmp_path / "a/manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": "0.1"}))
    (tmp_path / "b" / "summary.json").unlink()
    incomplete, version = compare(tmp_path / "a", tmp_path / "b").warnings
    assert incomplete == "other samples: B is incomplete: it was killed or is under way"
    assert version.startswith("another version: A was evaluated by 0.1, B by ")


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
def test_of_one_file_columns_of_references_are_noticed_and_places_are_ids(tmp_path, columns, told):
    file = tmp_path / "data.csv"
    file.write_text("output,reference,gold\n" + "{},{},[]\n" * 4)
    evaluators = {"first": JsonMatch(), "other": JsonMatch()}
    for name, mapping in (("a", {}), ("b", columns)):
        evaluate(str(file), evaluators, columns=mapping, out=tmp_path / name)
    said = "; ".join(f"{name} is 'gold', and was absent" for name in told)
    found = compare(tmp_path / "a", tmp_path / "b")
    assert found.warnings == ([f"other references: {said}"] if told else [])
    assert found.evaluators["first"].worse == (0 if "other.reference" in columns else 4)
