"""Which things are the most frequent, against counting all of them."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations.fields.frequent import MOST, Frequent


def counted(things):
    found = Frequent()
    for thing in things:
        found.add(thing)
    return found


def check(found, things):
    """Hold what was found against a count of all."""
    truth, error = Counter(things), len(things) / (MOST + 1)
    kept = {thing: (least, most) for thing, least, most in found.most_common(10**9)}
    assert len(kept) <= 500
    for thing, (least, most) in kept.items():
        assert 1 <= least <= truth[thing] <= most <= least + error
    for thing, times in truth.items():
        assert thing in kept or times <= error
    given = found.most_common(5)
    left_out = truth.keys() - {thing for thing, _, _ in given}
    if left_out:
        most = max(truth[thing] for thing in left_out)
        assert all(most <= truth[thing] + error for thing, _, _ in given)


@st.composite
def streams(draw):
    """Few or very many things, some more frequent, in random or the worst of orders."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    few = [f"f{place}" for place in range(draw(st.integers(0, 8)))]
    things = [thing for thing in few for _ in range(chance.randrange(1, 60))]
    things += [f"u{chance.randrange(10**9)}" for _ in range(draw(st.integers(0, 6_000)))]
    things += [
        f"p{int(chance.paretovariate(0.7)) % 10**9}" for _ in range(draw(st.integers(0, 2_000)))
    ]
    order = draw(st.sampled_from(["as it is", "turned", "sorted", "shuffled"]))
    if order == "shuffled":
        chance.shuffle(things)
    elif order == "sorted":
        things.sort()
    return things[::-1] if order == "turned" else things


@settings(max_examples=60, deadline=None)
@given(streams())
def test_bounds_hold_and_the_frequent_are_listed_in_any_order(things):
    check(counted(things), things)


@given(st.lists(st.integers(0, 499)))
def test_up_to_five_hundred_different_ones_are_counted_exactly(things):
    found = counted(things).most_common(10**9)
    assert all(least == most for _, least, most in found)
    assert {thing: least for thing, least, _ in found} == Counter(things)


def test_the_most_frequent_come_first_and_of_equals_the_first():
    assert counted("abcbac" + "d").most_common(3) == [("a", 2, 2), ("b", 2, 2), ("c", 2, 2)]


@pytest.mark.parametrize("late", [True, False])
def test_one_that_stands_together_is_found_at_either_end(late):
    rest = [f"u{number}" for number in range(20_000)]
    things = [*rest, *["N/A"] * 65] if late else [*["N/A"] * 65, *rest]
    [(thing, least, most)] = counted(things).most_common(1)
    assert (thing, least) == ("N/A", 65)
    assert most == (114 if late else 65)
