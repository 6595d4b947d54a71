"""What leaves come to: one score, F1, and what is left out of it."""

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest

from llmeval_integrations import JsonFields

ANY = {"defaults": {"order": "any_order"}}
ORDERED = {"defaults": {"order": "ordered"}}
EMPTY, NULLS = {"empty": "values"}, {"nulls": "values"}
SIMILAR = {"fields": {"/v": {"similarity": 0.8}}}

# options, reference, output, then M, O, R, and the outcomes
TABLE = [
    ({}, {"a": 1, "b": 2}, {"a": 1, "b": 2}, (2, 2, 2), []),
    ({}, {"a": 1, "b": 2}, {"a": 1, "b": 3}, (1, 2, 2), [("/b", "mismatch")]),
    ({}, {"a": 1, "b": 2}, {"a": 1}, (1, 1, 2), [("/b", "missing")]),
    ({}, {"a": 1}, {"a": 1, "b": 2}, (1, 2, 1), [("/b", "extra")]),
    (ANY, ["a", "b", "c"], ["a", "b", "x"], (2, 3, 3), [("/2", "mismatch")]),
    (ANY, ["a", "b", "c"], ["x", "c", "b"], (2, 3, 3), [("/0", "mismatch")]),
    ({}, ["a", "b", "c"], ["b", "c"], (2, 2, 3), [("/0", "missing")]),
    (ORDERED, ["a", "b", "c"], ["b", "c"], (0, 2, 3), [("/0", "mismatch"), ("/1", "mismatch"), ("/2", "missing")]),
    ({}, {"a": 1, "t": []}, {"a": 1}, (1, 1, 1), []),
    (EMPTY, {"a": 1, "t": []}, {"a": 1}, (1, 1, 2), [("/t", "missing")]),
    ({}, {"a": None, "b": 1}, {"a": "x", "b": 1}, (1, 2, 1), [("/a", "extra")]),
    (NULLS, {"a": None, "b": 1}, {"a": "x", "b": 1}, (1, 2, 2), [("/a", "mismatch")]),
    ({}, {"a": {"b": 1, "c": 2}}, {"a": 5}, (0, 1, 2), [("/a", "wrong_type"), ("/a/b", "missing"), ("/a/c", "missing")]),
    (SIMILAR, {"v": "Harbour"}, {"v": "Harbor"}, (6 / 7, 1, 1), [("/v", "match")]),
    # from the inside out
    ({}, {}, {"a": {"b": None}}, (0, 0, 0), []),
    ({}, {"a": 1}, {"a": 1, "b": {"c": {"d": []}}}, (1, 1, 1), []),
    ({}, [None, {}, []], [None, {}, []], (3, 3, 3), []),
    ({}, [{"a": None}], [{}], (1, 1, 1), []),
    ({}, {}, 5, (0, 1, 0), [("", "extra")]),
    ({"fields": {"/a": {"ignore": True}}}, {"a": 1}, {"a": 2}, (0, 0, 0), []),
    ({"fields": {"/a": {"ignore": True}}}, {}, {"a": 2, "b": 3}, (0, 1, 0), [("/b", "extra")]),
    ({"fields": {"/a/b": {"ignore": True}}}, {"a": {"b": 1}}, {}, (0, 0, 0), []),
    ({"fields": {"/a/b": {"ignore": True}}}, {"c": 1}, {"a": {"b": {"x": [1]}}, "c": 1}, (1, 1, 1), []),
    ({"fields": {"/*/b": {"ignore": True}}}, [{"b": 1}], [{}], (0, 0, 0), []),
    ({**ANY, "fields": {"/*/b": {"ignore": True}}}, [[], {}, {}], [{"b": 1}, [], {"b": 2}], (1, 1, 1), []),
    ({"defaults": {"ignore": True}, "fields": {"/a": {"ignore": False}}}, {"a": 1, "b": 2}, {"a": 1, "c": [3]}, (1, 1, 1), []),
    ({"fields": {"/a": {"weight": 3}}}, {"a": 1, "b": 1}, {"a": 1, "b": 2}, (3, 4, 4), [("/b", "mismatch")]),
    # what is left over of arrays
    (ANY, [{"a": 1, "b": 2}], [{"a": 3, "b": 4}], (0, 2, 2), [("/0/a", "missing"), ("/0/b", "missing"), ("/0/a", "extra"), ("/0/b", "extra")]),
    ({}, [1, {"a": 1}, 2], [{"a": 1}, 3], (1, 2, 3), [("/0", "missing"), ("/1", "mismatch")]),
]  # fmt: skip


@pytest.mark.parametrize(("options", "reference", "output", "leaves", "outcomes"), TABLE)
def test_leaves_and_score(options, reference, output, leaves, outcomes):
    result = JsonFields(**options)(json.dumps(output), json.dumps(reference))
    found = result.metadata
    names = ("matched", "output_leaves", "reference_leaves")
    assert tuple(found[name] for name in names) == pytest.approx(leaves)
    kinds = [(one["pointer"], one["kind"]) for one in found["outcomes"]]
    assert sorted(kinds) == sorted(outcomes)
    matched, here, there = leaves
    assert (
        result.score
        == found["f1"]
        == pytest.approx(2 * matched / (here + there) if here + there else 1)
    )
    assert found["precision"] == (pytest.approx(matched / here) if here else None)
    assert found["recall"] == (pytest.approx(matched / there) if there else None)
    assert result.passed == all(kind == "match" for _, kind in outcomes)


