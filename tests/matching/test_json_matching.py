"""Pairing rows with columns: as many as there can be."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import law
from pace import at_most

from llmeval_integrations.matching.json_matching import match

graphs = st.integers(0, 4).flatmap(
    lambda columns: st.tuples(
        st.lists(
            st.lists(st.integers(0, columns - 1), unique=True) if columns else st.just([]),
            max_size=5,
        ),
        st.just(columns),
    )
)


def most_pairs(candidates: list[list[int]], columns: int) -> int:
    """Try every way to hand out the columns."""
    rows = len(candidates)
    hands = permutations([*range(columns), *[-1] * rows], rows)
    return max(sum(column in candidates[row] for row, column in enumerate(hand)) for hand in hands)


@law
@given(graphs)
def test_as_many_are_paired_as_can_be(graph):
    candidates, columns = graph
    pairs = match(candidates, columns)
    assert all(column in candidates[row] for row, column in pairs.items())
    assert len(set(pairs.values())) == len(pairs) == most_pairs(candidates, columns)


@pytest.mark.parametrize(
    ("candidates", "columns", "pairs"),
    [
        ([], 0, 0),
        ([[]], 1, 0),
        ([[0], [0]], 1, 1),
        ([[0, 1], [0]], 2, 2),  # first come, first served pairs one of them
        ([[0, 1], [0, 2], [0]], 3, 3),
        ([[0, 1]] * 5, 2, 2),
    ],
)
def test_a_pair_gives_way_where_another_is_found(candidates, columns, pairs):
    assert len(match(candidates, columns)) == pairs


@pytest.mark.parametrize(
    "candidates",
    [
        [list(range(700))] * 700,
        [list(range(350))] * 700,
        [list(range(row + 1)) for row in range(700)],
        [[row, row + 1] for row in range(699)] + [[0]],
        [[row + 1, row] for row in range(699)] + [[699]] * 2,
    ],
    ids=["all", "half too many", "stairs", "chain", "chain back"],
)
def test_700_rows_are_quick(candidates):
    with at_most(3):
        match(candidates, 700)
