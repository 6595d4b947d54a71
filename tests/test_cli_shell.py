"""What a shell and a log have of the command."""

import json
import logging
import subprocess
import sys

import pytest

from llmeval_integrations.cli import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_script_completes_every_command(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("run", "list", "report", "compare", "export", "view", "evaluator"):
        assert word in script


def test_bash_completes_a_command(capsys, tmp_path):
    main(["completion", "bash"])
    script = tmp_path / "llmeval"
    script.write_text(capsys.readouterr().out)
    ask = f"source {script}; COMP_WORDS=(llmeval rep); COMP_CWORD=1; $(complete -p llmeval | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo ${{COMPREPLY[@]}}"  # fmt: skip
    done = subprocess.run(["/bin/bash", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["report"]


def test_every_command_has_an_example_and_the_help_fits_a_screen(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 40
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
    assert f"llmeval_integrations.runs.running: evaluating {data} with json_validity" in said.stderr


def test_retries_are_logged_without_the_key(caplog):
    pytest.importorskip("openai")
    from server import ModelServer, answer, chat

    from llmeval_integrations.asking.loading import load_client

    caplog.set_level(logging.INFO, "llmeval_integrations")
    with ModelServer() as server:
        server.plays(answer({}, status=500), chat("fine"))
        client = load_client({"platform": "openai", "name": "m", "base_url": f"{server.url}/v1", "api_key": "sk-secret-1"})  # fmt: skip
        assert client.complete("well?") == "fine"
    assert any("trying again in" in record.getMessage() for record in caplog.records)
    assert "sk-secret-1" not in caplog.text
