"""What a shell and a log have of the command."""

import json
import subprocess
import sys

import pytest

from llmeval_integrations.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_script_completes_every_command(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("run", "list", "report", "compare", "export", "view", "evaluator"):
        assert word in script


def test_bash_completes_files(capsys, tmp_path):
    main(["completion", "bash"])
    script = tmp_path / "llmeval"
    script.write_text(capsys.readouterr().out)
    (tmp_path / "rows.jsonl").touch()
    for words in ("run r", "report r", "compare r", "run rows.jsonl --out r"):
        count = len(words.split())
        ask = f"cd {tmp_path}; source {script}; COMP_WORDS=(llmeval {words}); COMP_CWORD={count}; $(complete -p llmeval | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo ${{COMPREPLY[@]}}"  # fmt: skip
        done = subprocess.run(["/bin/bash", "-c", ask], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["rows.jsonl"], words


def test_zsh_is_given_nothing_to_run(capsys):
    main(["completion", "zsh"])
    described = [line for line in capsys.readouterr().out.splitlines() if "OPTION=VALUE" in line]
    assert described
    for line in described:
        assert "NAME[:OPTION" not in line


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "2>/dev/full"])
@pytest.mark.parametrize(("data", "code"), [("rows.jsonl", 0), ("none.jsonl", 2)])
def test_a_stream_that_is_closed_changes_no_exit_code(tmp_path, closed, data, code):
    (tmp_path / "rows.jsonl").write_text('{"output": "1"}\n{"id": "a", "output": "2"}\n')
    command = f"{sys.executable} -m llmeval_integrations run {data} -e json_validity {closed}"
    done = subprocess.run(
        ["/bin/bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_every_command_has_an_example_and_the_help_fits_a_screen(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 44
    assert max(map(len, text.splitlines())) <= 80
    listed = text.split("COMMAND\n")[1].split("\n\n")[0]
    commands = [line.split()[0] for line in listed.splitlines() if line[4:5].strip()]
    assert len(commands) >= 7
    for name in commands:
        assert f"  llmeval {name}" in text.split("examples:")[1]


def test_nothing_is_logged_unless_asked_for(tmp_path):
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"output": "{}"}))
    command = [sys.executable, "-m", "llmeval_integrations"]
    run = ["run", str(data), "-e", "json_validity", "-q"]
    silent = subprocess.run([*command, *run], capture_output=True, text=True, check=True)
    assert silent.stderr == ""
    said = subprocess.run([*command, "-v", *run], capture_output=True, text=True, check=True)
    said_so = f"llmeval_integrations.runs.evaluate: evaluating {data} with json_validity"
    assert said_so in said.stderr
