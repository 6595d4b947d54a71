"""Help, the starter file, lists of runs and pages of the command."""

import json
import re

import pytest

from llmeval_integrations import JsonValidity, __version__, evaluate
from llmeval_integrations.cli.main import main


def helped(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0
    return capsys.readouterr().out


def test_help_fits_a_screen_and_has_groups_and_examples(capsys):
    text = helped(capsys, "--help")
    assert len(text.splitlines()) <= 44
    assert max(map(len, text.splitlines())) <= 80
    listed = text.split("COMMAND\n")[1].split("\n\n")[0]
    commands = [line.split()[0] for line in listed.splitlines() if line[4:5].strip()]
    assert len(commands) >= 7
    assert all(f"  llmeval {name}" in text.split("examples:")[1] for name in commands)
    lines = helped(capsys, "run", "--help").splitlines()
    assert len(lines) <= 56
    heads = [line for line in lines if re.fullmatch(r"\w.*:", line)][1:]
    assert heads == ["options:", "what is evaluated:", "where the run is kept:", "when the run fails:", "judges:", "how it runs:"]  # fmt: skip
    assert helped(capsys, "--version") == f"llmeval {__version__}\n"
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("usage: llmeval ")


def test_a_starter_file_runs_and_show_prints_the_run_again(tmp_path, monkeypatch, capsys):
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
    assert main(["run", "outputs.jsonl", "-e", "json_validity"]) == 0
    assert "next: --out DIR keeps the run" in capsys.readouterr().out


def test_the_runs_of_a_folder_are_listed_the_newest_first(tmp_path, capsys):
    assert main(["runs", str(tmp_path)]) == 0
    assert "0 runs; llmeval run DATA -e EVALUATOR --out DIR keeps one." in capsys.readouterr().out
    assert main(["runs", str(tmp_path / "nope")]) == 2
    assert f"there is no folder {tmp_path}/nope" in capsys.readouterr().err
    for name, output, day in (("old", "{", 1), ("new", "{}", 2), ("deep/cut", "{}", 3)):
        file = evaluate([{"output": output}], [JsonValidity()], out=tmp_path / name).out / "manifest.json"  # fmt: skip
        manifest = {**json.loads(file.read_text()), "started": f"2026-01-0{day}T12:30:59+00:00"}
        file.write_text(json.dumps(manifest))
    (tmp_path / "deep" / "cut" / "summary.json").unlink()
    assert main(["runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "3 runs"
    assert [re.split(" {2,}", line)[1:] for line in lines if "2026-01" in line] == [
        ["2026-01-03 12:30", "–", "–", "not finished"],
        ["2026-01-02 12:30", "–", "1", "json_validity 100.0 %"],
        ["2026-01-01 12:30", "–", "1", "json_validity 0.0 %"],
    ]


def test_a_page_is_opened_in_the_browser(tmp_path, monkeypatch, capsys):
    pages = []
    monkeypatch.setattr("webbrowser.open", lambda address: pages.append(address) or True)
    data, out = tmp_path / "data.jsonl", tmp_path / "run"
    data.write_text('{"output": "{}"}\n')
    run = ["run", str(data), "-e", "json_validity"]
    assert main([*run, "--out", str(out), "--json", "--open"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 1  # and nothing else
    assert main(["report", str(out), "--open"]) == 0
    assert pages == [(out / "report.html").as_uri()] * 2
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert main(["report", str(out), "--open"]) == 0
    assert f"no browser could be started; open {pages[0]}" in capsys.readouterr().err
