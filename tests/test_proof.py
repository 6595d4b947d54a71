"""The proof: our figures equal published ones, or the difference is explained."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
sys.path.append(str(ROOT / "benchmarks"))

from proof import bfcl, maskbench, sob, suites  # noqa: E402 - the folder is no package of ours

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the public files are not here")


@needs_data
@pytest.mark.once
def test_our_figures_equal_the_structured_output_benchmarks():
    part = sob.run(DATA)
    assert (part.records, part.exceptions) == (6 * 209 * len(sob.FIGURES), [])


@needs_data
@pytest.mark.once
def test_differences_from_the_berkeley_leaderboard_are_explained():
    part = bfcl.run(DATA)
    assert (part.records, len(part.exceptions)) == (4_000, 27)
    assert not any("not explained" in each for each in part.exceptions)
    nested = [each for each in part.exceptions if "the type that its schema gives" in each]
    assert len(nested) == 16
    assert not any("published as right" in each for each in part.exceptions)


@needs_data
@pytest.mark.once
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
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    text = out.read_text("utf-8")
    assert done.stdout.strip() == text.strip()
    assert text.count("Not run: no ") == 5
    assert f"Not run: no sob/*.jsonl in {tmp_path.name}." in text
