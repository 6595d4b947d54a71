"""Tasks that were tried several times."""

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations.stats.repeats import Tries, pass_at_k, pass_hat_k, repeats

TRIES = st.integers(1, 8).flatmap(lambda n: st.builds(Tries, st.integers(0, n), st.just(n)))


@given(TRIES)
def test_pass_at_k_is_the_share_of_all_draws_of_k_tries(tries):
    outcomes = [True] * tries.passes + [False] * (tries.n - tries.passes)
    for k in range(1, tries.n + 1):
        drawn = [*combinations(outcomes, k)]
        assert pass_at_k(tries, k) == pytest.approx(sum(map(any, drawn)) / len(drawn))
        assert pass_hat_k(tries, k) == pytest.approx(sum(map(all, drawn)) / len(drawn))


def test_k_is_reported_with_intervals_if_half_of_the_tasks_have_k_tries():
    found = repeats(Counter({Tries(5, 5): 10, Tries(3, 5): 6, Tries(0, 5): 4}))
    assert [(each["k"], each["tasks"]) for each in found] == [(k, 20) for k in range(1, 6)]
    assert found[0]["pass_at_k"] == pytest.approx(found[0]["pass_hat_k"]) == pytest.approx(0.68)
    assert (found[4]["pass_at_k"], found[4]["pass_hat_k"]) == (0.8, 0.5)
    for each, name in product(found, ("pass_at_k", "pass_hat_k")):
        low, high = each[f"{name}_ci95"]
        assert 0 <= low < each[name] < high <= 1
    found = repeats(Counter({Tries(4, 4): 2, Tries(2, 4): 1, Tries(1, 2): 3}))
    assert [(each["k"], each["tasks"]) for each in found] == [(1, 6), (2, 6), (3, 3), (4, 3)]
    assert repeats(Counter()) == []
    assert repeats(Counter({Tries(1, 2): 1}))[0]["pass_at_k_ci95"] is None
