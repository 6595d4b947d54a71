"""What comes before what is transitive, by name and by position, and never contradicts itself."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations.tool_calls.precedence import Precedence, contradiction


def positions(number):
    return {n for n in range(number.bit_length()) if number >> n & 1}


@pytest.mark.parametrize(
    ("before", "names", "after"),
    [
        ([(0, 1), (1, 2)], "abc", [{1, 2}, {2}, set()]),
        ([("a", "b"), ("b", "c")], "cba", [set(), {0}, {0, 1}]),
        ([("a", "b"), ("b", "c")], "ca", [set(), {0}]),
        ([("a", "b")], "aabb", [{2, 3}, {2, 3}, set(), set()]),
        ([("a", 2), (2, 0)], "bac", [set(), {0, 2}, {0}]),
        ([(1, "a")], "aaa", [set(), {0, 2}, set()]),
        ([("a", 1)], "aaa", [{1}, set(), {1}]),
        ([("a", 0)], "a", [set()]),
        ([("x", "y")], "ab", [set(), set()]),
        ([], "ab", [set(), set()]),
    ],
)
def test_what_comes_after_a_call_follows_from_all_pairs(before, names, after):
    precedence = Precedence.of(before, names)
    assert list(map(positions, precedence.after)) == after
    turned = Precedence.of([(then, first) for first, then in before], names)
    assert (turned.after, turned.before) == (precedence.before, precedence.after)


@pytest.mark.parametrize(
    ("before", "names", "circle"),
    [
        ([("a", "b"), ("b", "a")], "", "'a' before 'b' before 'a'"),
        ([("a", "a")], "", "'a' before 'a'"),
        ([(0, 0)], "", "0 before 0"),
        ([("a", "b"), ("b", "c"), ("x", "b"), ("c", "a")], "", "'a' before 'b' before 'c' before 'a'"),
        ([(3, 0), (0, 1), (1, 2), (2, 0)], "", "0 before 1 before 2 before 0"),
        ([("a", 1), (1, "b"), ("b", "a")], "", "'a' before 1 before 'b' before 'a'"),
        ([("a", "b"), (1, 0)], "", None),
        ([("a", "b"), (1, 0)], "ab", "0 before 1 before 0"),
        ([("a", "b"), (1, 0)], "ba", None),
        ([("a", "b"), ("b", "c"), (1, 0)], "ac", "0 before 'b' before 1 before 0"),
        ([(0, "a")], "aa", None),
        ([("0", 0), ("a", "b"), ("a", "b")], "ab", None),
        ([(n, (n + 1) % 99) for n in range(99)], "", "0 before 1 before 2 before 3 before 4 before 5 before 6 before 7 before ... before 0"),
    ],
)  # fmt: skip
def test_a_contradiction_is_named(before, names, circle):
    found = contradiction(before, names)
    steps = found and found.split(" before ")
    told = circle and circle.split(" before ")
    if steps and "..." not in steps:  # a circle may begin anywhere
        starts = range(len(steps) - 1)
        turns = [steps[n:-1] + steps[: n + 1] for n in starts]
        assert told in turns
    else:
        assert bool(found) is bool(circle)
        assert found is None or len(steps) == len(told)


which = st.one_of(st.integers(0, 4), st.sampled_from("abc"))


@given(st.lists(st.tuples(which, which), max_size=6), st.text("abc", min_size=5, max_size=5))
def test_the_conclusions_are_those_of_going_through_all_pairs(before, names):
    if contradiction(before, names):
        return
    every = (
        names + "abc"
    )  # as if each tool had one call more, which stands for it where it has none
    calls = [n for n, name in enumerate(every) if n < len(names) or name not in names]
    after = {
        (one, other)
        for first, then in before
        for one, other in itertools.permutations(calls, 2)
        if first in (one, every[one]) and then in (other, every[other])
    }
    for _ in calls:
        after |= {(a, d) for a, b in after for c, d in after if b == c}
    found = Precedence.of(before, names).after
    kept = {pair for pair in after if max(pair) < len(names)}
    assert {(n, m) for n in range(len(names)) for m in positions(found[n])} == kept
