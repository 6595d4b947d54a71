"""Verdict and confidence as a score."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.judges.replies.judgement import Confidence, Judgement, Verdict
from llmeval_integrations.judges.score_table import ScoreTable

PAIRS = list(itertools.product(Verdict, Confidence))
CELLS = [f"{verdict.value}_{level.value}".lower() for verdict, level in PAIRS]
weights = st.lists(st.floats(0, 1), min_size=6, max_size=6)


@pytest.mark.parametrize(
    ("verdict", "confidence", "score"),
    [
        ("Pass", "High", 1.0), ("Pass", "Medium", 0.85), ("Pass", "Low", 0.6),
        ("Fail", "High", 0.0), ("Fail", "Medium", 0.15), ("Fail", "Low", 0.4),
    ],
)  # fmt: skip
def test_the_six_default_scores(verdict, confidence, score):
    table = ScoreTable()
    assert table.score(Judgement("because", verdict, confidence)) == score
    assert table.score({"verdict": verdict.upper(), "confidence": confidence.lower()}) == score
    assert table.score({"reason": "x", "verdict": verdict, "confidence": confidence}) == score


def test_the_defaults_follow_from_three_confidences():
    table = ScoreTable()
    for level, weight in (("high", 1.0), ("medium", 0.85), ("low", 0.6)):
        assert getattr(table, f"pass_{level}") == weight
        assert getattr(table, f"fail_{level}") == pytest.approx(1 - weight)


@settings(deadline=None)
@given(weights)
def test_a_custom_table_gives_its_own_scores_unless_a_fail_would_beat_a_pass(values):
    options = dict(zip(CELLS, values))
    if min(values[:3]) < max(values[3:]):
        with pytest.raises(InvalidOptionError, match="a fail would score more than a pass"):
            ScoreTable(**options)
    else:
        ScoreTable(**options)
    table = ScoreTable(**options, strict=False)
    scores = [table.score(Judgement("", *pair)) for pair in PAIRS]
    assert scores == values


def test_it_is_printed_as_a_table():
    assert str(ScoreTable(pass_low=0.55)).splitlines() == [
        "          high  medium     low",
        "pass         1    0.85    0.55",
        "fail         0    0.15     0.4",
    ]


def test_a_pass_may_be_worth_as_little_as_a_fail():
    assert ScoreTable(pass_low=0.5, fail_low=0.5).pass_low == 0.5


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), "1", None, True])
def test_a_weight_is_a_number_from_0_to_1(cell, value):
    with pytest.raises(InvalidOptionError, match=f"score_table: {cell}="):
        ScoreTable(**{cell: value}, strict=False)


def test_the_order_is_named_with_both_weights():
    with pytest.raises(InvalidOptionError, match=r"pass_low=0\.3 is less than fail_low=0\.4"):
        ScoreTable(pass_low=0.3)
    with pytest.raises(InvalidOptionError, match=r"pass_low=0\.6 is less than fail_high=0\.7"):
        ScoreTable(fail_high=0.7)
    with pytest.raises(InvalidOptionError, match="strict='no' is not True or False"):
        ScoreTable(strict="no")


def test_without_a_confidence_it_is_medium():
    assert ScoreTable().score(Judgement("because", "Pass")) == 0.85
    assert ScoreTable().score({"verdict": "Fail"}) == 0.15


@pytest.mark.parametrize("judgement", [{"verdict": True}, {}, {"verdict": "Pass or Fail"}])
def test_what_states_no_verdict_has_no_score(judgement):
    with pytest.raises(UnreadableJudgementError):
        ScoreTable().score({**judgement, "confidence": "High"})


def test_a_number_has_no_place_in_the_table():
    with pytest.raises(InvalidOptionError, match=r"4\.0 is neither Pass nor Fail"):
        ScoreTable().score(Judgement("because", 4.0))
