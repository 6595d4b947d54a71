"""Edits counted up to a bound: exact as far as is said, and never too few."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import law
from rapidfuzz.distance import Levenshtein

from llmeval_integrations.text import edit_distance
from llmeval_integrations.text.edit_distance import count_edits, exact_reach, measure

texts = st.text("abc", max_size=24)


@pytest.mark.parametrize("cells", [1, 4, 1_000])
def test_edits_are_exact_as_far_as_is_said_and_never_too_few(cells, monkeypatch):
    monkeypatch.setattr(edit_distance, "_MOST_CELLS", 64 * cells)
    monkeypatch.setattr(edit_distance, "_BLOCK", 8)

    @law
    @given(texts, texts, st.integers(0, 24))
    def check(one, other, most):
        edits = Levenshtein.distance(one, other)
        found = count_edits(most, one, other)
        sure = exact_reach(one, other)
        if edits <= min(most, sure):
            assert found == edits
        elif most <= sure:
            assert found > most
        else:
            assert min(found, most + 1) >= min(edits, most + 1)

    check()


def test_what_can_be_counted_is_what_is_measured():
    assert (
        count_edits(5, "kitten", "sitting")
        == measure("levenshtein", "kitten", "sitting", normalized=False)[0]
    )
    assert count_edits(1, "kitten", "sitting") > 1
    assert exact_reach("kitten", "sitting") == 7
