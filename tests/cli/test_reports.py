"""`llmeval report`, `export`, `view`, `runs` and `compare`: files, the live page, exit codes."""

import contextlib
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llmeval_integrations import JsonFields, JsonValidity, LengthPenalty, evaluate

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


FAIL = "--fail-on-regression"


@pytest.fixture
def runs(tmp_path):
    """Two runs, of which the second is worse in twelve of twenty samples."""
    for name, good in (("before", 20), ("after", 8)):
        outputs = ['{"total": 1}'] * good + ['{"total": 2}'] * (20 - good)
        rows = [
            {"id": f"s{n}" if n < 19 else "\ud800", "output": output, "reference": '{"total": 1}'}
            for n, output in enumerate(outputs)
        ]
        evaluate(rows, [JsonFields(), JsonValidity()], out=tmp_path / name)


def test_compare_prints_a_table_or_json_and_may_fail(runs, llmeval):
    code, table, said = llmeval("compare before after")
    assert (code, said) == (0, "")
    assert all(word in table for word in ("json_fields", "/total", "worse", "expected 1"))
    assert max(map(len, table.splitlines())) <= 110
    found = json.loads(llmeval("compare before after --json --no-fields")[1])
    assert [each["field"] for each in found["differences"]] == [None, None]
    assert found["differences"][0]["verdict"] == "worse"
    assert found["differences"][0]["difference"] == -0.6
    assert len(found["evaluators"]["json_fields"]["changes"]) == 12
    code, _, said = llmeval(f"compare before after {FAIL}")
    assert (code, said.splitlines()) == (
        1,
        [
            "llmeval compare: json_fields: pass rate went from 1 to 0.4",
            "llmeval compare: json_fields: /total matching leaves went from 1 to 0.4",
        ],
    )
    assert llmeval(f"compare after before {FAIL}")[0] == 0
    assert llmeval(f"compare before before {FAIL}")[0] == 0


BOTH = [JsonValidity(), LengthPenalty(min_length=1, max_length=9)]
FEWER = ["{}"] * 90 + [None] * 4
"""None is an error row; six samples are not in B at all."""

LESS = [
    (["{}"] * 95 + [None] * 5, BOTH, "", ""),
    (["{}"] * 94 + [None] * 6, BOTH, "", "json_validity: 6 of A's 100 samples have no counterpart"),
    (["{}"] * 5, BOTH, "", "json_validity: 95 of A's 100 samples have no counterpart"),
    (FEWER, BOTH, "--max-left-out 9%", "json_validity: 10 of A's 100 samples have no counter"),
    (FEWER, BOTH, "--max-left-out 0.1", ""),
    ([None] * 100, BOTH, "", "json_validity: no sample has a score in both runs, so a regression"),
    (["{}"] * 100, BOTH[:1], "", "length_penalty: A has this evaluator, B does not, so a regress"),
    (["{}"] * 100, BOTH[:1], "--evaluator json_validity", ""),
]


@pytest.mark.parametrize(("outputs", "evaluators", "options", "miss"), LESS)
def test_what_b_lacks_cannot_exclude_a_regression(tmp_path, llmeval, outputs, evaluators, options, miss):  # fmt: skip
    rows = [{"id": n, **({"output": text} if text else {})} for n, text in enumerate(outputs)]
    evaluate([{"id": n, "output": "{}"} for n in range(100)], BOTH, out=tmp_path / "a")
    evaluate(rows, evaluators, out=tmp_path / "b")
    code, _, said = llmeval(f"compare a b {FAIL} {options}")
    assert (code, "regression" in said, miss in said) == (bool(miss), bool(miss), True)
    assert llmeval("compare a b")[0] == 0


def test_the_runs_of_a_folder_are_listed_the_newest_first(llmeval, tmp_path):
    said = "0 runs; llmeval run DATA -e EVALUATOR --out DIR keeps one."
    assert said in llmeval("runs .")[1]
    for name, output, day in (("old", "{", 1), ("new", "{}", 2), ("deep/cut", "{}", 3)):
        file = evaluate([{"output": output}], [JsonValidity()], out=tmp_path / name).out / "manifest.json"  # fmt: skip
        manifest = {**json.loads(file.read_text()), "started": f"2026-01-0{day}T12:30:59+00:00"}
        file.write_text(json.dumps(manifest))
    (tmp_path / "deep" / "cut" / "summary.json").unlink()
    lines = llmeval("runs .")[1].splitlines()
    assert lines[1] == "3 runs"
    assert [re.split(" {2,}", line)[1:] for line in lines if "2026-01" in line] == [
        ["2026-01-03 12:30", "–", "–", "not finished"],
        ["2026-01-02 12:30", "–", "1", "json_validity 100.0 %"],
        ["2026-01-01 12:30", "–", "1", "json_validity 0.0 %"],
    ]
