"""`llmeval run` as a process: its files, speed, interrupts and pipes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pace import TooSlowError, pace

from llmeval_integrations import JsonValidity, evaluate

ROWS = [
    {"id": "a", "response": '{"x": 1}', "gold": {"x": 1}, "form": {"type": "object"}},
    {"id": "b", "response": '{"x": 2}', "gold": {"x": 1}, "form": {"type": "object"}},
    {"id": "c", "response": '{"x": ', "gold": {"x": 1}, "form": {"type": "object"}},
    {"id": "d", "response": "[]", "gold": [], "form": {"type": "object"}},
]
MATCH = ["-e", "json_match", "--column", "output=response", "--column", "reference=gold"]
PYTHON = [sys.executable, "-m", "llmeval_integrations"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return "outputs.jsonl"


def installed(*arguments, **options):
    command = shutil.which("llmeval", path=str(Path(sys.executable).parent))
    assert command, "the package is not installed"
    streams = {"capture_output": True, "text": True}
    return subprocess.run([command, *arguments], **streams, check=False, timeout=60, **options)


def test_the_main_job_from_the_installed_command(data):
    done = installed(
        "run", data, "-e", "json_validity", "-e", "length_penalty:min_length=3,max_length=7", "-e", "json_schema",
        *MATCH, "--column", "schema=form", "-o", "runs/first", "--fail-under", "json_match=0.5",
    )  # fmt: skip
    said = "llmeval run: schema is column 'form'; --column schema= turns this off\n"
    assert (done.returncode, done.stderr) == (0, said)
    summary = json.loads(Path("runs/first/summary.json").read_text())
    rates = [each["pass_rate"] for each in summary["evaluators"].values()]
    assert (summary["samples"], rates) == (4, [0.75, 0.25, 0.5, 0.5])
    lines = Path("runs/first/results.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == list("aaaabbbbccccdddd")
    assert all(each in done.stdout for each in ("truncated", "runs/first"))
    assert "\x1b" not in done.stdout


# Windows has none.
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_data_comes_from_a_pipe_and_a_terminal_gets_a_progress_bar(data):
    done = installed("-v", "run", "-", *MATCH, "--json", input=Path(data).read_text())
    assert "runs.evaluate: evaluating" in done.stderr  # only with -v
    assert json.loads(done.stdout)["evaluators"]["json_match"]["mean"] == 0.5
    main_end, terminal = os.openpty()
    command = [*PYTHON, "run", data, *MATCH]
    subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, check=True, timeout=60)
    os.close(terminal)
    assert "4 samples" in os.read(main_end, 100_000).decode()
    os.close(main_end)


@pytest.mark.parametrize("call", [["show", "kept"], ["report", "kept", "-o", "-"], ["run", "--help"]])  # fmt: skip
def test_a_pipe_that_its_reader_closed_ends_the_command_quietly(data, call):
    evaluate([{"output": "{}"}], [JsonValidity()], out="kept")
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run([*PYTHON, *call], stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


def test_it_starts_fast(data, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))  # by the first run

    def cpu_seconds():
        before = os.times()
        assert installed("run", data, *MATCH).returncode == 0
        after = os.times()
        spent = after.children_user + after.children_system
        return spent - before.children_user - before.children_system

    if all(cpu_seconds() >= 0.4 * pace() for _ in range(10)):
        raise TooSlowError


def test_the_command_line_overrides_the_configuration(data, llmeval):
    folder = Path("folder")
    folder.mkdir()
    (folder / "eval.yml").write_text(
        "data: ../outputs.jsonl\nevaluators: [json_match]\n"
        "columns: {output: response, reference: gold}\nout: run\n"
        "fail_under: {json_match: 1.0, json_match.mean: 0.5}\n"
    )
    code, from_file, _ = llmeval("run folder/eval.yml --json")
    assert (code, (folder / "run" / "results.jsonl").exists()) == (1, True)
    assert llmeval(f"run {data} --json", *MATCH)[1] == from_file
    other = "run folder/eval.yml -q --out other --fail-under json_match=50%"
    assert (llmeval(other)[0], Path("other").exists()) == (0, True)


@pytest.mark.parametrize(("written", "said"), [("overwrite", "--resume"), ("resume", "--overwrite")])  # fmt: skip
def test_the_command_line_resumes_or_replaces_a_run(data, llmeval, written, said):
    Path("eval.yaml").write_text(
        f"data: {data}\nevaluators: [json_validity]\nout: run\n{written}: true\n"
        "columns: {output: response}\n"
    )
    assert llmeval("run eval.yaml -q")[0] == 0
    results = Path("run/results.jsonl")
    results.write_bytes(results.read_bytes().replace(b'"score":1', b'"score":0', 1))
    assert llmeval(f"run eval.yaml -q {said}")[0] == 0
    assert (b'"score":0' in results.read_bytes().splitlines()[0]) is (said == "--resume")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_an_interrupt_ends_without_a_traceback_and_leaves_the_rows(tmp_path):
    results = tmp_path / "run" / "results.jsonl"
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [*PYTHON, "run", "-", "-e", "json_validity", "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        process.stdin.write('{"output": "1"}\n' * 20)
        process.stdin.flush()
        until = time.monotonic() + 60
        while not (results.exists() and results.stat().st_size) and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read().splitlines() == [
            "llmeval run: the finished rows are in run; to continue, repeat the call with --resume",
            "llmeval run: interrupted",
        ]
    assert len(results.read_text().splitlines()) >= 8
