"""Kappa and alpha, compared with other packages and published figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations.stats.agreement import (
    Rating,
    kappa,
    krippendorff_alpha,
    pair_agreement,
)

pairs = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=60)


def table(rows):
    numpy = pytest.importorskip("numpy")
    counts = numpy.zeros((4, 4))
    for first, second in rows:
        counts[first - 1, second - 1] += 1
    return counts


@given(pairs)
def test_kappa_is_that_of_statsmodels(rows):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    ratings = [Rating(*row) for row in rows]
    for numbers, weights in ((False, None), (True, "quadratic")):
        found = kappa(ratings, numbers=numbers)
        if found is None:
            assert len({each for row in rows for each in row}) == 1
            continue
        other = inter_rater.cohens_kappa(table(rows), wt=weights)
        assert found.value == pytest.approx(other.kappa, abs=1e-9)
        assert found.interval[0] - 1e-9 <= found.value <= found.interval[1] + 1e-9


@pytest.mark.parametrize(
    "chances",
    [
        [[0.45, 0.05], [0.05, 0.45]],
        [[0.665, 0.035], [0.12, 0.18]],
        [[0.882, 0.018], [0.01, 0.09]],
        [[0.693, 0.007], [0.006, 0.294]],  # hardly ever wrong
    ],
)
@pytest.mark.nightly
def test_the_interval_of_kappa_covers_it(chances):
    numpy = pytest.importorskip("numpy")
    choose = numpy.random.default_rng(3)
    flat = [each for row in chances for each in row]
    agreed = flat[0] + flat[3]
    passes, judged = flat[0] + flat[1], flat[0] + flat[2]
    chance = passes * judged + (1 - passes) * (1 - judged)
    truth = (agreed - chance) / (1 - chance)
    for n, least in ((60, 0.92), (200, 0.935)):
        right = draws = 0
        for _ in range(2000):
            counts = choose.multinomial(n, flat)
            rows = [Rating(i // 2, i % 2) for i, count in enumerate(counts) for _ in range(count)]
            found = kappa(rows)
            if found is not None:
                draws += 1
                right += found.interval[0] <= truth <= found.interval[1]
        assert right / draws >= least


# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), example C: 4 observers, 12 units.
UNITS = [
    [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [5, 5, 5], [1, 1], [3],
]  # fmt: skip


def test_alpha_is_as_published():
    assert krippendorff_alpha(UNITS) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(UNITS, numbers=True) == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha([[1], [2]]) is None


def test_pairs_of_equal_ratings_are_counted():
    assert pair_agreement([["a", "a", "b"], ["a"], ["b", "b"]]) == (2, 4)
