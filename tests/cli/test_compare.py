"""The output and the exit codes of `llmeval compare`."""

import json

import pytest

from llmeval_integrations import JsonFields, JsonValidity, LengthPenalty, evaluate
from llmeval_integrations.cli.main import main

FAIL = "--fail-on-regression"


@pytest.fixture
def runs(tmp_path):
    """Two runs, of which the second is worse in twelve of twenty samples."""
    for name, good in (("before", 20), ("after", 8)):
        outputs = ['{"total": 1}'] * good + ['{"total": 2}'] * (20 - good)
        rows = [
            {"id": f"s{n}" if n < 19 else "\ud800", "output": output, "reference": '{"total": 1}'}
            for n, output in enumerate(outputs)
        ]
        evaluate(rows, [JsonFields(), JsonValidity()], out=tmp_path / name)
    return str(tmp_path / "before"), str(tmp_path / "after")


def test_compare_prints_a_table_or_json(runs, capsys):
    assert main(["compare", *runs]) == 0
    table, said = capsys.readouterr()
    for word in ("json_fields", "/total", "worse", "expected 1"):
        assert word in table
    assert max(map(len, table.splitlines())) <= 110
    assert said == ""
    assert main(["compare", *runs, "--json", "--no-fields"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["field"] for each in found["differences"]] == [None, None]
    assert found["differences"][0]["verdict"] == "worse"
    assert found["differences"][0]["difference"] == -0.6
    assert len(found["evaluators"]["json_fields"]["changes"]) == 12


def test_a_regression_can_set_exit_code_1(runs, capsys):
    before, after = runs
    assert main(["compare", before, after, FAIL]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "llmeval compare: json_fields: pass rate went from 1 to 0.4",
        "llmeval compare: json_fields: /total matching leaves went from 1 to 0.4",
    ]
    assert main(["compare", after, before, FAIL]) == 0
    assert main(["compare", before, before, FAIL]) == 0


def validity(tmp_path, name, outputs, *evaluators):
    rows = [
        {"id": n} if output is None else {"id": n, "output": output}
        for n, output in enumerate(outputs)
    ]
    evaluate(rows, [JsonValidity(), *evaluators], out=tmp_path / name)
    return str(tmp_path / name)


@pytest.mark.parametrize(
    ("after", "given", "code"),
    [
        (["{}"] * 95 + [None] * 5, [], 0),
        (["{}"] * 94 + [None] * 6, [], 1),
        (["{}"] * 5, [], 1),
        (["{}"] * 90 + [None] * 4, ["9%"], 1),
        (["{}"] * 90 + [None] * 4, ["0.1"], 0),
    ],
)
def test_samples_without_a_score_in_b_cannot_exclude_a_regression(
    tmp_path, capsys, after, given, code
):
    runs = validity(tmp_path, "a", ["{}"] * 100), validity(tmp_path, "b", after)
    given = [part for each in given for part in ("--max-left-out", each)]
    assert main(["compare", *runs, FAIL, *given]) == code
    lost = 100 - after.count("{}")
    sentence = f"json_validity: {lost} of A's 100 samples have no counterpart with a score in B, "
    assert (sentence in capsys.readouterr().err) is bool(code)


def test_an_evaluator_that_b_lacks_cannot_exclude_a_regression(tmp_path, capsys):
    length = LengthPenalty(min_length=1, max_length=9)
    runs = validity(tmp_path, "a", ["{}"] * 9, length), validity(tmp_path, "b", ["{}"] * 9)
    assert main(["compare", *runs, FAIL]) == 1
    sentence = (
        "length_penalty: A has this evaluator, B does not, so a regression cannot be excluded"
    )
    assert sentence in capsys.readouterr().err
    assert main(["compare", *runs, FAIL, "--evaluator", "json_validity"]) == 0
    assert main(["compare", *reversed(runs), FAIL]) == 0
    none = validity(tmp_path, "none", [None] * 9)
    assert main(["compare", runs[1], none]) == 0
    assert "9 of 9 samples are left out" in capsys.readouterr().err
    assert main(["compare", runs[1], none, FAIL]) == 1
    assert "no sample has a score in both runs, so a regression" in capsys.readouterr().err
