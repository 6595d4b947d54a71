"""Calls that are alike stand for each other where that keeps the order that is asked for."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import at_most

from llmeval_integrations import InvalidOptionError, ToolCalls

pytestmark = pytest.mark.once


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


F, G, H = call("f"), call("g"), call("h")


@pytest.mark.parametrize(
    ("made", "expected", "before", "score", "reason"),
    [
        ([F, G, F], [F, F, G], [(1, 2)], 1, "All 3 calls are right"),
        ([F, G, F], [F, F, G], [(0, 2)], 1, "All 3 calls are right"),
        ([F, G, F], [F, F, G], [("f", "g")], 2 / 3, "g out of order"),
        ([F, G, F], [F, F, G], [(0, 2), (1, 2)], 2 / 3, "g out of order"),
        ([G, F, F], [F, F, G], [(1, 2)], 2 / 3, "g out of order"),
        ([F, G, H, F], [H, G, F], [(2, 1)], 3 / 4, "f extra"),
        ([G, F], [F, F, G], [(1, 2)], 2 / 3, "f missing"),
        ([G, G, F], [F, G], [(0, 1)], 1 / 3, "g out of order; g extra"),
        ([F, G, F, G], [F, G, F, G], [(2, 1)], 1, "All 4 calls are right"),
        ([call("f", n=1), G, call("f", n=2)], [call("f", n=2), call("f", n=1), G], [(1, 2)], 1, "All 3 calls are right"),
        ([call("f", n=1), G, call("f", n=2)], [call("f", n=2), call("f", n=1), G], [(0, 2)], 2 / 3, "g out of order"),
        ([call("f", n=1), G, call("f", n=2)], [call("f", n=3), call("f", n=3), G], [(1, 2)], 2 / 3, "f: /n 2, expected 3; f: /n 1, expected 3"),
    ],
)  # fmt: skip
def test_only_an_order_that_no_pairing_keeps_is_a_fault(made, expected, before, score, reason):
    result = ToolCalls(order="partial", before=before)(made, expected)
    assert (result.score, result.reason) == (pytest.approx(score), reason)


LOGIN, STEP = call("login"), call("step")


@pytest.mark.parametrize(
    ("made", "expected", "before", "score", "reason"),
    [
        ([*[STEP] * 9, LOGIN], [LOGIN, *[STEP] * 9], [("login", "step")], 9 / 10, "login out of order"),
        ([*[STEP] * 9, LOGIN], [LOGIN, *[STEP] * 9], [(0, n) for n in range(1, 10)], 9 / 10, "login out of order"),
        ([G, H, F], [F, G, H], [(0, 1), (0, 2)], 2 / 3, "f out of order"),
        ([H, F, G], [F, G, H], [(0, 2), (1, 2)], 2 / 3, "h out of order"),
        ([H, F], [F, G, H], [(0, 1), (1, 2)], 1 / 3, "g missing; h out of order"),
        ([H, F], [F, H], [("f", "g"), ("g", "h")], 1 / 2, "h out of order"),
        ([H, G, F], [F, G, H], [(0, 1), (1, 2)], 1 / 3, "g out of order; h out of order"),
        # The two that are half right are as much as the one that is right: fewer are blamed.
        ([call("g", n=2), call("h", n=2), F], [F, call("g", n=1), call("h", n=1)], [(0, 1), (0, 2)], 1 / 3, "f out of order; g: /n 2, expected 1; h: /n 2, expected 1"),
        # Of two calls the one that is wrong anyway.
        ([G, call("f", n=2)], [call("f", n=1), G], [(0, 1)], 1 / 2, "f out of order"),
        # In order these are wrong, and still more right than out of order.
        ([call("f", n=2), G, call("f", n=1)], [call("f", n=1), G, call("f", n=2)], [(0, 1), (1, 2)], 2 / 3, "f: /n 2, expected 1; f: /n 1, expected 2"),
        # Another one of those that are as near keeps the order.
        ([call("f", n=1), H, call("f", n=0), call("f", n=0)], [call("f", n=0), call("f", n=2), H], [("h", 1)], 5 / 8, "f: /n 0, expected 2; f extra"),
        ([call("f", n=0), call("f", n=1), H, call("f", n=0)], [call("f", n=0), call("f", n=2), H], [("h", 1)], 5 / 8, "f: /n 0, expected 2; f extra"),
        # As much is right with two that are wholly right, and one out of order.
        ([call("f", n=1), G, call("f", n=2)], [call("f", n=2), call("f", n=1), G], [(0, 2)], 2 / 3, "g out of order"),
    ],
)  # fmt: skip
def test_those_to_blame_are_as_few_as_can_be(made, expected, before, score, reason):
    result = ToolCalls(order="partial", before=before)(made, expected)
    assert (result.score, result.reason) == (pytest.approx(score), reason)
    if before == [(n, n + 1) for n in range(len(expected) - 1)]:
        assert result.score >= ToolCalls(order="strict")(made, expected).score


def closed(before):
    """Give all pairs that follow."""
    found = set(before)
    for _ in before:
        found |= {(a, d) for a, b in found for c, d in found if b == c}
    return found


def most_in_order(names, expected, before):
    """Give the most that are in order, whichever of those of one name is which."""
    most = 0
    before = closed(before)
    for places in itertools.permutations(range(len(names))):
        if any(names[row] != expected[column] for column, row in enumerate(places)):
            continue
        clashes = [pair for pair in before if places[pair[1]] < places[pair[0]]]
        for size in range(len(names), most, -1):
            if any(
                not any(set(pair) <= set(kept) for pair in clashes)
                for kept in itertools.combinations(range(len(names)), size)
            ):
                most = size
                break
    return most


positions = st.integers(0, 6)
upwards = st.lists(st.tuples(positions, positions), max_size=9).map(
    lambda pairs: [(min(pair), max(pair)) for pair in pairs if len(set(pair)) == 2]
)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 7),
    st.sampled_from(["abcdefg", "fgh", "fg"]),
    upwards,
    st.randoms(use_true_random=False),
)
def test_as_many_are_in_order_as_brute_force_finds(count, tools, before, choose):
    names = [tools[n % len(tools)] for n in range(count)]
    expected, made = choose.sample(names, count), choose.sample(names, count)
    before = [pair for pair in before if max(pair) < count]
    evaluator = ToolCalls(order="partial", before=before)
    calls = [call(name) for name in expected]
    result = evaluator([call(name) for name in made], calls)
    most = most_in_order(made, expected, before)
    assert result.metadata["right"] == most
    assert result.passed is (most == count)
    assert result.score == pytest.approx(most / count)
    again = ToolCalls(order="partial", before=before[::-1])([call(name) for name in made], calls)
    assert again == result


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("fgh"), st.integers(0, 2)), min_size=1, max_size=7),
    st.lists(st.tuples(st.sampled_from("fgh"), st.integers(0, 2)), max_size=7),
    upwards,
)
def test_what_strict_order_implies_costs_no_more_than_strict_order(expected, made, before):
    before = [pair for pair in before if max(pair) < len(expected)]
    calls = [[call(name, n=n, m=0) for name, n in some] for some in (made, expected)]
    strict, any_order = ToolCalls(order="strict")(*calls), ToolCalls()(*calls)
    partial = ToolCalls(order="partial", before=before)(*calls)
    assert strict.score <= partial.score + 1e-9
    assert partial.score <= any_order.score + 1e-9
    assert partial.passed or not strict.passed


def highest_in_order(made, expected, before):
    """Give the highest sum of scores of pairs in order, trying all ways to pair."""
    before = closed(before)

    def beyond(row, chosen):
        if row == len(made):
            return 0
        most = beyond(row + 1, chosen)
        for column, (name, n) in enumerate(expected):
            if name != made[row][0] or column in chosen:
                continue
            if not any((column, other) in before for other in chosen):
                score = (1 + (n == made[row][1])) / 2
                most = max(most, score + beyond(row + 1, {*chosen, column}))
        return most

    return beyond(0, frozenset())


tools_called = st.lists(st.tuples(st.sampled_from("fgh"), st.integers(0, 2)), min_size=1, max_size=7)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(tools_called, tools_called, upwards, st.permutations(range(7)))
def test_the_score_in_order_is_the_highest_that_brute_force_finds(made, expected, before, order):
    place = [n for n in order if n < len(expected)]
    before = [(place[a], place[b]) for a, b in before if b < len(expected)]
    calls = [[call(name, n=n) for name, n in some] for some in (made, expected)]
    result = ToolCalls(order="partial", before=before)(*calls)
    most = highest_in_order(made, expected, before) / max(len(made), len(expected))
    assert result.score == pytest.approx(most)
    assert "pairing_limit_reached" not in result.metadata
    again = ToolCalls(order="partial", before=before[::-1])(*calls)
    assert again == result


@pytest.mark.parametrize("many", [40, 150])
def test_a_search_without_end_is_cut_short_and_says_so(many):
    expected = [F] * many + [G] * many
    before = [(n, n + 1) for n in range(2 * many - 1)]
    with at_most(5):
        result = ToolCalls(order="partial", before=before)([G] * many + [F] * many, expected)
    assert result.metadata["pairing_limit_reached"]
    assert "10000" in result.reason


def test_a_name_that_no_tool_has_orders_nothing_and_is_refused():
    tools = [{"name": "f"}, {"name": "g"}]
    assert ToolCalls(tools, order="partial", before=[("f", "g"), (0, 1)])([F, G], [F, G]).passed
    with pytest.raises(InvalidOptionError, match="'serach'"):
        ToolCalls(tools, order="partial", before=[("f", "serach")])
    assert ToolCalls(order="partial", before=[("f", "serach")])([F, G], [F, G]).passed
