"""Pairing rows with columns for the most weight."""

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations.matching.assignment import best_pairs


def total(weights, pairs):
    return sum(weights[row][column] for row, column in pairs)


def best_total(weights):
    if len(weights) > len(weights[0]):
        weights = [*zip(*weights)]
    columns = range(len(weights[0]))
    return max(
        sum(weights[row][column] for row, column in enumerate(chosen))
        for chosen in permutations(columns, len(weights))
    )


@st.composite
def tables(draw, weight):
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    return draw(
        st.lists(st.lists(weight, min_size=columns, max_size=columns), min_size=rows, max_size=rows)
    )


@settings(max_examples=150, deadline=None)
@given(tables(st.integers(0, 4)) | tables(st.integers(0, 1000)))
def test_no_other_pairing_has_more(weights):
    pairs = best_pairs(weights)
    assert total(weights, pairs) == best_total(weights)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert pairs == sorted(pairs)
    assert all(weights[row][column] > 0 for row, column in pairs)
