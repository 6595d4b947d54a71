"""The Structured Output Benchmark's own figures, record by record, out of our outcomes."""

import json
from pathlib import Path

import pytest

from llmeval_integrations import JsonFields

DATA = Path(__file__).parents[2] / "shared" / "data" / "sob"
FILES = sorted(DATA.glob("*.jsonl"))

pytestmark = pytest.mark.skipif(not FILES, reason="the benchmark's data is not here")


def figures(record):
    """Give the benchmark's three figures of a record, as its README defines them."""
    result = JsonFields(parsing="strict")(record["output"], record["reference"])
    published = record["published"]
    if not (published["json_parse_success"] and published["schema_compliance"]):
        return 0.0, 0.0, 0.0
    found = result.metadata
    covered = min(1.0, (found["path_f1"] / 0.90) ** 2)
    return found["path_recall"], found["path_f1"], found["recall"] * covered


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_figures_of_every_record(path):
    records = list(map(json.loads, path.read_text("utf-8").splitlines()))
    assert len(records) == 209
    for record in records:
        published = record["published"]
        expected = [
            published[name] for name in ("hier_path_recall", "path_set_f1", "leaf_value_em")
        ]
        assert list(figures(record)) == pytest.approx(expected, rel=1e-12, abs=0), record["id"]
