"""Pairing items where they are too many to be tried with each other."""

import random

import pytest
from pace import at_most

from llmeval_integrations import JsonFields, JsonSimilarity

ANY_ORDER = JsonFields(defaults={"order": "any_order"})


def records(count, fields, values):
    """Records of numbers of which none tells a record from the others."""
    choose = random.Random(3)
    return [{f"f{n}": choose.randrange(values) for n in range(fields)} for _ in range(count)]


def shuffled(items, seed=0):
    return random.Random(seed).sample(items, len(items))


@pytest.mark.parametrize("count", [200, 201, 300, 1_000])
@pytest.mark.parametrize("evaluator", [ANY_ORDER, JsonSimilarity()])
def test_the_score_does_not_fall_where_there_are_too_many_for_the_best_pairing(count, evaluator):
    reference = records(count, fields=10, values=21)
    output = shuffled([{**record, "f0": -1} for record in reference])
    with at_most(2):
        result = evaluator(output, reference)
    assert result.score == pytest.approx(0.9, abs=0.001)


def test_the_result_names_the_array_and_hangs_on_no_order():
    reference = records(400, fields=4, values=6)
    output = [{**record, "f0": -1} for record in reference]
    turned = [dict(reversed(record.items())) for record in output]
    first, *others = (
        ANY_ORDER(shuffled(output, seed), shuffled(reference, -seed)) for seed in range(5)
    )
    others.append(ANY_ORDER(shuffled(turned), reference))
    assert first.metadata["limit_reached"] == [""]
    assert {each.score for each in others} == {first.score}


def test_what_all_items_share_does_not_keep_the_telling_from_being_found():
    reference = [
        {"id": f"i{n}", "currency": "EUR", "vat": 19, "unit": "piece", "quantity": n % 7}
        for n in range(1_000)
    ]
    output = shuffled([{**record, "quantity": -1} for record in reference])
    assert ANY_ORDER(output, reference).score == pytest.approx(0.8)


def test_items_that_share_nothing_telling_are_paired_by_what_all_share():
    reference = [{"name": f"n{n}", "currency": "EUR"} for n in range(300)]
    output = shuffled([{"name": f"m{n}", "currency": "EUR"} for n in range(300)])
    assert ANY_ORDER(output, reference).score == pytest.approx(0.5)


def test_items_that_have_nothing_in_common_are_no_pair():
    reference = [{"name": f"n{n}", "price": n} for n in range(300)]
    output = shuffled([{"name": f"m{n}", "price": -1 - n} for n in range(300)])
    result = ANY_ORDER(output, reference)
    assert result.score == 0.0
    kinds = {outcome["kind"] for outcome in result.metadata["outcomes"]}
    assert kinds == {"missing", "extra"}


@pytest.mark.parametrize("count", [200, 201, 1_000])
def test_items_by_a_key_that_may_be_off_are_paired_where_there_are_too_many(count):
    by_time = JsonFields(fields={"": {"key": "at"}, "/*/at": {"tolerance": 0.01}})
    reference = [{"at": 10.0 * n, "name": f"n{n}", "rest": n % 7} for n in range(count)]
    output = [{**item, "at": item["at"] + 0.004} for item in reference]
    results = [by_time(shuffled(output, seed), shuffled(reference, -seed)) for seed in range(2)]
    assert [result.score for result in results] == [1.0, 1.0]
    moved = [{**item, "at": item["at"] + 1} for item in reference]
    assert by_time(moved, reference).score == 0.0  # as keys that do not match make no pair
