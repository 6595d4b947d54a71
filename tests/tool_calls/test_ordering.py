"""Calls that are alike stand for each other where that keeps the order that is asked for."""

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import InvalidOptionError, ToolCalls


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


def out_of_order(names, expected, before):
    """Give the fewest that are out of order, whichever of those of one name is which."""
    fewest = len(expected)
    for places in itertools.permutations(range(len(names))):
        if any(names[row] != expected[column] for column, row in enumerate(places)):
            continue
        late = {then for first, then in before if places[then] < places[first]}
        fewest = min(fewest, len(late))
    return fewest


positions = st.integers(0, 5)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from("fg"), min_size=6, max_size=6),
    st.lists(st.tuples(positions, positions), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
)
def test_as_few_are_out_of_order_as_brute_force_finds(expected, before, choose):
    made = choose.sample(expected, 6)
    evaluator = ToolCalls(order="partial", before=before)
    calls = [call(name) for name in expected]
    result = evaluator([call(name) for name in made], calls)
    assert result.metadata["right"] == 6 - out_of_order(made, expected, before)
    again = ToolCalls(order="partial", before=before[::-1])([call(name) for name in made], calls)
    assert again.score == result.score


@pytest.mark.parametrize("many", [40, 150])
def test_a_search_without_end_is_cut_short_and_says_so(many):
    expected = [F] * many + [G] * many
    before = [(n, n + 1) for n in range(2 * many - 1)]
    start = time.perf_counter()
    result = ToolCalls(order="partial", before=before)([G] * many + [F] * many, expected)
    assert time.perf_counter() - start < 5
    assert result.metadata["pairing_limit_reached"]
    assert "10000" in result.reason


def test_a_name_that_no_tool_has_orders_nothing_and_is_refused():
    tools = [{"name": "f"}, {"name": "g"}]
    assert ToolCalls(tools, order="partial", before=[("f", "g"), (0, 1)])([F, G], [F, G]).passed
    with pytest.raises(InvalidOptionError, match="'serach'"):
        ToolCalls(tools, order="partial", before=[("f", "serach")])
    assert ToolCalls(order="partial", before=[("f", "serach")])([F, G], [F, G]).passed
