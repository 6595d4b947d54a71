"""Win rates and strengths."""

import math
import random

import pytest

from llmeval_integrations.stats.intervals import wilson
from llmeval_integrations.stats.preferences import Match, bradley_terry, win_rate


def matches(*scores, group=lambda _: None):
    return [Match("a", "b", float(score), group(n)) for n, score in enumerate(scores)]


def test_a_win_rate_counts_ties_half_and_respects_groups():
    scores = [1] * 60 + [0] * 40
    found = win_rate(matches(*scores))
    assert (found.rate, found.wins, found.ties, found.losses) == (0.6, 60, 0, 40)
    assert found.interval == wilson(60, 100)
    assert str(found) == "60.0% (50.2% to 69.1%): 60 won, 0 tied, 40 lost"
    tied = win_rate(matches(*scores, *[0.5] * 100))
    assert (tied.rate, tied.ties) == (0.55, 100)
    assert win_rate(matches(*scores, group=lambda n: n // 10)).interval[0] < found.interval[0]
    assert win_rate([]) is None


def tournament(choose, strengths, pairs):
    for _ in range(pairs):
        first, second = choose.sample([*strengths], 2)
        chance = 1 / (1 + math.exp(strengths[second] - strengths[first]))
        yield Match(first, second, float(choose.random() < chance))


def share_covered(found, truth):
    return sum(low < truth[name] < high for name, (_, (low, high), _) in found.items()) / len(truth)


def test_strengths_are_estimated_from_matches():
    truth = {"a": 1.0, "b": 0.2, "c": -0.2, "d": -1.0}
    found = bradley_terry([*tournament(random.Random(1), truth, 4_000)])
    assert list(found) == ["a", "b", "c", "d"]
    assert {name: found[name].value for name in truth} == pytest.approx(truth, abs=0.15)
    assert sum(each.value for each in found.values()) == pytest.approx(0, abs=1e-9)
    assert share_covered(found, truth) == 1


def test_a_contestant_that_wins_all_has_a_finite_strength_and_groups_widen_its_interval():
    value, (low, high), played = bradley_terry(matches(*[1] * 20))["a"]
    assert (0 < low < value < high < 5, played) == (True, 20)
    # half a win and half a loss of each against an average contestant
    [own, _] = bradley_terry(matches(1)).values()
    p = 1 / (1 + math.exp(-own.value))
    assert 1 - 1 / (1 + math.exp(-2 * own.value)) + 0.5 - p == pytest.approx(0, abs=1e-9)
    scores = [n < 9 for n in range(12)]
    alone = bradley_terry(matches(*scores))["a"]
    grouped = bradley_terry(matches(*scores, group=lambda n: n // 4))["a"]
    assert grouped.value == pytest.approx(alone.value)
    assert grouped.interval[0] < alone.interval[0]
    assert bradley_terry(matches(*[0.5] * 20))["a"].value == pytest.approx(0)


@pytest.mark.nightly
def test_intervals_cover_the_strengths():
    truth, choose = {"a": 0.6, "b": 0.0, "c": -0.6}, random.Random(2)
    drawn = (bradley_terry([*tournament(choose, truth, 300)]) for _ in range(200))
    assert sum(share_covered(found, truth) for found in drawn) / 200 >= 0.925
