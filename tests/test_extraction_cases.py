"""The figures that practitioners count by hand for 40 extractions."""

import json
from pathlib import Path

import pytest

from llmeval_integrations import JsonFields

FILE = Path(__file__).parents[2] / "shared" / "data" / "extraction" / "cases.jsonl"
OPTIONS = ("nulls", "empty")
"""The rules that are options of the evaluator; the others are settings of all fields."""
pytestmark = pytest.mark.skipif(not FILE.exists(), reason="the shared data are not here")


def read_cases():
    return [json.loads(line) for line in FILE.read_text().splitlines()]


def has_figures(case, rules):
    options = {name: rules[name] for name in OPTIONS if name in rules}
    defaults = {name: value for name, value in rules.items() if name not in OPTIONS}
    output, reference = (
        value if isinstance(value, str) else json.dumps(value)
        for value in (case["output"], case["reference"])
    )
    found = JsonFields(case["schema"], defaults=defaults, **options)(output, reference).metadata
    names = {
        "matched": "right",
        "output_leaves": "output_leaves",
        "reference_leaves": "reference_leaves",
    }
    return all(found[ours] == case[theirs] for ours, theirs in names.items())


def test_most_cases_are_right_as_they_come():
    assert sum(has_figures(case, {}) for case in read_cases()) >= 27


def test_all_cases_are_right_with_the_rules_that_they_name():
    wrong = [case["name"] for case in read_cases() if not has_figures(case, case["rules"])]
    assert wrong == []
