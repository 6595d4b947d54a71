"""Pairing the items of two arrays in any order: as many as fit, whatever their order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import clashing, law, nested

from llmeval_integrations.matching.json_bags import Bags

pytestmark = pytest.mark.once


def extended(value: Any, chance: Any) -> Any:
    """Put keys into objects here and there, and the items of arrays into another order."""
    if isinstance(value, dict):
        more = {key: chance.choice([0, [1], {"a": 1}]) for key in "abcd" if chance.random() < 0.3}
        return more | {key: extended(item, chance) for key, item in value.items()}
    if isinstance(value, list):
        return chance.sample([extended(item, chance) for item in value], len(value))
    return value


@law
@given(st.lists(clashing, max_size=6), st.randoms())
def test_extra_keys_and_another_order_leave_nothing_unpaired(reference, chance):
    output = extended(reference, chance)
    assert Bags().unpaired(output, reference, ignore_extra=True) == ([], [])


@pytest.mark.parametrize(
    ("output", "reference", "ignore_extra", "left"),
    [
        ([], [], True, ([], [])),
        ([1, True, 1.0], [1, 1], True, ([1], [])),
        ([[1, 2], [3]], [[2, 1], [4]], True, ([1], [1])),
        ([{"a": 1, "b": 2}], [{"a": 1}], True, ([], [])),
        ([{"a": 1, "b": 2}], [{"a": 1}], False, ([0], [0])),
        ([{"a": 1}], [{"a": 1, "b": 2}], True, ([0], [0])),
        ([[{"a": 1, "b": 2}, 0]], [[0, {"a": True}]], True, ([0], [0])),
        ([{}, {"a": {}}, {"a": []}], [{"a": []}, {"a": {}}, {"b": 0}], True, ([0], [2])),
        # One object has what two of the reference want between them.
        ([[{"a": 1, "b": 2}, {"c": 3}]], [[{"a": 1}, {"b": 2}]], True, ([0], [0])),
        ([[{"a": 1, "b": 2}, {"a": 1}]], [[{"a": 1}, {"b": 2}]], True, ([], [])),
    ],
)
def test_what_is_left(output, reference, ignore_extra, left):
    assert Bags().unpaired(output, reference, ignore_extra=ignore_extra) == left


@pytest.mark.parametrize(
    "shape",
    [
        lambda n: {"type": "x", "record": {"id": n, "same": 0}},
        lambda n: [[{"id": n}], []],
        lambda n: {"a": n // 25, "b": n % 25},
        lambda n: nested(8, n, "object"),
    ],
    ids=["objects in objects", "arrays", "two telling together", "far inside"],
)
def test_few_pairs_are_tried_where_something_tells_the_items_apart(shape):
    reference = [{"of": shape(n)} for n in range(600)]
    output = [{**item, "extra": 0} for item in reversed(reference)]
    bags = Bags()
    assert bags.unpaired(output, reference, ignore_extra=True) == ([], [])
    assert bags.tried < 20 * len(reference)


def test_beyond_the_limit_nothing_but_equal_items_are_paired():
    output = [{str(key): 0 for key in range(n + 1)} for n in range(900)]
    reference = [{str(n): 0} for n in range(900)]
    bags = Bags()
    spare, wanted = bags.unpaired(output, reference, ignore_extra=True)
    assert bags.exhausted
    assert 0 not in spare
    assert 0 not in wanted
    assert spare
    assert wanted
