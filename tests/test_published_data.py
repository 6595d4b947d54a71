"""Public data: published figures and verdicts are ours, and 40 extractions counted by hand."""

import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest

from llmeval_integrations import JsonFields, JsonValidity, ToolCalls, ToolCallSchema

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
OUTPUTS = sorted((DATA / "sob").glob("*.jsonl"))
CALLS = [
    DATA / "bfcl" / f"{name}.jsonl"
    for name in ("simple_python", "multiple", "parallel", "parallel_multiple")
]
sys.path.append(str(ROOT / "benchmarks"))

from proof import bfcl, maskbench, sob, suites  # noqa: E402 - the folder is no package of ours

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the public files are not here")


@cache
def read(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


# --- the proof: our figures equal published ones, or the difference is explained -----------------


@needs_data
def test_our_figures_equal_the_structured_output_benchmarks():
    part = sob.run(DATA)
    assert (part.records, part.exceptions) == (6 * 209 * len(sob.FIGURES), [])


@needs_data
def test_differences_from_the_berkeley_leaderboard_are_explained():
    part = bfcl.run(DATA)
    assert (part.records, len(part.exceptions)) == (4_000, 28)
    assert not any("not explained" in each for each in part.exceptions)
    assert sum("the type that its schema gives" in each for each in part.exceptions) == 16
    assert not any("published as right" in each for each in part.exceptions)


@needs_data
def test_our_labels_equal_maskbenchs():
    part = maskbench.run(DATA)
    assert (part.records, part.exceptions) == (2_334, [])


@pytest.mark.parametrize("run", [suites.run_parsing, suites.run_schemas])
def test_suites_of_source_distributions(run):
    part = run(DATA)
    if part.missing:
        pytest.skip(part.missing)
    assert {each.partition(":")[0] for each in part.exceptions} <= {
        "y_object_duplicated_key.json",
        "y_object_duplicated_key_and_value.json",
    }


def test_a_part_without_its_files_is_named(tmp_path):
    out = tmp_path / "PROOF.md"
    command = [sys.executable, "-m", "proof", str(tmp_path), "--out", str(out)]
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'benchmarks'}"}
    said = subprocess.check_output(command, text=True, env=environment)
    text = out.read_text("utf-8")
    assert said.strip() == text.strip()
    assert text.count("Not run: no ") == 5
    assert f"Not run: no sob/*.jsonl in {tmp_path.name}." in text


# --- outputs of six models, and extractions counted by hand --------------------------------------


@needs_data
def test_every_output_that_is_not_json_has_a_defect():
    outputs = [record["output"] for path in OUTPUTS for record in read(path)]
    assert Counter(result.label for result in map(JsonValidity("strict"), outputs)) == {
        None: 1173, "prose_around": 58, "code_fence": 9, "prose": 6, "invalid_escape": 4, "truncated": 2,
        "unescaped_quote": 1, "trailing_comma": 1,
    }  # fmt: skip


@needs_data
def test_the_example_prints_the_rows_of_the_six_models(tmp_path):
    folders = [str(tmp_path / path.stem) for path in OUTPUTS]
    fields = 'json_fields:schema=false,nulls=values,defaults={"order":"ordered"},parsing=strict'
    evaluators = ["json_validity:parsing=strict", fields, "json_schema:draft=7,parsing=strict"]
    command = [sys.executable, "-m", "llmeval_integrations", "run", "-q"]
    command += [f"-e{each}" for each in evaluators]
    for path, folder in zip(OUTPUTS, folders):
        subprocess.run([*command, str(path), "--out", folder], check=True)
    example = [sys.executable, str(ROOT / "examples/structured_output_benchmark.py"), *folders]
    printed = subprocess.check_output(example, text=True)
    lines = [re.findall(r"[^|]+", line.replace(" ", "")) for line in printed.splitlines()]
    head, _, *rows = lines
    figures = [name for name in head if name in sob.FIGURES]
    assert (len(rows), len(figures)) == (6, 5)
    for path, row in zip(OUTPUTS, rows):
        cells = dict(zip(head, row))
        assert cells["model"] == path.stem
        for name in figures:
            mean = fmean(record["published"][name] for record in read(path))
            figure, low, high = re.findall(r"[\d.]+", cells[name])
            assert figure == f"{100 * mean:.1f}", (path.stem, name)
            assert float(low) < float(figure) < float(high)


def has_figures(case, rules):
    """Compare a case by rules; the figures are those counted by hand, or not."""
    leaves = ("nulls", "empty")
    evaluator = JsonFields(
        case["schema"],
        defaults={name: value for name, value in rules.items() if name not in leaves},
        **{name: rules[name] for name in leaves if name in rules},
    )
    output, reference = (
        value if isinstance(value, str) else json.dumps(value)
        for value in (case["output"], case["reference"])
    )
    found = evaluator(output, reference).metadata
    figures = found["matched"], found["output_leaves"], found["reference_leaves"]
    return figures == (case["right"], case["output_leaves"], case["reference_leaves"])


@needs_data
def test_figures_equal_those_counted_by_hand():
    cases = read(DATA / "extraction" / "cases.jsonl")
    assert sum(has_figures(case, {}) for case in cases) >= 27  # most as they come
    assert [case["name"] for case in cases if not has_figures(case, case["rules"])] == []


# --- the expected calls of the Berkeley Function Calling Leaderboard -----------------------------

LISTED = ToolCalls(alternatives="listed")


def reference(record):
    """Give the expected calls, each argument with its list of accepted values."""
    answers = record["possible_answers"]
    return [{"name": name, "arguments": its} for call in answers for name, its in call.items()]


def first(values):
    """Give the first accepted value."""
    value = next(value for value in values if value != "")
    items = [
        {name: first(inner) for name, inner in item.items()} if isinstance(item, dict) else item
        for item in (value if isinstance(value, list) else [value])
    ]
    return items if isinstance(value, list) else items[0]


def as_expected(record):
    """Give each argument its first accepted value."""
    return [
        {
            "name": call["name"],
            "arguments": {
                name: first(values)
                for name, values in call["arguments"].items()
                if any(value != "" for value in values)
            },
        }
        for call in reference(record)
    ]


def results(evaluator, order=1):
    """Evaluate the calls that each record expects, in their order or the other way round."""
    for record in (record for path in CALLS for record in read(path)):
        output, tools = json.dumps(as_expected(record)[::order]), {"tools": record["functions"]}
        yield evaluator(output, reference(record), variables=tools)


@needs_data
@pytest.mark.parametrize("order", [1, -1])
def test_the_expected_calls_pass_in_any_order(order):
    assert [result.score for result in results(LISTED, order)] == [1.0] * 800


@needs_data
def test_five_answers_violate_the_schema_of_their_own_tool():
    passed = Counter(result.passed for result in results(ToolCallSchema()))
    assert passed == {True: 795, False: 5}
