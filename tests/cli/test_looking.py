"""Looking at runs on the command line: show, runs, init, the next step, and the browser."""

import json
import re

import pytest

from llmeval_integrations import JsonValidity, evaluate
from llmeval_integrations.cli.main import main


@pytest.fixture
def pages(monkeypatch):
    """The addresses that a browser is asked to open."""
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    return opened


def test_a_starter_file_runs_and_the_run_is_shown_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert capsys.readouterr().out.endswith("next: llmeval run eval.yaml\n")
    assert main(["run", "eval.yaml"]) == 0
    table, _, steps = capsys.readouterr().out.partition("written: ")
    assert "33.3 % of 3 samples pass json_fields" in table
    assert steps.startswith("runs/first/results.jsonl and summary.json\nnext: llmeval view runs/first")  # fmt: skip
    assert main(["show", "runs/first"]) == 0
    assert capsys.readouterr().out == table
    assert main(["show", "runs/first", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 3
    assert main(["init"]) == 2
    assert "eval.yaml is there already; llmeval init FILE writes another" in capsys.readouterr().err


def test_a_run_that_is_not_kept_is_told_how_it_would_be(tmp_path, capsys):
    (tmp_path / "data.jsonl").write_text('{"output": "{}"}\n')
    assert main(["run", str(tmp_path / "data.jsonl"), "-e", "json_validity"]) == 0
    assert "next: --out DIR keeps the run" in capsys.readouterr().out


def test_the_runs_of_a_folder_are_listed_the_newest_first(tmp_path, capsys):
    for name, output, day in (("old", "{", 1), ("new", "{}", 2), ("deep/cut", "{}", 3)):
        run = evaluate([{"output": output}], [JsonValidity()], out=tmp_path / name)
        file = run.out / "manifest.json"
        manifest = {**json.loads(file.read_text()), "started": f"2026-01-0{day}T12:30:59+00:00"}
        file.write_text(json.dumps(manifest))
    (tmp_path / "deep" / "cut" / "summary.json").unlink()
    assert main(["runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "3 runs"
    rows = [re.split(" {2,}", line) for line in lines if "2026-01" in line]
    assert [row[1:] for row in rows] == [
        ["2026-01-03 12:30", "–", "–", "not finished"],
        ["2026-01-02 12:30", "–", "1", "json_validity 100.0 %"],
        ["2026-01-01 12:30", "–", "1", "json_validity 0.0 %"],
    ]


def test_a_folder_without_runs_says_how_to_have_one(tmp_path, capsys):
    assert main(["runs", str(tmp_path)]) == 0
    assert "0 runs; llmeval run DATA -e EVALUATOR --out DIR keeps one." in capsys.readouterr().out
    assert main(["runs", str(tmp_path / "nope")]) == 2
    assert f"there is no folder {tmp_path}/nope" in capsys.readouterr().err


def test_a_page_is_opened_in_the_browser(tmp_path, pages, monkeypatch, capsys):
    data, out = tmp_path / "data.jsonl", tmp_path / "run"
    data.write_text('{"output": "{}"}\n')
    run = ["run", str(data), "-e", "json_validity"]
    assert main([*run, "--out", str(out), "--open"]) == 0
    assert main(["report", str(out), "--open"]) == 0
    assert pages == [(out / "report.html").as_uri()] * 2
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert main(["report", str(out), "--open"]) == 0
    assert f"no browser could be started; open {pages[0]}" in capsys.readouterr().err
    for call, said in (
        ([*run, "--open"], "add --out DIR"),
        (["report", str(out), "--open", "--format", "junit"], "--open opens a page"),
    ):
        assert main(call) == 2
        assert said in capsys.readouterr().err
