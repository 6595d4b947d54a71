"""The demo data: the evaluators find the planted defects."""

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

# Texts that are not JSON have one label for every evaluator, most of them the defect's own name.
SAME = "truncated trailing_comma single_quotes python_literal comment unescaped_quote empty"
NOT_JSON = {
    **{defect: defect for defect in SAME.split()},
    **dict.fromkeys(("prose_before", "prose_after", "fence_in_prose"), "prose_around"),
    "reasoning_before": "prose_around",
    "raw_line_break": "control_character",
    "thousands_separator": "number",
    "apology": "prose",
}

# The labels of JsonValidity, JsonObject (strict), JsonSchema and JsonFields; None passes.
LABELS = {
    **{defect: (label,) * 4 for defect, label in NOT_JSON.items()},
    "none": (None, None, None, None),
    "code_fence": (None, "code_fence", None, None),
    "duplicate_key": (None, "duplicate_key", None, None),
    "reordered_items": (None, None, None, None),
    "missing_key": (None, None, "required", "missing"),
    "null_value": (None, None, "type", "missing"),
    "number_as_text": (None, None, "type", "wrong_type"),
    "extra_key": (None, None, "additionalProperties", "extra"),
    "hallucinated_field": (None, None, "additionalProperties", "extra"),
    "date_format": (None, None, "pattern", "mismatch"),
    "currency_symbol": (None, None, "pattern", "mismatch"),
    "wrong_value": (None, None, None, "mismatch"),
    "missing_item": (None, None, None, "missing"),
    "invented_item": (None, None, None, "extra"),
}


def test_the_table_names_every_defect():
    assert {name for name, _ in OUTPUTS_OF} == {*LABELS}


@pytest.mark.parametrize(("defect", "labels"), LABELS.items())
def test_a_defect_has_its_label(defect, labels):
    schema = SCHEMA.read_text(encoding="utf-8")
    fields = JsonFields(schema, {"/line_items": {"order": "any_order"}})
    evaluators = [JsonValidity(), JsonObject(), JsonSchema(schema), fields]
    for sample in (sample for name, sample in OUTPUTS_OF if name == defect):
        results = [evaluator.evaluate(sample) for evaluator in evaluators]
        assert tuple(None if result.passed else result.label for result in results) == labels


def test_the_script_writes_the_same_bytes_again(tmp_path):
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    for path in (OUTPUTS, SCHEMA, EVAL):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_demo_compares_two_prompts_writes_a_report_and_says_what_to_do_next(tmp_path):
    llmeval = [sys.executable, "-m", "llmeval_integrations"]
    said = subprocess.check_output([*llmeval, "demo"], cwd=tmp_path, text=True)
    assert "B is better: json_validity pass rate 73.3 % → 95.0 %" in " ".join(said.split())
    *_, page, data, command = said.splitlines()
    report = tmp_path / re.search(r"Open (\S+) in a browser", page)[1]
    assert "json_fields" in report.read_text(encoding="utf-8")
    assert (tmp_path / re.search(r"in a file like (\S+):", data)[1]).samefile(OUTPUTS)
    next_run = command.replace("outputs.jsonl", str(OUTPUTS)).split()[1:]
    subprocess.check_output([*llmeval, *next_run], cwd=tmp_path)
