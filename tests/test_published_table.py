"""The Structured Output Benchmark's own figures, record by record, out of our outcomes."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest

from llmeval_integrations import JsonFields, JsonSchema, JsonValidity

DATA = Path(__file__).parents[2] / "shared" / "data" / "sob"
FILES = sorted(DATA.glob("*.jsonl"))

pytestmark = pytest.mark.skipif(not FILES, reason="the benchmark's data is not here")


FIGURES = ("hier_path_recall", "path_set_f1", "leaf_value_em")
EXAMPLE = Path(__file__).parents[1] / "examples" / "structured_output_benchmark.py"


PLAINLY = JsonFields(defaults={"order": "ordered"}, nulls="values", parsing="strict")


def figures_of(found):
    """Give the benchmark's figures of paths and values, out of our counts of leaves."""
    kinds = sum(map(Counter, found["fields"].values()), Counter())
    alone = sum("alone" in outcome for outcome in found["outcomes"])
    pairs = kinds["match"] + kinds["mismatch"] + kinds["wrong_type"] - alone
    output, reference = found["output_leaves"], found["reference_leaves"]
    path_f1 = 2 * pairs / (output + reference)
    covered = min(1.0, (path_f1 / 0.90) ** 2)
    return pairs / reference, path_f1, found["recall"] * covered


def figures(record):
    """Give the benchmark's three figures of a record, as its README defines them."""
    parsed = JsonValidity(parsing="strict")(record["output"]).passed
    schema = JsonSchema(record["schema"], parsing="strict", draft="7")
    if not (parsed and schema(record["output"]).passed):
        return 0.0, 0.0, 0.0
    return figures_of(PLAINLY(record["output"], record["reference"]).metadata)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_figures_of_every_record(path):
    records = list(map(json.loads, path.read_text("utf-8").splitlines()))
    assert len(records) == 209
    for record in records:
        expected = [record["published"][name] for name in FIGURES]
        # The order of a sum may move the last digit.
        assert list(figures(record)) == pytest.approx(expected, rel=1e-12, abs=0), record["id"]


def llmeval(*options):
    subprocess.run([sys.executable, "-m", "llmeval_integrations", *options], check=True)


@pytest.mark.once
def test_the_example_prints_the_rows_of_the_six_models(tmp_path):
    for path in FILES:
        fields = 'json_fields:schema=false,nulls=values,defaults={"order":"ordered"}'
        evaluators = ("json_validity", fields, "json_schema:draft=7")
        asked = [f"-e{name}{',' if ':' in name else ':'}parsing=strict" for name in evaluators]
        llmeval("run", str(path), "-q", *asked, "--out", str(tmp_path / path.stem))
    folders = [str(tmp_path / path.stem) for path in FILES]
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *folders], capture_output=True, text=True, check=True
    )
    head, _, *rows = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()
    )
    assert len(rows) == len(FILES) == 6
    for path, row in zip(FILES, rows):
        cells = dict(zip(head, row))
        assert cells["model"] == path.stem
        records = list(map(json.loads, path.read_text("utf-8").splitlines()))
        for name in ("json_parse_success", "schema_compliance", *FIGURES):
            mean = fmean(record["published"][name] for record in records)
            figure, low, high = (
                cells[name].replace("(", "").replace(")", "").replace("to", "").split()
            )
            assert figure == f"{100 * mean:.1f}", (path.stem, name)
            assert float(low) < float(figure) < float(high)
