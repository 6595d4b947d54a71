"""The Structured Output Benchmark's own table, by the command line and an example."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import pytest

DATA = Path(__file__).parents[2] / "shared" / "data" / "sob"
FILES = sorted(DATA.glob("*.jsonl"))

pytestmark = pytest.mark.skipif(not FILES, reason="the benchmark's data is not here")


FIGURES = ("hier_path_recall", "path_set_f1", "leaf_value_em")
EXAMPLE = Path(__file__).parents[1] / "examples" / "structured_output_benchmark.py"


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
