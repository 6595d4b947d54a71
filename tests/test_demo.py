"""The demo data: what was done to an output is what the evaluators find."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from llmeval_integrations import JsonFields, JsonObject, JsonSchema, JsonValidity, Sample
from llmeval_integrations.demo import EVAL, OUTPUTS, SCHEMA

SCRIPT = Path(__file__).parent.parent / "tools" / "make_demo_data.py"

ROWS = [json.loads(line) for line in OUTPUTS.read_text(encoding="utf-8").splitlines()]
OUTPUTS_OF = [
    (row[defect], Sample(row[output], row["reference"], row["input"]))
    for row in ROWS
    for output, defect in (("output", "defect"), ("new_output", "new_defect"))
]

# Texts that are not JSON: the one label that every evaluator gives.
NOT_JSON = {
    "prose_before": "prose_around",
    "prose_after": "prose_around",
    "fence_in_prose": "prose_around",
    "reasoning_before": "prose_around",
    "truncated": "truncated",
    "trailing_comma": "trailing_comma",
    "single_quotes": "single_quotes",
    "python_literal": "python_literal",
    "comment": "comment",
    "raw_line_break": "control_character",
    "thousands_separator": "number",
    "unescaped_quote": "unescaped_quote",
    "apology": "prose",
    "empty": "empty",
}

# JSON in some mode: the labels of JsonObject (strict), JsonSchema, JsonFields; None passes.
JSON = {
    "none": (None, None, None),
    "code_fence": ("code_fence", None, None),
    "duplicate_key": ("duplicate_key", None, None),
    "reordered_items": (None, None, None),
    "missing_key": (None, "required", "missing"),
    "null_value": (None, "type", "missing"),
    "number_as_text": (None, "type", "wrong_type"),
    "extra_key": (None, "additionalProperties", "extra"),
    "hallucinated_field": (None, "additionalProperties", "extra"),
    "date_format": (None, "pattern", "mismatch"),
    "currency_symbol": (None, "pattern", "mismatch"),
    "wrong_value": (None, None, "mismatch"),
    "missing_item": (None, None, "missing"),
    "invented_item": (None, None, "extra"),
}


def samples_with(defect):
    return [sample for name, sample in OUTPUTS_OF if name == defect]


def evaluators():
    schema = SCHEMA.read_text(encoding="utf-8")
    fields = {"/line_items": {"order": "any_order"}}
    return [JsonObject(), JsonSchema(schema), JsonFields(schema, fields)]


def test_the_tables_name_every_defect():
    assert {name for name, _ in OUTPUTS_OF} == {*NOT_JSON, *JSON}


@pytest.mark.parametrize(("defect", "label"), NOT_JSON.items())
def test_what_is_no_json_is_labelled_with_its_defect(defect, label):
    for sample in samples_with(defect):
        results = [evaluator.evaluate(sample) for evaluator in [JsonValidity(), *evaluators()]]
        assert [(result.passed, result.label) for result in results] == [(False, label)] * 4


@pytest.mark.parametrize(("defect", "labels"), JSON.items())
def test_what_is_json_is_valid_and_its_mistake_is_labelled(defect, labels):
    for sample in samples_with(defect):
        assert JsonValidity().evaluate(sample).passed
        results = [evaluator.evaluate(sample) for evaluator in evaluators()]
        assert tuple(None if result.passed else result.label for result in results) == labels


def test_the_script_writes_the_same_bytes_again(tmp_path):
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    for path in (OUTPUTS, SCHEMA, EVAL):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_demo_compares_two_prompts_writes_a_report_and_says_what_to_do_next(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "llmeval_integrations", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    words = " ".join(done.stdout.split())
    assert "B is better: json_validity pass rate 73.3 % → 95.0 %" in words
    *_, page, data, command = done.stdout.splitlines()
    report = tmp_path / re.search(r"Open (\S+) in a browser", page)[1]
    assert "json_fields" in report.read_text(encoding="utf-8")
    assert (tmp_path / re.search(r"in a file like (\S+):", data)[1]).samefile(OUTPUTS)
    next_run = [sys.executable, "-m", "llmeval_integrations", *command.split()[1:]]
    next_run[next_run.index("outputs.jsonl")] = str(OUTPUTS)
    subprocess.run(next_run, cwd=tmp_path, capture_output=True, check=True)
