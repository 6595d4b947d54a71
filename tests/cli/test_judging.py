"""`llmeval run` with judges, against a server: what it asks, keeps, spends and exits with."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("openai")

from server import ModelServer, chat

from llmeval_integrations.cli.configuration import default_cache
from llmeval_integrations.cli.main import main

VERDICT = {"reasoning": "It is.", "verdict": "Pass", "confidence": "High"}
TOKENS = 11 + 7
"""What each call takes."""


@pytest.fixture
def server():
    with ModelServer() as server:
        server.plays(chat(json.dumps(VERDICT)))
        yield server


@pytest.fixture
def run(server, tmp_path, monkeypatch, capsys):
    """Run the command in a folder with data, ten rows; gives exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "home"))
    rows = [{"output": f"text {number}"} for number in range(10)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    client = {"platform": "openai", "name": "m", "base_url": f"{server.url}/v1", "api_key": "sk-1"}
    judge = f"pass_fail:client={json.dumps(client)},question=Is it, all in all, so?"

    def command(*options, judge=judge, data="data.jsonl"):
        given = ["-e", judge] if judge else []
        code = main(["run", data, *given, "--json", *options])
        output = capsys.readouterr()
        return code, json.loads(output.out) if output.out else None, output.err

    command.client = client
    return command


def judging(summary):
    return summary["judging"]


def test_replies_are_kept_in_the_users_cache_folder(run, server, tmp_path):
    code, summary, _ = run()
    assert (code, judging(summary)["calls"], len(server.requests)) == (0, 10, 10)
    assert summary["evaluators"]["pass_fail"]["pass_rate"] == 1.0
    if sys.platform != "darwin":
        assert default_cache() == tmp_path / "home" / "llmeval" / "replies.sqlite"
    assert default_cache().exists()
    assert (run()[0], len(server.requests)) == (0, 10)
    assert b"sk-1" not in default_cache().read_bytes()


def test_another_file_or_none_can_be_asked_for(run, server, tmp_path):
    run("--cache", "here/c.sqlite")
    run("--cache", "here/c.sqlite")
    assert len(server.requests) == 10
    run("--no-cache")
    run("--no-cache")
    assert len(server.requests) == 30
    assert not (tmp_path / "home").exists()
    assert (tmp_path / "here" / "c.sqlite").exists()


def test_a_frozen_run_asks_nothing_and_fails_where_replies_are_missing(run, server, tmp_path):
    code, _, said = run("--frozen")
    assert (code, "there is no cache" in said) == (2, True)
    run()
    assert run("--frozen")[0] == 0
    data = (tmp_path / "data.jsonl").read_text()
    (tmp_path / "data.jsonl").write_text(f'{data}\n{{"output": "new"}}')
    code, summary, said = run("--frozen")
    assert code == 2
    assert "1 request was not made: the cache is frozen and lacks them" in said
    assert judging(summary)["not_asked"] == 1
    assert len(server.requests) == 10


def test_a_budget_that_ends_before_the_data_is_exit_code_1(run, server):
    code, summary, said = run("--max-tokens", str(3 * TOKENS), "--concurrency", "1")
    assert (code, len(server.requests), judging(summary)["not_asked"]) == (1, 3, 7)
    assert f"7 requests were not made: the budget max_tokens={3 * TOKENS} was spent" in said
    assert run("--max-tokens", str(100 * TOKENS))[0] == 0


def test_a_configuration_file_says_the_same(run, server, tmp_path):
    (tmp_path / "eval.yaml").write_text(f"""
data: data.jsonl
evaluators:
  - name: harbour
    evaluator: pass_fail
    options:
      client: {json.dumps(run.client)}
      question: Is it about the harbour?
  - pass_fail: {{client: {json.dumps(run.client)}, question: "Is it short?"}}
concurrency: 2
cache: kept/c.sqlite
max_tokens: {1000 * TOKENS}
""")
    code, summary, _ = run(judge=None, data="eval.yaml")
    assert (code, list(summary["evaluators"])) == (0, ["harbour", "pass_fail"])
    assert (tmp_path / "kept" / "c.sqlite").exists()
    assert (judging(summary)["calls"], len(server.requests)) == (20, 20)
    assert run("--frozen", judge=None, data="eval.yaml")[0] == 0
    assert run("--no-cache", "--max-tokens", "1", judge=None, data="eval.yaml")[0] == 1
    assert 20 < len(server.requests) <= 22


def test_a_configuration_says_how_judges_are_asked_for_runs_without_one_too(run, tmp_path):
    (tmp_path / "eval.yaml").write_text("""
data: data.jsonl
evaluators: [json_validity]
concurrency: 2
cache: kept/c.sqlite
frozen: true
max_tokens: 1000
""")
    assert run(judge=None, data="eval.yaml")[0] == 0
    code, _, said = run("--frozen", judge=None, data="eval.yaml")
    assert (code, "--frozen is for judges, and json_validity asks none" in said) == (2, True)


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"HOME": "/home/a"}, "/home/a/.cache/llmeval/replies.sqlite"),
        ("linux", {"HOME": "/home/a", "XDG_CACHE_HOME": "/var/a"}, "/var/a/llmeval/replies.sqlite"),
        ("darwin", {"HOME": "/Users/a"}, "/Users/a/Library/Caches/llmeval/replies.sqlite"),
        ("win32", {"HOME": "/a", "LOCALAPPDATA": "/a/L"}, "/a/L/llmeval/replies.sqlite"),
        ("win32", {"HOME": "/a", "LOCALAPPDATA": ""}, "/a/AppData/Local/llmeval/replies.sqlite"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the paths are written as on Unix")
def test_the_cache_is_where_the_operating_system_has_caches(
    monkeypatch, platform, variables, expected
):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert str(default_cache()) == expected


def test_what_an_earlier_call_left_out_is_not_laid_to_this_one(run, server):
    first = run("--max-tokens", str(3 * TOKENS), "--concurrency", "1", "--out", "r")
    assert first[0] == 1
    code, summary, said = run("--out", "r", "--resume")
    assert (code, judging(summary)["not_asked"], len(server.requests)) == (1, 7, 3)
    assert (
        "7 requests were not made: an earlier call left them out, for its budget or its frozen "
        "cache; --resume --retry-errors makes them" in said
    )
    code, _, said = run("--out", "r", "--resume", "--frozen")
    assert (code, "an earlier call left them out" in said) == (2, True)
    code, _, said = run("--out", "r", "--resume", "--frozen", "--retry-errors")
    assert (code, "the cache is frozen and lacks them" in said) == (2, True)
    code, _, said = run("--out", "r", "--resume")
    assert (code, "an earlier call left them out" in said) == (1, True)
    code, summary, said = run("--out", "r", "--resume", "--retry-errors")
    assert (code, judging(summary)["not_asked"], len(server.requests)) == (0, 0, 10)
    assert "requests were not made" not in said


def test_a_key_that_is_not_there_stops_a_run_unless_it_is_frozen(run, server, tmp_path):
    assert run()[0] == 0
    client = {**run.client, "api_key": "${NO_SUCH_KEY}"}
    judge = f"pass_fail:client={json.dumps(client)},question=Is it, all in all, so?"
    code, _, said = run("--out", "run", judge=judge)
    assert (code, "no variable 'NO_SUCH_KEY'" in said) == (2, True)
    assert not (tmp_path / "run").exists()
    code, summary, _ = run("--out", "run", "--frozen", judge=judge)
    assert (code, judging(summary)["cached"], len(server.requests)) == (0, 10, 10)


def test_a_run_that_tells_more_shows_no_key_in_an_address(run, server):
    client = {**run.client, "base_url": f"{server.url}/v1?key=SECRET-1234"}
    judge = f"pass_fail:client={json.dumps(client)},question=Is it?"
    command = [sys.executable, "-m", "llmeval_integrations", "-v", "run", "data.jsonl", "-e", judge]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "evaluating data.jsonl" in done.stderr
    assert server.requests
    assert "SECRET" not in done.stdout + done.stderr
