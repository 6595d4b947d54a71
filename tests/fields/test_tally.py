"""What became of each field over a run, by the documents that were counted."""

import random

import pytest

from llmeval_integrations import JsonFields, evaluate
from llmeval_integrations.fields.figures import SHARES

FIGURES = ("leaves", "match", "mismatch", "missing", "unreadable", "extra", "wrong_type")


def tallied(pairs, evaluator=None):
    """Give a run's figures of each field."""
    rows = [
        {"id": f"s{place}", "output": output, "reference": reference}
        for place, (output, reference) in enumerate(pairs)
    ]
    run = evaluate(rows, [evaluator or JsonFields()])
    return run.summary["evaluators"]["json_fields"]["fields"]


def test_each_field_has_its_figures():
    reference = {"vendor": "Acme", "items": [{"price": 1}, {"price": 2}]}
    fields = tallied(
        [
            (reference, reference),
            ({"vendor": "Acme", "items": [{"price": 1}, {"price": 3}]}, reference),
            ({"items": [{"price": "1"}], "note": "hm"}, reference),
        ]
    )
    assert list(fields) == ["/items/*/price", "/note", "/vendor"]  # the worst first
    price = fields["/items/*/price"]
    assert {name: price[name] for name in FIGURES} == {
        "leaves": 6,
        "match": 3,
        "mismatch": 1,
        "missing": 1,
        "unreadable": 0,
        "extra": 0,
        "wrong_type": 1,
    }
    assert price["precision"] == 3 / 5
    assert price["recall"] == 3 / 6
    assert price["f1"] == 6 / 11
    assert price["path_recall"] == 5 / 6
    assert price["value_accuracy"] == 3 / 5
    assert price["type_accuracy"] == 4 / 5
    assert price["path_recall"] == 5 / 6
    assert price["path_precision"] == 1
    assert price["path_f1"] == 10 / 11
    assert price["type_accuracy"] == 4 / 5
    assert price["wrong_values"] == [
        {"output": "3", "reference": "2", "count": 1},
        {"output": '"1"', "reference": "1", "count": 1},
    ]
    assert price["examples"] == ["s1", "s2"]
    assert fields["/note"]["precision"] == 0
    assert fields["/note"]["recall"] is None
    assert fields["/vendor"]["recall"] == 2 / 3
    assert fields["/vendor"]["examples"] == ["s2"]


def test_what_could_not_be_read_is_told_from_what_was_left_out():
    fields = tallied(
        [
            ('{"a": 1, "b": 2', {"a": 1, "b": 2}),
            ("I cannot do that.", {"a": 1, "b": 2}),
            ('{"a": 1}', {"a": 1, "b": 2}),
        ]
    )
    assert {path: (each["missing"], each["unreadable"]) for path, each in fields.items()} == {
        "/a": (2, 2),
        "/b": (3, 2),
    }
    assert fields["/a"]["recall"] == 1 / 3  # the application gets nothing either way
    assert fields["/a"]["examples"] == []
    assert fields["/b"]["examples"] == ["s2"]


def test_the_most_frequent_wrong_values_come_first():
    values = ["€"] * 5 + ["Eur"] * 3 + ["EURO"] + [f"{number}" for number in range(1_000)]
    random.Random(3).shuffle(values)
    [currency] = tallied([({"c": value}, {"c": "EUR"}) for value in values]).values()
    assert currency["mismatch"] == len(values)
    assert len(currency["wrong_values"]) == 5
    assert [(each["output"], each["count"]) for each in currency["wrong_values"][:1]] == [
        ('"€"', 5)
    ]
    assert len(currency["examples"]) == 3


def test_beyond_five_hundred_wrong_values_the_rest_is_counted_together():
    values = ["N/A"] * 9 + [f"u{number}" for number in range(2_000)] + ["N/A"] * 56 + ["-"] * 8
    [field] = tallied([({"v": value}, {"v": "ok"}) for value in values]).values()
    assert field["wrong_values"][0] == {"output": '"N/A"', "reference": '"ok"', "count": 65}
    assert field["other_wrong_values"] == 2_000 - 499 + 8
    [field] = tallied([({"v": value}, {"v": "ok"}) for value in values[-400:]]).values()
    assert "other_wrong_values" not in field
    assert [each["count"] for each in field["wrong_values"][:3]] == [56, 8, 1]


def test_long_values_are_cut():
    [text] = tallied([({"t": "x" * 5_000}, {"t": "y"})]).values()
    assert len(text["wrong_values"][0]["output"]) == 200


def test_beyond_a_thousand_fields_the_rest_is_counted_together():
    names = [f"k{number}" for number in range(1_200)]
    fields = tallied([(dict.fromkeys(names, 1), dict.fromkeys(names, 2))])
    assert len(fields) == 1_001
    assert list(fields)[-1] == "(other)"
    assert fields["(other)"]["mismatch"] == 200


def test_what_is_no_value_counts_for_a_field_what_it_counts_for_a_sample():
    fields = tallied(
        [({"addr": "x"}, {"addr": {"street": "x"}})] * 10 + [({"addr": []}, {"addr": []})] * 5
    )
    addr = fields["/addr"]
    assert (addr["leaves"], addr["match"], addr["wrong_type"]) == (15, 5, 10)
    assert (addr["precision"], addr["recall"], addr["value_accuracy"]) == (0.0, None, None)


@pytest.mark.parametrize("seed", range(5))
def test_over_one_sample_with_one_field_the_figures_are_the_samples(seed):
    chance = random.Random(seed)
    values = ["x", "y", 1, True, None, [], {}, {"s": 1}, [1], [["x"], []]]
    for _ in range(100):
        output, reference = ({"a": chance.choice(values)} for _ in range(2))
        metadata = JsonFields()(output, reference).metadata
        fields = tallied([(output, reference)])
        if len(fields) == 1:
            [field] = fields.values()
            for name in SHARES:
                assert field[name] == metadata[name], (output, reference, name)
