"""Verdict and confidence as a score."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations.core.errors import InvalidOptionError, UnreadableJudgementError
from llmeval_integrations.judges import Confidence, Judgement, ScoreTable, Verdict

PAIRS = list(itertools.product(Verdict, Confidence))
CELLS = [f"{verdict.value}_{level.value}".lower() for verdict, level in PAIRS]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_a_table_gives_its_own_scores_unless_a_fail_would_beat_a_pass(values):
    options = dict(zip(CELLS, values))
    if min(values[:3]) < max(values[3:]):
        with pytest.raises(InvalidOptionError, match="a fail would score more than a pass"):
            ScoreTable(**options)
    table = ScoreTable(**options, strict=False)
    assert [table.score(Judgement("", *pair)) for pair in PAIRS] == values
    mappings = [{"verdict": v.value.upper(), "confidence": c.value.lower()} for v, c in PAIRS]
    assert [table.score(each) for each in mappings] == values


def test_it_is_printed_as_a_table():
    assert str(ScoreTable(pass_low=0.55)).splitlines() == [
        "          high  medium     low",
        "pass         1    0.85    0.55",
        "fail         0    0.15     0.4",
    ]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "1", None, True])
def test_a_weight_is_a_number_from_0_to_1(cell, value):
    with pytest.raises(InvalidOptionError, match=f"score_table: {cell}="):
        ScoreTable(**{cell: value}, strict=False)


def test_without_a_confidence_it_is_medium_and_without_a_verdict_there_is_no_score():
    assert ScoreTable().score(Judgement("because", "Pass")) == 0.85
    assert ScoreTable().score({"verdict": "Fail"}) == 0.15
    with pytest.raises(InvalidOptionError, match=r"4\.0 is neither Pass nor Fail"):
        ScoreTable().score(Judgement("because", 4.0))
    with pytest.raises(UnreadableJudgementError):
        ScoreTable().score({"verdict": "Pass or Fail"})
