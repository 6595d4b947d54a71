"""`llmeval report`, `export` and `view`."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from browser import browser, needs_chromium

from llmeval_integrations import JsonValidity, evaluate
from llmeval_integrations.cli.main import main


@pytest.fixture
def run(tmp_path):
    evaluate([{"output": "{}"}, {"output": "{"}], [JsonValidity()], out=tmp_path / "run")
    return tmp_path / "run"


FORMATS = [
    (["report"], "run/report.html", "<!doctype html>"),
    (["report", "--out", "-"], None, "<!doctype html>"),
    (["report", "--format", "markdown"], None, "### run: "),
    (["report", "--out", "comment.md"], "comment.md", "### run: "),
    (["report", "--out", "junit.xml"], "junit.xml", "<?xml"),
    (["export", "--to", "csv"], "run/rows.csv", "run,id,group,evaluator"),
    (["export", "--out", "x.CSV"], "x.CSV", "run,id,group,evaluator"),
    (["export", "--out", "x.arrow"], "x.arrow", "ARROW1"),
    (["export"], "run/rows.parquet", "PAR1"),
]


@pytest.mark.parametrize(("call", "file", "begin"), FORMATS)
def test_an_option_or_the_suffix_sets_the_format(run, capfdbinary, monkeypatch, call, file, begin):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(run.parent)
    assert main([call[0], "run", *call[1:]]) == 0
    out = capfdbinary.readouterr().out
    if file:
        assert out == f"written: {file}\n".encode()
        out = Path(file).read_bytes()
    assert out.startswith(begin.encode())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["report", "--format", "pdf"], "'pdf' is not a format; there are html (.html), "),
        (["export", "--out", "x.xlsx"], "'.xlsx' is not a format; there are arrow (.arrow), "),
        (["export", "--out", "missing/x.csv"], "No such file or directory: 'missing/x.csv'"),
        (["export"], "pip install 'llmeval-integrations[parquet]'"),
        (["view", "--port=65536"], "port 65536: "),
    ],
)
def test_a_wrong_call_writes_no_file(run, monkeypatch, capsys, call, message):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.chdir(run.parent)
    before = sorted(run.iterdir())
    try:
        code = main([call[0], "run", *call[1:]])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["run"]
    assert sorted(run.iterdir()) == before


@contextlib.contextmanager
def viewing(run):
    command = [sys.executable, "-u", "-m", "llmeval_integrations", "view", str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split()[0], process
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 0


# While the page takes over what is new, it may be without one.
VERDICT = "document.querySelector('.verdict')?.textContent ?? ' of 2 samples'"


def add_row(run, **changes):
    """Write one more row, like the last one but for some fields."""
    rows = run / "results.jsonl"
    row = {**json.loads(rows.read_bytes().splitlines()[-1]), **changes}
    with rows.open("ab") as file:
        file.write(json.dumps(row).encode() + b"\n")


def wait_until(is_so):
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@needs_chromium
def test_the_page_of_a_running_run_is_updated_and_interrupts_nobody(run, tmp_path):
    (run / "summary.json").unlink()  # as before the end of a run
    with viewing(run) as (address, _), browser(tmp_path / "profile") as page:
        page.open(address)
        page.run("document.getElementById('by-label').value = 'truncated'")
        page.run("document.getElementById('by-label').dispatchEvent(new Event('change'))")
        add_row(run, id=3)
        wait_until(lambda: " of 2 samples" not in page.run(VERDICT))
        assert page.run("document.getElementById('count').textContent").startswith("2 of 3")
        assert page.run("document.getElementById('by-label').value") == "truncated"
        page.run("document.querySelectorAll('tr.sample button')[0].click()")
        add_row(run, id=4)
        wait_until(lambda: page.run("!document.getElementById('news').hidden"))
        assert page.run("document.querySelectorAll('tr.detail').length") == 1
        assert page.complaints == []
        assert {each.split("/", 3)[2] for each in page.requests} == {address.split("/")[2]}


def test_a_killed_run_causes_a_warning(run, capsys):
    (run / "summary.json").unlink()
    why = "is incomplete: it was killed or is under way"
    for call in (["report", "--out", "-"], ["export", "--to", "csv", "--out", "-"]):
        assert main([*call, str(run), str(run)]) == 0
        first, second = capsys.readouterr().err.splitlines()
        assert first == f"llmeval {call[0]}: warning: run {why}"
        assert second == f"llmeval {call[0]}: warning: run_2 {why}"
