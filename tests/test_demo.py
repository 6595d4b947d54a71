"""The demo: its data are made by a script, and it leads from two prompts to a run of one's own."""

import re
import subprocess
import sys
from pathlib import Path

from llmeval_integrations.demo import EVAL, OUTPUTS, SCHEMA

SCRIPT = Path(__file__).parents[1] / "tools" / "make_demo_data.py"


def test_the_script_writes_the_same_bytes_again(tmp_path):
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    for path in (OUTPUTS, SCHEMA, EVAL):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_demo_compares_two_prompts_writes_a_report_and_says_what_to_do_next(tmp_path):
    llmeval = [sys.executable, "-m", "llmeval_integrations"]
    said = subprocess.check_output([*llmeval, "demo"], cwd=tmp_path, text=True)
    assert (
        "B is better: json_validity pass rate 73.3 % → 95.0 %; json_schema pass rate 46.7 % → 91.7 %; "
        "json_fields pass rate 43.3 % → 78.3 %" in " ".join(said.split())
    )
    *_, page, data, command = said.splitlines()
    report = tmp_path / re.search(r"Open (\S+) in a browser", page)[1]
    assert "json_fields" in report.read_text(encoding="utf-8")
    assert (tmp_path / re.search(r"in a file like (\S+):", data)[1]).samefile(OUTPUTS)
    next_run = command.replace("outputs.jsonl", str(OUTPUTS)).split()[1:]
    subprocess.check_output([*llmeval, *next_run], cwd=tmp_path)
