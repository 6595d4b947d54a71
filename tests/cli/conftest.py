import json
import shlex
import shutil
import sys

import pytest

from llmeval_integrations import JsonFields, JsonValidity, LengthPenalty, evaluate
from llmeval_integrations.cli.main import main

FORM = {"form": {"type": "object"}}
PAIR, LONE = {"output": "{}", "reference": "{}"}, {"output": "{}"}
ITEMS = [{"total": 1, "items": [{"sku": sku}]} for sku in "AAAB"]
DATA = {
    "data": [
        {"id": "a", "response": '{"x": 1}', "gold": {"x": 1}, **FORM},
        {"id": "b", "response": '{"x": 2}', "gold": {"x": 1}, **FORM},
        {"id": "c", "response": '{"x": ', "gold": {"x": 1}, **FORM},
        {"id": "d", "response": "[]", "gold": [], **FORM},
    ],
    "items": [{"output": each, "reference": ITEMS[0]} for each in ITEMS],
    "empty": [],
    "blank": [{"output": ""}],
    "answers": [{"answer": "{}"}],
    "percent": [{"output": {"a": 1, "sure": {"a": 95, "b": "high"}}, "reference": {"a": 1}}],
    "five": [PAIR] * 95 + [LONE] * 5,
    "six": [PAIR] * 94 + [LONE] * 6,
    "ten": [{"output": f"text {n}"} for n in range(10)],
    "more": [{"output": f"text {n}"} for n in range(11)],
}
KEPT = "data: data.jsonl\nevaluators: [json_validity]\nout: kept\ncolumns: {output: response}\n"
FILES = {
    "broken.jsonl": '{"output": "{}"}\nnot a row\n{"answer": 1}\n',
    "rows.csv": "output,group,schema\n1,a,{}\n2,b,{}\n",
    "overwrite.yaml": f"{KEPT}overwrite: true\n",
    "resume.yaml": f"{KEPT}resume: true\n",
    "conf/eval.yml": "data: ../data.jsonl\nevaluators: [json_match]\nout: run\n"
    "columns: {output: response, reference: gold}\n"
    "fail_under: {json_match: 1.0, json_match.mean: 0.5}\n",
    "pyproject.toml": '[tool.llmeval]\ndata = "five.jsonl"\nevaluators = ["json_validity"]\n',
    "own.py": """
import json
import signal

def stop(a, b):
    signal.raise_signal(signal.SIGINT)

def near(a, b):
    return abs(a - b) <= 1

def equal(output, reference):
    return json.loads(output) == json.loads(reference)

class Right:
    def evaluate_strings(self, *, prediction, reference=None):
        from llmeval_integrations import JsonEquality
        return {"score": JsonEquality()(prediction, reference).score}
""",
}
RIGHT, WRONG = '{"total": 1}', '{"total": 2}'
BOTH = [JsonValidity(), LengthPenalty(min_length=1, max_length=9)]
RUNS = {
    "run": (["{}", "{"], BOTH[:1]),
    "killed": (["{}", "{"], BOTH[:1]),
    "damaged": (["{}", "{"], BOTH[:1]),
    "before": ([RIGHT] * 20, [JsonFields(), JsonValidity()]),
    "after": ([RIGHT] * 8 + [WRONG] * 12, [JsonFields(), JsonValidity()]),
    # None is an error row.
    "hundred": (["{}"] * 100, BOTH),
    "less_5": (["{}"] * 95 + [None] * 5, BOTH),
    "less_6": (["{}"] * 94 + [None] * 6, BOTH),
    "less_10": (["{}"] * 90 + [None] * 4, BOTH),
    "no_score": ([None] * 100, BOTH),
    "one_evaluator": (["{}"] * 100, BOTH[:1]),
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder of data, configurations and runs."""
    folder = tmp_path_factory.mktemp("folder")
    (folder / "conf").mkdir()
    for name, rows in DATA.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for name, (outputs, evaluators) in RUNS.items():
        rows = [{"id": n, "output": text, "reference": RIGHT} for n, text in enumerate(outputs)]
        rows = [row if row["output"] else {"id": row["id"]} for row in rows]
        rows[-1]["id"] = "\ud800"  # which UTF-8 cannot write
        evaluate(rows, evaluators, out=folder / name)
    (folder / "killed" / "summary.json").unlink()
    (folder / "damaged" / "samples.jsonl").write_text("{\n")
    return folder


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """A copy of the folder, where the test runs."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.fixture
def llmeval(here, capsys):
    """Run a command line in the folder; gives exit code, stdout and stderr."""

    def llmeval(line, *more):
        try:
            code = main([*shlex.split(line), *more])
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    return llmeval
