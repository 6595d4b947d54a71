"""The pairing of calls is the best there is, as brute force finds it."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations.tool_calls.pairing import pair_by_name, pair_in_order

names = st.lists(st.sampled_from("fg"), max_size=7)


def scores(seed):
    """Make up a score for each pair."""
    choose = random.Random(seed)
    table = {
        place: choose.choice([0.25, 0.5, 0.75, 1.0])
        for place in itertools.product(range(7), repeat=2)
    }
    return lambda row, column: table[row, column]


def no_texts():
    raise AssertionError


def total(pairs, score):
    return sum(score(*pair) for pair in pairs)


def by_brute_force(made, expected, score, *, in_order):
    """Try every way to give the shorter list partners in the longer one."""
    turned = len(made) > len(expected)
    short, long = (expected, made) if turned else (made, expected)
    best = 0.0
    for places in itertools.permutations(range(len(long)), len(short)):
        pairs = [(there, here) if turned else (here, there) for here, there in enumerate(places)]
        pairs = [(row, column) for row, column in pairs if made[row] == expected[column]]
        # A pairing that crosses holds others that do not, each of which is tried by itself.
        for kept in subsets(pairs) if in_order else [pairs]:
            best = max(best, total(kept, score))
    return best


def subsets(pairs):
    """Give the largest sets of pairs that do not cross."""
    pairs = sorted(pairs)
    best = [[]]
    for row, column in pairs:
        best += [[*kept, (row, column)] for kept in best if not kept or kept[-1][1] < column]
    return best


@settings(max_examples=40, deadline=None)
@given(names, names, st.integers())
def test_a_pairing_in_any_order_is_what_brute_force_finds(made, expected, seed):
    score = scores(seed)
    pairs, reached = pair_by_name(made, expected, score, no_texts)
    assert not reached
    assert all(made[row] == expected[column] for row, column in pairs)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    found = by_brute_force(made, expected, score, in_order=False)
    assert total(pairs, score) == pytest.approx(found, abs=1e-4)


@settings(max_examples=40, deadline=None)
@given(names.map(lambda found: found[:5]), names.map(lambda found: found[:5]), st.integers())
def test_a_pairing_in_order_is_what_brute_force_finds(made, expected, seed):
    score = scores(seed)
    pairs, _ = pair_in_order(made, expected, score)
    assert pairs == sorted(pairs, key=lambda pair: pair[1])
    assert all(made[row] == expected[column] for row, column in pairs)
    found = by_brute_force(made, expected, score, in_order=True)
    assert total(pairs, score) == pytest.approx(found, abs=1e-4)
