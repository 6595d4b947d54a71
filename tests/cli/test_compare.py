"""The output and the exit codes of `llmeval compare`."""

import json

import pytest

from llmeval_integrations import JsonFields, JsonValidity, LengthPenalty, evaluate

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


def test_compare_prints_a_table_or_json_and_may_fail(runs, llmeval):
    code, table, said = llmeval("compare before after")
    assert (code, said) == (0, "")
    assert all(word in table for word in ("json_fields", "/total", "worse", "expected 1"))
    assert max(map(len, table.splitlines())) <= 110
    found = json.loads(llmeval("compare before after --json --no-fields")[1])
    assert [each["field"] for each in found["differences"]] == [None, None]
    assert found["differences"][0]["verdict"] == "worse"
    assert found["differences"][0]["difference"] == -0.6
    assert len(found["evaluators"]["json_fields"]["changes"]) == 12
    code, _, said = llmeval(f"compare before after {FAIL}")
    assert (code, said.splitlines()) == (
        1,
        [
            "llmeval compare: json_fields: pass rate went from 1 to 0.4",
            "llmeval compare: json_fields: /total matching leaves went from 1 to 0.4",
        ],
    )
    assert llmeval(f"compare after before {FAIL}")[0] == 0
    assert llmeval(f"compare before before {FAIL}")[0] == 0


BOTH = [JsonValidity(), LengthPenalty(min_length=1, max_length=9)]
FEWER = ["{}"] * 90 + [None] * 4
"""None is an error row; six samples are not in B at all."""

LESS = [
    (["{}"] * 95 + [None] * 5, BOTH, "", ""),
    (["{}"] * 94 + [None] * 6, BOTH, "", "json_validity: 6 of A's 100 samples have no counterpart"),
    (["{}"] * 5, BOTH, "", "json_validity: 95 of A's 100 samples have no counterpart"),
    (FEWER, BOTH, "--max-left-out 9%", "json_validity: 10 of A's 100 samples have no counter"),
    (FEWER, BOTH, "--max-left-out 0.1", ""),
    ([None] * 100, BOTH, "", "json_validity: no sample has a score in both runs, so a regression"),
    (["{}"] * 100, BOTH[:1], "", "length_penalty: A has this evaluator, B does not, so a regress"),
    (["{}"] * 100, BOTH[:1], "--evaluator json_validity", ""),
]


@pytest.mark.parametrize(("outputs", "evaluators", "options", "miss"), LESS)
def test_what_b_lacks_cannot_exclude_a_regression(tmp_path, llmeval, outputs, evaluators, options, miss):  # fmt: skip
    rows = [{"id": n, **({"output": text} if text else {})} for n, text in enumerate(outputs)]
    evaluate([{"id": n, "output": "{}"} for n in range(100)], BOTH, out=tmp_path / "a")
    evaluate(rows, evaluators, out=tmp_path / "b")
    code, _, said = llmeval(f"compare a b {FAIL} {options}")
    assert (code, "regression" in said, miss in said) == (bool(miss), bool(miss), True)
    assert llmeval("compare a b")[0] == 0
