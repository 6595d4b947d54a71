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


BOTH = [JsonValidity(), LengthPenalty(min_length=1, max_length=9)]
FEWER = ["{}"] * 90 + [None] * 4
"""None is an error row; six samples are not in B at all."""

LESS = [
    (["{}"] * 95 + [None] * 5, BOTH, [], ""),
    (["{}"] * 94 + [None] * 6, BOTH, [], "json_validity: 6 of A's 100 samples have no counterpart"),
    (["{}"] * 5, BOTH, [], "json_validity: 95 of A's 100 samples have no counterpart"),
    (FEWER, BOTH, ["--max-left-out", "9%"], "json_validity: 10 of A's 100 samples have no counter"),
    (FEWER, BOTH, ["--max-left-out", "0.1"], ""),
    ([None] * 100, BOTH, [], "json_validity: no sample has a score in both runs, so a regression"),
    (["{}"] * 100, BOTH[:1], [], "length_penalty: A has this evaluator, B does not, so a regress"),
    (["{}"] * 100, BOTH[:1], ["--evaluator", "json_validity"], ""),
]


@pytest.mark.parametrize(("outputs", "evaluators", "options", "miss"), LESS)
def test_what_b_lacks_cannot_exclude_a_regression(
    tmp_path, capsys, outputs, evaluators, options, miss
):
    rows = [{"id": n, **({"output": text} if text else {})} for n, text in enumerate(outputs)]
    evaluate([{"id": n, "output": "{}"} for n in range(100)], BOTH, out=tmp_path / "a")
    evaluate(rows, evaluators, out=tmp_path / "b")
    runs = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert main(["compare", *runs, FAIL, *options]) == bool(miss)
    assert ("regression" in (said := capsys.readouterr().err)) is bool(miss), said
    assert miss in said
    assert main(["compare", *runs]) == 0
