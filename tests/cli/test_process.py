"""`llmeval` as a process: its files, speed, pipes, and the page of a run that is under way."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pace import TooSlowError, pace

MATCH = "-e json_match --column output=response --column reference=gold"
PYTHON = [sys.executable, "-m", "llmeval_integrations"]


def installed(line, **options):
    command = shutil.which("llmeval", path=str(Path(sys.executable).parent))
    assert command, "the package is not installed"
    streams = {"capture_output": True, "text": True}
    words = [command, *shlex.split(line)]
    return subprocess.run(words, **streams, check=False, timeout=60, **options)


def test_the_main_job_from_the_installed_command(here):
    done = installed(
        "run data.jsonl -e json_validity -e length_penalty:min_length=3,max_length=7 "
        f"-e json_schema {MATCH} --column schema=form -o runs/first --fail-under json_match=0.5"
    )
    said = "llmeval run: schema is column 'form'; --column schema= turns this off\n"
    assert (done.returncode, done.stderr) == (0, said)
    summary = json.loads(Path("runs/first/summary.json").read_text())
    rates = [each["pass_rate"] for each in summary["evaluators"].values()]
    assert (summary["samples"], rates) == (4, [0.75, 0.25, 0.5, 0.5])
    lines = Path("runs/first/results.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == list("aaaabbbbccccdddd")
    assert all(each in done.stdout for each in ("truncated", "runs/first"))
    assert "\x1b" not in done.stdout


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_data_comes_from_a_pipe_and_a_terminal_gets_a_progress_bar(here):
    done = installed(f"-v run - {MATCH} --json", input=Path("data.jsonl").read_text())
    assert "runs.evaluate: evaluating" in done.stderr  # only with -v
    assert json.loads(done.stdout)["evaluators"]["json_match"]["mean"] == 0.5
    main_end, terminal = os.openpty()
    command = [*PYTHON, "run", "data.jsonl", *shlex.split(MATCH)]
    subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, check=True, timeout=60)
    os.close(terminal)
    assert "4 samples" in os.read(main_end, 100_000).decode()
    os.close(main_end)


def test_a_pipe_with_an_encoding_of_windows_gets_plain_lines(here, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    shown = installed("compare before after", encoding="cp1252").stdout
    assert "100.0 % -> 40.0 %" in shown
    assert "----------" in shown
    assert "\\u2" not in shown


@pytest.mark.parametrize("call", [["show", "run"], ["report", "run", "-o", "-"], ["run", "--help"]])  # fmt: skip
def test_a_pipe_that_its_reader_closed_ends_the_command_quietly(here, call):
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run([*PYTHON, *call], stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_closed_stream_changes_no_exit_code(here):
    call = shlex.join([*PYTHON, "run", "-", "-e", "json_validity"])
    assert os.waitstatus_to_exitcode(os.system(f"{call} <&- >&- 2>&-")) == 2  # noqa: S605


def test_it_starts_fast(here, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(here / "compiled"))  # by the first run

    def cpu_seconds():
        before = sum(os.times()[2:4])  # of the processes that were started
        assert installed(f"run data.jsonl {MATCH}").returncode == 0
        return sum(os.times()[2:4]) - before

    if all(cpu_seconds() >= 0.4 * pace() for _ in range(10)):
        raise TooSlowError


def wait_until(is_so):
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.fixture
def address(here):
    """The address of the page of a run that is under way."""
    command = [*PYTHON, "view", "killed"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().split()[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_the_page_of_a_running_run_is_updated_and_interrupts_nobody(address, page):
    rows = Path("killed/results.jsonl")
    *_, last = rows.read_bytes().splitlines(keepends=True)
    page.open(address)
    page.choose("label", "truncated")
    rows.write_bytes(rows.read_bytes() + last)
    wait_until(lambda: "".join(page.texts("#count")).startswith("2 of 3"))
    assert page.run("document.querySelector('[name=label]').value") == "truncated"
    page.click("tr.sample button")
    rows.write_bytes(rows.read_bytes() + last)
    wait_until(lambda: page.run("!document.getElementById('news').hidden"))
    assert len(page.texts("tr.detail")) == 1
    assert page.complaints == []
    assert {each.split("/", 3)[2] for each in page.requests} == {address.split("/")[2]}
