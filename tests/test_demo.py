"""The demo data: what was done to an output is what the evaluators find."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from llmeval_integrations import (
    JsonMatch,
    JsonObject,
    JsonSchema,
    JsonValidity,
    Sample,
)
from llmeval_integrations.demo import EVAL, OUTPUTS, SCHEMA

SCRIPT = Path(__file__).parent.parent / "tools" / "make_demo_data.py"

ROWS = [json.loads(line) for line in OUTPUTS.read_text(encoding="utf-8").splitlines()]
SAMPLES = {row["id"]: Sample(row["output"], row["reference"], row["input"]) for row in ROWS}

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
    "nan": "nan_or_infinity",
    "thousands_separator": "number",
    "missing_comma": "missing_comma",
    "unescaped_quote": "unescaped_quote",
    "unquoted_keys": "unquoted_key",
    "ellipsis": "ellipsis",
    "smart_quotes": "smart_quotes",
    "invalid_escape": "invalid_escape",
    "two_documents": "extra_data",
    "apology": "prose",
    "empty": "empty",
}

# JSON in some mode: the labels of JsonObject (strict), JsonSchema, JsonMatch; None passes.
JSON = {
    "none": (None, None, None),
    "code_fence": ("code_fence", None, None),
    "duplicate_key": ("duplicate_key", None, None),
    "reordered_items": (None, None, None),
    "missing_key": (None, "required", "missing"),
    "null_value": (None, "type", "wrong_type"),
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
    return [SAMPLES[row["id"]] for row in ROWS if row["defect"] == defect]


def evaluators():
    return [
        JsonObject(),
        JsonSchema(SCHEMA.read_text(encoding="utf-8")),
        JsonMatch(strict_order=False),
    ]


def test_the_tables_name_every_defect():
    assert {row["defect"] for row in ROWS} == {*NOT_JSON, *JSON}


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


def test_the_demo_evaluates_writes_a_report_and_says_what_to_do_next(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "llmeval_integrations.demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    written = yaml.safe_load(EVAL.read_text(encoding="utf-8"))
    for name in written["evaluators"]:
        unscored = 1 if name == "length_penalty" else 0  # one output is empty
        figures = rf"^{name} +[\d.]+ % .* {200 - unscored} +{unscored}$"
        assert re.search(figures, done.stdout, re.MULTILINE)
    assert re.search(r"^/due_date +\d+ +152 ", done.stdout, re.MULTILINE)  # of 200, 48 are no JSON
    *_, page, data, command = done.stdout.splitlines()
    report = tmp_path / re.search(r"Open (\S+) in a browser", page)[1]
    assert "json_fields" in report.read_text(encoding="utf-8")
    assert (tmp_path / re.search(r"in a file like (\S+):", data)[1]).samefile(OUTPUTS)
    next_run = [sys.executable, "-m", "llmeval_integrations", *command.split()[1:]]
    next_run[next_run.index("outputs.jsonl")] = str(OUTPUTS)
    subprocess.run(next_run, cwd=tmp_path, capture_output=True, check=True)
