"""Public data: outputs of six models, their published table, and 40 extractions counted by hand."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest

from llmeval_integrations import JsonFields, JsonValidity

DATA = Path(__file__).parents[2] / "shared" / "data"
FILES = sorted((DATA / "sob").glob("*.jsonl"))
CASES = DATA / "extraction" / "cases.jsonl"
EXAMPLE = Path(__file__).parents[1] / "examples" / "structured_output_benchmark.py"
FIGURES = (
    "json_parse_success", "schema_compliance", "hier_path_recall", "path_set_f1", "leaf_value_em",
)  # fmt: skip

needs_outputs = pytest.mark.skipif(not FILES, reason="the benchmark's data is not here")
needs_cases = pytest.mark.skipif(not CASES.exists(), reason="the shared data are not here")


def read(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@needs_outputs
def test_every_output_that_is_not_json_has_a_defect():
    records = [record for path in FILES for record in read(path)]
    results = map(JsonValidity("strict"), (record["output"] for record in records))
    assert Counter(result.label for result in results) == {
        None: 1173, "prose_around": 58, "code_fence": 9, "prose": 6, "invalid_escape": 4, "truncated": 2,
        "unescaped_quote": 1, "trailing_comma": 1,
    }  # fmt: skip


@needs_outputs
@pytest.mark.once
def test_the_example_prints_the_rows_of_the_six_models(tmp_path):
    folders = [str(tmp_path / path.stem) for path in FILES]
    fields = 'json_fields:schema=false,nulls=values,defaults={"order":"ordered"}'
    evaluators = ("json_validity", fields, "json_schema:draft=7")
    asked = [f"-e{name}{',' if ':' in name else ':'}parsing=strict" for name in evaluators]
    command = [sys.executable, "-m", "llmeval_integrations", "run", "-q", *asked]
    for path, folder in zip(FILES, folders):
        subprocess.run([*command, str(path), "--out", folder], check=True)
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *folders], capture_output=True, text=True, check=True
    )
    head, _, *rows = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()
    )
    assert len(rows) == len(FILES) == 6
    for path, row in zip(FILES, rows):
        cells, records = dict(zip(head, row)), read(path)
        assert cells["model"] == path.stem
        for name in FIGURES:
            mean = fmean(record["published"][name] for record in records)
            figure, low, high = (
                cells[name].replace("(", "").replace(")", "").replace("to", "").split()
            )
            assert figure == f"{100 * mean:.1f}", (path.stem, name)
            assert float(low) < float(figure) < float(high)


def has_figures(case, rules):
    evaluator = JsonFields(
        case["schema"],
        defaults={name: value for name, value in rules.items() if name not in ("nulls", "empty")},
        **{name: rules[name] for name in ("nulls", "empty") if name in rules},
    )
    output, reference = (
        value if isinstance(value, str) else json.dumps(value)
        for value in (case["output"], case["reference"])
    )
    found = evaluator(output, reference).metadata
    figures = found["matched"], found["output_leaves"], found["reference_leaves"]
    return figures == (case["right"], case["output_leaves"], case["reference_leaves"])


@needs_cases
def test_figures_equal_those_counted_by_hand():
    cases = read(CASES)
    assert sum(has_figures(case, {}) for case in cases) >= 27  # most as they come
    assert [case["name"] for case in cases if not has_figures(case, case["rules"])] == []
