"""How far a judge can be trusted: weights learned from labels, and what shifts its verdicts."""

import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import EmbeddingDistance, Evaluator, InputError, Result
from llmeval_integrations.judges import Judgement, ScoreTable, calibrate, judge_bias
from llmeval_integrations.stats.calibration import PRIOR_ROWS

CELLS = ["fail_high", "fail_medium", "fail_low", "pass_low", "pass_medium", "pass_high"]
DEFAULTS = {cell: getattr(ScoreTable(), cell) for cell in CELLS}
rows = st.lists(st.tuples(st.sampled_from(CELLS), st.booleans()), min_size=1, max_size=80)


def judgement(cell):
    return Judgement("", *cell.split("_"))


def learned(pairs):
    """Calibrate with what each row says and whether a person passed it."""
    return calibrate([judgement(cell) for cell, _ in pairs], [label for _, label in pairs])


def weights(found):
    return [getattr(found.table, cell) for cell in CELLS]


@pytest.mark.parametrize(
    "held",
    [
        judgement("pass_low"),
        {"verdict": "PASS", "confidence": "low"},
        Result(0.6, True, "pass", None, {"verdict": "Pass", "confidence": "low"}),
    ],
)
def test_a_weight_is_the_share_passed_with_the_default_for_three_more_rows(held):
    human = dict(enumerate([True] * 6 + ["fail"] * 3 + [None]))
    found = calibrate({**dict.fromkeys(range(8), held), 8: held, 9: held}, human)
    assert found.table.pass_low == pytest.approx((6 + PRIOR_ROWS * 0.6) / (9 + PRIOR_ROWS))
    assert next(each.passed for each in found.levels if each.name == "pass_low") == (6, 9)
    assert weights(found)[:3] == [0, 0.15, 0.4]  # no row tells against them
    unscored = calibrate([held, None, Result.unscored("cut")], [True, True, False])
    assert (found.unlabelled, unscored.unscored) == (1, 2)


def error(table, pairs):
    return sum((getattr(table, cell) - label) ** 2 for cell, label in pairs)


@settings(deadline=None)
@given(rows)
def test_weights_are_the_isotonic_regression_of_the_shrunken_shares(pairs):
    labels = [[label for other, label in pairs if other == cell] for cell in CELLS]
    whole = [len(each) + PRIOR_ROWS for each in labels]
    passed = [sum(each) + PRIOR_ROWS * DEFAULTS[cell] for cell, each in zip(CELLS, labels)]

    def mean(low, high):
        return sum(passed[low : high + 1]) / sum(whole[low : high + 1])

    # the minimax form of isotonic regression, which pools nothing
    expected = [
        max(min(mean(low, high) for high in range(at, 6)) for low in range(at + 1))
        for at in range(6)
    ]
    found = learned(pairs)
    assert weights(found) == pytest.approx(expected)
    assert found == learned(pairs[::-1])
    # Each row in turn is held out, and the chances are learned from all others.
    errors = []
    for at, pair in enumerate(pairs):
        others = pairs[:at] + pairs[at + 1 :]
        errors.append(error(learned(others).table if others else ScoreTable(), [pair]))
    assert found.brier == pytest.approx(sum(errors) / len(errors))
    assert found.brier_of_defaults == pytest.approx(error(ScoreTable(), pairs) / len(pairs))


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


@pytest.mark.parametrize(
    ("judged", "human", "message"),
    [
        ([None], [True], "no row has both"),
        (["good"], [True], "judged, row 0: 'good' has neither a score nor a verdict"),
        ([Judgement("", "Pass")], [True], "judged, row 0: .* with a confidence"),
        ([judgement("pass_low")], ["good"], "human, row 0: 'good' is not a verdict"),
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


# --- what should not matter -------------------------------------------------------------------------


@dataclass(frozen=True)
class Likes(Evaluator):
    """Passes what is long enough, or what has a heading."""

    least: int = 0
    headings: bool = False
    stars: int = 0

    def check(self, sample):
        passed = len(sample.output) >= self.least and (not self.headings or "##" in sample.output)
        return Result(float(passed + self.stars), passed)


class PrefersFirst(Likes):
    """Takes the first of two, whatever it is."""

    needs = ("output_b",)


SAMPLES = [
    {"output": f"It is {'very ' * n}good. Yes.", "output_b": "No.", "group": n % 25}
    for n in range(50)
]


@pytest.mark.parametrize(
    ("judge", "name", "changed", "shift"),
    [
        (Likes(), "length", 0, 0.0),
        (Likes(), "formatting", 0, 0.0),
        (Likes(headings=True), "length", 0, 0.0),
        (Likes(headings=True), "formatting", 50, 1.0),
        (PrefersFirst(), "position", 50, -1.0),
    ],
)
def test_a_judge_that_likes_what_should_not_matter_is_found_out(judge, name, changed, shift):
    found = judge_bias(judge, SAMPLES)[name]
    assert (found.samples, found.changed[:2], found.shift) == (50, (changed, 50), shift)


def test_a_shift_has_an_interval_and_reads_well():
    shift = judge_bias(Likes(least=60), SAMPLES)["length"]
    assert 0 < shift.changed.part < 50
    assert 0 < shift.interval[0] < shift.shift < shift.interval[1]
    low, high = shift.interval
    decorated = judge_bias(Likes(headings=True), SAMPLES)["formatting"]
    assert str(decorated).startswith("50 of 50 verdicts change (85% to 100%), scores by +1.000")
    assert str(shift).endswith(f"), scores by {shift.shift:+.3f} ({low:+.3f} to {high:+.3f})")
    stars = judge_bias(Likes(stars=3), SAMPLES)["length"]  # on a scale that nobody knows
    assert str(stars).endswith(", scores by +0.000")
    silent = judge_bias(EmbeddingDistance(list), [{"output": "a", "reference": "b"}])["length"]
    assert str(silent) == "no sample has a score before and after; 1 unscored"


def test_changes_are_the_callers_choice_and_bad_samples_are_refused():
    shout = {"shout": lambda sample: type(sample)(sample.output.upper())}
    assert list(judge_bias(Likes(), SAMPLES, shout)) == ["shout"]
    with pytest.raises(InputError, match="there is no sample"):
        judge_bias(Likes(), [])
    with pytest.raises(InputError, match="the output 3 is not a text"):
        judge_bias(Likes(), [{"output": 3}])
