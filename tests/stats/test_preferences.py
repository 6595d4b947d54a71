"""Win rates and strengths."""

import math
import random

import pytest

from llmeval_integrations.stats.intervals import wilson
from llmeval_integrations.stats.preferences import Match, bradley_terry, win_rate


def test_a_win_rate_counts_ties_half_and_respects_groups():
    matches = [Match("a", "b", score) for score in [1] * 60 + [0] * 40]
    found = win_rate(matches)
    assert (found.rate, found.wins, found.ties, found.losses) == (0.6, 60, 0, 40)
    assert found.interval == wilson(60, 100)
    assert str(found) == "60.0% (50.2% to 69.1%): 60 won, 0 tied, 40 lost"
    tied = win_rate([*matches, *[Match("a", "b", 0.5)] * 100])
    assert (tied.rate, tied.ties) == (0.55, 100)
    grouped = win_rate([match._replace(group=i // 10) for i, match in enumerate(matches)])
    assert grouped.interval[0] < found.interval[0]
    assert win_rate([]) is None


def tournament(choose, strengths, pairs):
    names = list(strengths)
    for _ in range(pairs):
        first, second = choose.sample(names, 2)
        chance = 1 / (1 + math.exp(strengths[second] - strengths[first]))
        yield Match(first, second, float(choose.random() < chance))


def test_strengths_are_estimated_from_matches():
    truth = {"a": 1.0, "b": 0.2, "c": -0.2, "d": -1.0}
    found = bradley_terry([*tournament(random.Random(1), truth, 4_000)])
    assert list(found) == ["a", "b", "c", "d"]
    assert {name: found[name].value for name in truth} == pytest.approx(truth, abs=0.15)
    assert sum(each.value for each in found.values()) == pytest.approx(0, abs=1e-9)
    for name, strength in found.items():
        assert strength.interval[0] < truth[name] < strength.interval[1]


def test_a_contestant_that_wins_all_has_a_finite_strength():
    found = bradley_terry([Match("a", "b", 1.0)] * 20)
    low, high = found["a"].interval
    assert 0 < low < found["a"].value < high < 5
    assert found["a"].matches == 20
    grouped = bradley_terry([Match("a", "b", 1.0 * (i < 9), i % 2) for i in range(12)])
    alone = bradley_terry([Match("a", "b", 1.0 * (i < 9)) for i in range(12)])
    assert grouped["a"].value == pytest.approx(alone["a"].value)
    assert grouped["a"].interval[0] < alone["a"].interval[0] + 1e-9
    even = bradley_terry([Match("a", "b", 0.5)] * 20)
    assert even["a"].value == pytest.approx(0)


@pytest.mark.nightly
def test_intervals_cover_the_strengths():
    truth = {"a": 0.6, "b": 0.0, "c": -0.6}
    choose = random.Random(2)
    right, draws = 0, 200
    for _ in range(draws):
        found = bradley_terry([*tournament(choose, truth, 300)])
        right += sum(
            found[name].interval[0] <= truth[name] <= found[name].interval[1] for name in truth
        )
    assert right / (3 * draws) >= 0.925
