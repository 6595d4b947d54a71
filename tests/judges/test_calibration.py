"""Weights learned from labels: in order always, better where the defaults are wrong, sane with few."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import Result
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.judges import Confidence, Judgement, ScoreTable, Verdict, calibrate
from llmeval_integrations.stats.calibration import PRIOR_ROWS

CELLS = ["fail_high", "fail_medium", "fail_low", "pass_low", "pass_medium", "pass_high"]
DEFAULT = [getattr(ScoreTable(), cell) for cell in CELLS]
rows = st.lists(st.tuples(st.sampled_from(CELLS), st.booleans()), min_size=1, max_size=80)


def judgement(cell):
    verdict, confidence = cell.split("_")
    return Judgement("", Verdict(verdict), Confidence(confidence))


def learned(pairs):
    """Calibrate with what each row says and whether a person passed it."""
    return calibrate([judgement(cell) for cell, _ in pairs], [label for _, label in pairs])


def weights(table):
    return [getattr(table, cell) for cell in CELLS]


def brier(table, pairs):
    return sum((getattr(table, cell) - label) ** 2 for cell, label in pairs) / len(pairs)


@pytest.mark.parametrize(
    "held",
    [
        Judgement("", Verdict.PASS, Confidence.LOW),
        {"verdict": "PASS", "confidence": "low"},
        Result(0.6, True, "pass", None, {"verdict": "Pass", "confidence": "low"}),
    ],
)
def test_a_weight_is_the_share_passed_with_the_default_for_three_more_rows(held):
    human = dict(enumerate([True] * 6 + ["fail"] * 3 + [None]))
    found = calibrate({**dict.fromkeys(range(8), held), 8: held, 9: held}, human)
    assert found.table.pass_low == pytest.approx((6 + PRIOR_ROWS * 0.6) / (9 + PRIOR_ROWS))
    assert next(each.passed for each in found.levels if each.name == "pass_low") == (6, 9)
    assert weights(found.table)[:3] == DEFAULT[:3]  # no row tells against them
    unscored = calibrate([held, None, Result.unscored("cut")], [True, True, False])
    assert (found.unlabelled, unscored.unscored) == (1, 2)


@settings(deadline=None)
@given(rows)
def test_weights_are_the_isotonic_regression_of_the_shrunken_shares(pairs):
    whole = [sum(cell == other for other, _ in pairs) + PRIOR_ROWS for cell in CELLS]
    passed = [
        sum(label for other, label in pairs if other == cell) + PRIOR_ROWS * default
        for cell, default in zip(CELLS, DEFAULT)
    ]

    def mean(low, high):
        return sum(passed[low : high + 1]) / sum(whole[low : high + 1])

    # the minimax form of isotonic regression, which pools nothing
    expected = [
        max(min(mean(low, high) for high in range(at, 6)) for low in range(at + 1))
        for at in range(6)
    ]
    assert weights(learned(pairs).table) == pytest.approx(expected)
    assert learned(pairs) == learned(pairs[::-1])


@settings(deadline=None)
@given(rows)
def test_held_out_means_learned_from_all_other_rows(pairs):
    errors = []
    for at, (cell, label) in enumerate(pairs):
        others = pairs[:at] + pairs[at + 1 :]
        table = learned(others).table if others else ScoreTable()
        errors.append((getattr(table, cell) - label) ** 2)
    found = learned(pairs)
    assert found.brier == pytest.approx(sum(errors) / len(errors))
    assert found.brier_of_defaults == pytest.approx(brier(ScoreTable(), pairs))


def test_the_table_reads_well():
    pairs = [("pass_high", True)] * 30 + [("pass_high", False)] * 10 + [("fail_low", False)] * 9
    assert str(learned(pairs)).splitlines() == [
        "verdict, confidence   default  learned  a person passed",
        "pass, high               1.00    0.773  30 of 40",
        "pass, medium             0.85    0.773  0 of 0",
        "pass, low                0.60    0.600  0 of 0",
        "fail, low                0.40    0.110  0 of 9",
        "fail, medium             0.15    0.110  0 of 0",
        "fail, high               0.00    0.000  0 of 0",
        "Brier, held out         0.233    0.163",
    ]
    few = learned([("pass_high", True)])
    assert not few.better
    assert str(few).endswith("no better than the defaults; keep those.")


GOOD = Result(0.6, True, None, None, {"verdict": "pass", "confidence": "low"})


@pytest.mark.parametrize(
    ("judged", "human", "message"),
    [
        ([None], [True], "no row has both"),
        (["good"], [True], "judged, row 0: 'good' has neither a score nor a verdict"),
        ([Judgement("", Verdict.PASS)], [True], "judged, row 0: .* with a confidence"),
        ([GOOD], ["good"], "human, row 0: 'good' is not a verdict"),
    ],
)
def test_what_cannot_be_learned_from_is_named(judged, human, message):
    with pytest.raises(InputError, match=message):
        calibrate(judged, human)


def test_any_score_is_learned_and_chances_rise_with_it():
    choose = random.Random(4)
    scores = [choose.random() for _ in range(400)]
    truth = [choose.random() < score**2 for score in scores]
    found = calibrate([Result(score, None) for score in scores], truth)
    assert found.table is None
    assert found.better
    learned = [level.learned for level in found.levels]
    assert learned == sorted(learned)
    assert len(learned) == 10
    assert found(0.0) == learned[0] < 0.1
    assert abs(found(0.9) - 0.81) < 0.1
    assert str(found).startswith("score                 default  learned")
