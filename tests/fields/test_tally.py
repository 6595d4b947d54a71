"""What became of each field over a run, by the documents that were counted."""

import pytest

from llmeval_integrations import JsonFields, evaluate


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
    evaluator = JsonFields(defaults={"order": "ordered"})
    fields = tallied(
        [
            (reference, reference),
            ({"vendor": "Acme", "items": [{"price": 1}, {"price": 3}]}, reference),
            ({"items": [{"price": "1"}], "note": "hm"}, reference),
        ],
        evaluator,
    )
    assert list(fields) == ["/items/*/price", "/note", "/vendor"]  # the worst first
    assert fields["/items/*/price"] == {
        "leaves": 6,
        "match": 3,
        "mismatch": 1,
        "missing": 1,
        "extra": 0,
        "wrong_type": 1,
        "unreadable": 0,
        "samples": 3,
        "wrong_samples": 2,
        "matched": 3,
        "output_leaves": 5,
        "reference_leaves": 6,
        "precision": 3 / 5,
        "recall": 3 / 6,
        "f1": 6 / 11,
        "wrong_values": [
            {"output": "3", "reference": "2", "count": 1},
            {"output": '"1"', "reference": "1", "count": 1},
        ],
        "examples": ["s1", "s2"],
    }
    assert (fields["/note"]["precision"], fields["/note"]["recall"]) == (0, None)
    assert (fields["/vendor"]["recall"], fields["/vendor"]["examples"]) == (2 / 3, ["s2"])


def test_what_could_not_be_read_is_told_from_what_was_left_out():
    reference = {"a": 1, "b": 2}
    fields = tallied([(output, reference) for output in ('{"a": 1, "b"', "No.", '{"a": 1}')])
    missing = {path: (each["missing"], each["unreadable"]) for path, each in fields.items()}
    assert missing == {"/a": (2, 2), "/b": (3, 2)}
    assert fields["/a"]["recall"] == 1 / 3  # the application gets nothing either way
    assert [fields[path]["examples"] for path in ("/a", "/b")] == [[], ["s2"]]


def test_wrong_values_are_counted_up_to_five_hundred_and_the_rest_together():
    values = ["N/A"] * 9 + [f"u{number}" for number in range(2_000)] + ["N/A"] * 56 + ["-"] * 8
    [field] = tallied([({"v": value}, {"v": "ok"}) for value in values]).values()
    assert (field["mismatch"], len(field["wrong_values"]), len(field["examples"])) == (2_073, 5, 3)
    assert field["wrong_values"][0] == {"output": '"N/A"', "reference": '"ok"', "count": 65}
    assert field["other_wrong_values"] == 2_000 - 499 + 8
    [field] = tallied([({"v": value}, {"v": "ok"}) for value in values[-400:]]).values()
    assert "other_wrong_values" not in field
    assert [each["count"] for each in field["wrong_values"][:3]] == [56, 8, 1]


def test_beyond_a_thousand_fields_the_rest_is_counted_together():
    names = [f"k{number}" for number in range(1_200)]
    fields = tallied([(dict.fromkeys(names, 1), dict.fromkeys(names, 2))])
    assert len(fields) == 1_001
    assert list(fields)[-1] == "(other)"
    assert fields["(other)"]["mismatch"] == 200


def test_a_value_in_the_place_of_an_object_is_a_leaf_of_one_side():
    pairs = [({"addr": "x"}, {"addr": {"street": "x"}})] * 10 + [({"addr": {"a": 1}}, {"addr": 5})]
    addr = tallied(pairs)["/addr"]
    assert (addr["leaves"], addr["wrong_type"]) == (11, 11)
    assert (addr["output_leaves"], addr["reference_leaves"], addr["f1"]) == (10, 1, 0)


def test_a_run_adds_up_all_leaves_and_averages_its_samples():
    reference = {"a": 1, "b": 2, "c": 3}
    pairs = [(reference, reference), ({"a": 1}, reference), ("no JSON", {"a": 1, "t": []})]
    rows = [{"output": output, "reference": expected} for output, expected in pairs]
    run = evaluate(rows, [JsonFields()])
    figures = run.summary["evaluators"]["json_fields"]
    assert figures["micro"] == {"precision": 1.0, "recall": 4 / 7, "f1": 8 / 11}
    assert figures["macro"] == pytest.approx({"precision": 1.0, "recall": 4 / 9, "f1": 1.5 / 3})
    assert figures["macro"]["f1"] == pytest.approx(figures["mean"])
    nothing = evaluate([{"output": "1"}], [JsonFields()]).summary["evaluators"]["json_fields"]
    assert nothing["micro"] == nothing["macro"] == dict.fromkeys(("precision", "recall", "f1"))


def test_graded_leaves_count_by_their_score():
    evaluator = JsonFields(defaults={"similarity": 0.5})
    [field] = tallied(
        [({"v": "abcd"}, {"v": "abcx"}), ({"v": "a"}, {"v": "a"})], evaluator
    ).values()
    assert (field["match"], field["matched"], field["f1"]) == (2, 1.75, 0.875)
    half = JsonFields(fields={"/v": {"compare": lambda *_: 0.5}})  # too little for a match
    [field] = tallied([({"v": 1}, {"v": 2}), ({"v": 1}, {"v": 1})], half).values()
    assert (field["match"], field["matched"], field["f1"]) == (1, 1.5, 0.75)
