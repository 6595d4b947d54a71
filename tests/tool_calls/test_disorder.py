"""Those to blame for the order are the fewest there can be, as brute force finds them."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations.tool_calls.disorder import Disorder, weight
from llmeval_integrations.tool_calls.precedence import Precedence


def disorder(before, made, weights):
    precedence = Precedence.of(before, "abcdefg")
    found = Disorder(precedence)
    for call in made:
        found.add(call, weights[call])
    return found, precedence


def sets_of_the_least_cost(precedence, made, weights):
    """Try all sets of calls."""
    clashes = [
        (one, other)
        for one, other in itertools.combinations(made, 2)
        if precedence.after[other] >> one & 1
    ]
    best, least = [], float("inf")
    for chosen in itertools.product((False, True), repeat=len(made)):
        blamed = {call for call, is_blamed in zip(made, chosen) if is_blamed}
        if all(blamed & set(pair) for pair in clashes):
            cost = sum(weights[call] for call in blamed)
            if cost < least:
                best, least = [], cost
            if cost == least:
                best.append(blamed)
    return best, least


pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)
ordered = st.permutations(range(7))
# Of any order, since a pair goes from what comes first in it to what comes later.
partial_orders = st.builds(
    lambda found, order: [(order[min(pair)], order[max(pair)]) for pair in found if len(set(pair)) == 2],
    pairs,
    ordered,
)  # fmt: skip
weighted = st.lists(st.integers(1, 3), min_size=7, max_size=7)


@settings(max_examples=100, deadline=None)
@given(partial_orders, ordered, st.integers(0, 7), weighted)
def test_those_to_blame_are_a_set_of_the_least_cost(before, order, count, weights):
    made = order[:count]
    found, precedence = disorder(before, made, weights)
    best, least = sets_of_the_least_cost(precedence, made, weights)
    blamed = found.blamed()
    assert found.cost == least == sum(weights[call] for call in blamed)
    assert blamed in best
    # Of all these sets it is the one that leaves what was made late and comes before the others.
    left = set(made) - blamed
    for other in best:
        others = set(made) - other
        assert all(one in others or any(precedence.after[one] >> n & 1 for n in others) for one in left)  # fmt: skip


@given(partial_orders, ordered, weighted)
def test_a_copy_goes_on_by_itself(before, order, weights):
    whole, _ = disorder(before, order, weights)
    start, _ = disorder(before, order[:4], weights)
    cost, blamed = start.cost, start.blamed()
    copy = start.copy()
    for call in order[4:]:
        copy.add(call, weights[call])
    assert (copy.cost, copy.blamed()) == (whole.cost, whole.blamed())
    assert (start.cost, start.blamed()) == (cost, blamed)


def test_of_two_calls_the_one_that_came_too_early_is_to_blame_unless_it_weighs_more():
    assert disorder([(0, 1)], [1, 0], [1, 1])[0].blamed() == {1}
    assert disorder([(0, 1)], [1, 0], [1, 2])[0].blamed() == {0}


@pytest.mark.parametrize("parts", range(1, 17))
def test_shares_of_as_many_parts_add_up_to_what_the_whole_costs(parts):
    shares = sum(weight(n / parts) - 1 for n in (1, parts - 1))
    assert shares == weight(1) - 1 < weight(1) < weight(1 / parts) + weight((parts - 1) / parts)
