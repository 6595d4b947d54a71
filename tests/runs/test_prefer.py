"""Runs beside each other, by a judge of pairs."""

import json
from dataclasses import dataclass

import pytest

from llmeval_integrations import Evaluator, Result, evaluate
from llmeval_integrations.runs.comparison.prefer import prefer


@dataclass(frozen=True)
class Longer(Evaluator):
    """Prefers the longer of two."""

    needs = ("output_b",)

    def check(self, sample):
        a, b = len(sample.output or ""), len(sample.output_b)
        return Result(0.5 if a == b else float(a > b), None)


@dataclass(frozen=True)
class First(Evaluator):
    """Prefers the first of two in both orders, which is a tie or unscored, as by Preference."""

    needs = ("output_b",)

    score: float | None = 0.5

    def check(self, sample):
        return Result(self.score, None, None, None, {"answers": {}, "position": "first"})


def outputs(length, count=40):
    return [{"id": n, "output": "x" * (length + n % 3), "input": "?"} for n in range(count)]


def test_the_better_of_two_wins_and_samples_are_joined_by_id(tmp_path):
    for name, length in (("short", 3), ("long", 5)):
        evaluate(outputs(length), "length_penalty", out=tmp_path / name)
    found = prefer(tmp_path / "short", tmp_path / "long", Longer())
    assert found.names == ["short", "long"]
    rate = found.rates["short", "long"]
    assert (rate.rate, rate.losses) == (0.0, 40)
    assert (found.strengths, found.unscored, found.left_out) == ({}, 0, 0)
    found = prefer(outputs(5), outputs(5, 30), Longer())
    assert (found.rates["a", "b"].ties, found.left_out) == (30, 10)


def test_rows_of_one_id_are_joined_in_their_order_and_are_a_group():
    short, long = ([{**each, "id": [each["id"] // 2]} for each in outputs(n)] for n in (3, 5))
    found = prefer(short, long, Longer())
    assert (found.rates["a", "b"].losses, found.left_out) == (40, 0)
    assert len({str(row.group) for row in found.judged.rows}) == 20


@pytest.mark.parametrize("group", [None, ""])
def test_samples_with_an_empty_group_are_independent(group):
    short, long = ([{**each, "group": group} for each in outputs(n)] for n in (3, 5))
    rates = prefer(short, long, Longer()).rates
    assert rates == prefer(outputs(3), outputs(5), Longer()).rates


def test_a_null_output_is_empty_and_a_pair_without_an_output_is_an_error_row():
    short, long = outputs(3, 4), outputs(5, 4)
    long[0]["output"] = short[1]["output"] = None
    del long[2]["output"], short[3]["output"]
    found = prefer(short, long, Longer())
    assert [row.score for row in found.judged.rows] == [1.0, 0.0, None, None]
    assert found.unscored == 2


def test_a_killed_run_has_the_samples_that_were_done(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in outputs(3)))
    results = evaluate(path, "length_penalty", out=tmp_path / "run").out / "results.jsonl"
    results.write_text("".join(results.read_text().splitlines(keepends=True)[:9]))
    found = prefer(tmp_path / "run", outputs(5), Longer())
    assert (len(found.judged.rows), found.left_out) == (9, 31)


def test_a_judge_that_always_says_first_gives_all_ties_and_bias_1():
    unscored = prefer(outputs(3), outputs(9), First(None))
    assert (unscored.rates, unscored.unscored, unscored.position[:2]) == ({}, 40, (40, 40))
    found = prefer(outputs(3), outputs(9), First())
    assert found.rates["a", "b"].ties == 40
    assert found.position.rate == 1
    said = "the first place was preferred in both orders in 100.0% of pairs (91.2% to 100.0%)"
    assert said in str(found)


def test_a_single_group_tells_nothing_about_others():
    same = [[{**each, "group": "one"} for each in outputs(n)] for n in (3, 9, 6)]
    found = prefer(*same[:2], First(), others=same[2:])
    assert found.position.interval is None
    assert {each.interval for each in found.strengths.values()} == {None}
    assert " to " not in str(found)


def test_three_runs_have_strengths_out_of_a_budget_of_pairs():
    found = prefer(outputs(3), outputs(9), Longer(), others=[outputs(6)], pairs=60)
    assert list(found.strengths) == ["b", "c", "a"]
    assert sum(each.value for each in found.strengths.values()) == pytest.approx(0, abs=1e-9)
    assert sum(each.matches for each in found.strengths.values()) == 120
    assert len([*found.judged.rows]) == 60
