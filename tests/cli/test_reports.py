"""`llmeval report`, `export` and `view`: the files that they write, and the live page."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llmeval_integrations import JsonValidity, evaluate

PAGE, TABLE = "<!doctype html>", "run,id,group,evaluator"
FORMATS = [
    ("report run", "run/report.html", PAGE),
    ("report run --format markdown", None, "### run: "),
    ("report run --out comment.md", "comment.md", "### run: "),
    ("report run --out junit.xml", "junit.xml", "<?xml"),
    ("export run --to csv", "run/rows.csv", TABLE),
    ("export run --out x.CSV", "x.CSV", TABLE),
    ("export run --out x.arrow", "x.arrow", "ARROW1"),
    ("export run", "run/rows.parquet", "PAR1"),
]


def evaluated(path):
    evaluate([{"output": "{}"}, {"output": "{"}], [JsonValidity()], out=path)
    return path


@pytest.mark.parametrize(("line", "file", "begin"), FORMATS)
def test_an_option_or_the_suffix_sets_the_format(llmeval, tmp_path, line, file, begin):
    pytest.importorskip("pyarrow")
    evaluated(tmp_path / "run")
    code, out, _ = llmeval(line)
    written = Path(file).read_bytes() if file else out.encode()
    assert (code, written.startswith(begin.encode())) == (0, True)
    assert file is None or out == f"written: {file}\n"


def test_a_page_is_opened_in_the_browser(llmeval, tmp_path, monkeypatch):
    pages = []
    monkeypatch.setattr("webbrowser.open", lambda address: pages.append(address) or True)
    Path("data.jsonl").write_text('{"output": "{}"}\n')
    code, out, _ = llmeval("run data.jsonl -e json_validity --out run --json --open")
    assert (code, json.loads(out)["samples"]) == (0, 1)  # and nothing else
    assert llmeval("report run --open")[0] == 0
    assert pages == [(tmp_path / "run" / "report.html").as_uri()] * 2
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert f"no browser could be started; open {pages[0]}" in llmeval("report run --open")[2]


@contextlib.contextmanager
def viewing(run):
    command = [sys.executable, "-u", "-m", "llmeval_integrations", "view", str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split()[0]
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 0


# While the page takes over what is new, it may be without one.
VERDICT = "document.querySelector('.verdict')?.textContent ?? ' of 2 samples'"


def add_row(run, number):
    """Write one more row, like the last one."""
    rows = run / "results.jsonl"
    row = {**json.loads(rows.read_bytes().splitlines()[-1]), "id": number}
    with rows.open("ab") as file:
        file.write(json.dumps(row).encode() + b"\n")


def wait_until(is_so):
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_the_page_of_a_running_run_is_updated_and_interrupts_nobody(tmp_path, page):
    run = evaluated(tmp_path / "run")
    (run / "summary.json").unlink()  # as before the end of a run
    with viewing(run) as address:
        page.open(address)
        page.choose("label", "truncated")
        add_row(run, 3)
        wait_until(lambda: " of 2 samples" not in page.run(VERDICT))
        assert page.texts("#count")[0].startswith("2 of 3")
        assert page.run("document.querySelector('[name=label]').value") == "truncated"
        page.click("tr.sample button")
        add_row(run, 4)
        wait_until(lambda: page.run("!document.getElementById('news').hidden"))
        assert len(page.texts("tr.detail")) == 1
        assert page.complaints == []
        assert {each.split("/", 3)[2] for each in page.requests} == {address.split("/")[2]}