def test_a_leaf_without_weight_fails_nothing():
    result = JsonFields(fields={"/a": {"weight": 0}})({"a": 1, "b": 2}, {"a": 3, "b": 2})
    assert (result.score, result.passed) == (1.0, True)
    assert [one["kind"] for one in result.metadata["outcomes"]] == ["mismatch"]


def test_a_threshold_passes_by_the_score():
    assert JsonFields(threshold=0.5)({"a": 1, "b": 2}, {"a": 1, "b": 3}).passed
    assert not JsonFields(threshold=0.6)({"a": 1, "b": 2}, {"a": 1, "b": 3}).passed
    graded = JsonFields(**SIMILAR, threshold=0.9)({"v": "Harbor"}, {"v": "Harbour"})
    assert (graded.passed, graded.label) == (False, None)
    near = '/v "Harbor", expected "Harbour"; F1 0.8571 < 0.9'
    assert graded.reason == f"Every field matches, but not in full: {near}"


# --- loosening never costs -----------------------------------------------------------------------

LOOSER = [
    [{"order": "ordered"}, {"order": "aligned"}, {"order": "any_order"}],
    [{"similarity": 0.9}, {"similarity": 0.6}, {"similarity": 0.3}],
    [{"tolerance": 0}, {"tolerance": 0.5}, {"tolerance": 5}],
    [{}, {"coerce": True}, {"coerce": True, "number": "any"}],
    [{"similarity": 0.6, "tolerance": 1}, {"similarity": 0.6, "tolerance": 1, "number": "any"}],
    [{"similarity": 0.6, "tolerance": 1}, {"similarity": 0.6, "tolerance": 1, "coerce": True}],
    [{}, {"pattern": "a.*"}],
    [{}, {"format": "date-time"}, {"format": "date-time", "dates": "any"}],
    [{"min_similarity": 1}, {"min_similarity": 0.7}, {"min_similarity": 0.3}, {}],
    [
        {},
        {"ignore_case": True},
        {"ignore_case": True, "ignore_whitespace": True},
        {"text": "loose"},
    ],
    [
        {"similarity": 0.7},
        {"similarity": 0.7, "ignore_whitespace": True},
        {"similarity": 0.7, "text": "loose"},
    ],
]
LEAVES = [1, 2, 3, 10, 10.4, "a", "b", "A", " a", "abc", "abd", "abcdef", "a    b", "A    c", "1", "$1", "€1", "2.0", "true", None, True, [], {},
    "2024-01-05", "5 Jan 2024", "2024-01-05T00:00:00+01:00", "2024-01-04T23:00:00Z", "2024-01-04T23:00:00"]  # fmt: skip


def document(choose, depth):
    kind = choose.random()
    if depth == 0 or kind < 0.3:
        return choose.choice(LEAVES)
    if kind < 0.65:
        return [document(choose, depth - 1) for _ in range(choose.randrange(5))]
    names = choose.sample("abcd", choose.randrange(5))
    return {name: document(choose, depth - 1) for name in names}


def change(choose, value):
    if choose.random() < 0.12:
        return document(choose, 1)
    if isinstance(value, list):
        items = [change(choose, item) for item in value if choose.random() > 0.1]
        return choose.sample(items, len(items)) if choose.random() < 0.4 else items
    if isinstance(value, dict):
        return {name: change(choose, part) for name, part in value.items()}
    return value


def pairs(count):
    choose = random.Random(5)
    for _ in range(count):
        reference = document(choose, 3)
        yield change(choose, reference), reference


def assert_loosening_never_costs(samples):
    for steps in LOOSER:
        for order in ("ordered", "aligned", "any_order")["min_similarity" in steps[0] :]:
            evaluators = [JsonFields(defaults={"order": order, **step}) for step in steps]
            for sample in samples:
                results = [evaluator.evaluate(sample) for evaluator in evaluators]
                if any("limit_reached" in result.metadata for result in results):
                    continue
                for tight, loose in pairwise(result.score for result in results):
                    assert tight <= loose + 1e-9, (steps, order, sample)


def random_samples(count):
    return [{"output": [output], "reference": [reference]} for output, reference in pairs(count)]


def test_loosening_never_costs():
    assert_loosening_never_costs(random_samples(150))


@pytest.mark.nightly
def test_loosening_never_costs_on_6000_pairs():
    assert_loosening_never_costs(random_samples(6_000))


SOB = sorted((Path(__file__).parents[3] / "shared" / "data" / "sob").glob("*.jsonl"))


@pytest.mark.nightly
@pytest.mark.skipif(not SOB, reason="the benchmark's data is not here")
@pytest.mark.parametrize("with_schema", [True, False])
def test_loosening_never_costs_on_real_outputs(with_schema):
    fields = ("output", "reference", *["schema"] * with_schema)
    records = [json.loads(line) for path in SOB for line in path.read_text("utf-8").splitlines()]
    assert len(records) == 6 * 209
    assert_loosening_never_costs([{name: record[name] for name in fields} for record in records])
