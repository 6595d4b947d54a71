"""What `llmeval run` says, and how it ends, where judges give no score."""

import json

import pytest

pytest.importorskip("openai")

from server import ModelServer, chat

from llmeval_integrations.cli.main import main

VERDICT = {"reasoning": "It is.", "verdict": "Pass", "confidence": "High"}
TOKENS = 11 + 7
"""What each call takes."""


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "data.jsonl").write_text("".join(f'{{"output": "{n}"}}\n' for n in range(10)))


def judge(url):
    client = {"platform": "openai", "name": "m", "base_url": f"{url}/v1", "api_key": "sk-1"}
    return f"pass_fail:client={json.dumps(client)},question=Is it, all in all, so?"


def said(capsys):
    output = capsys.readouterr()
    assert output.out == ""
    return output.err.splitlines()


def test_a_run_without_any_score_is_exit_code_2_and_says_why(data, capsys):
    dead = judge("http://127.0.0.1:9")
    assert main(["run", "data.jsonl", "-q", "-e", dead, "--out", "run"]) == 2
    warning, end = said(capsys)
    assert "pass_fail: NO row has a score, most often (connection): the connection" in warning
    assert warning.endswith("; --resume --retry-errors asks again")
    assert end == "llmeval run: no row has a result, so nothing was evaluated"


def test_some_unscored_rows_are_warned_about(data, capsys):
    with ModelServer() as server:
        server.plays(chat(json.dumps(VERDICT)))
        options = ["--max-tokens", str(3 * TOKENS), "--concurrency", "1"]
        assert main(["run", "data.jsonl", "-q", "-e", judge(server.url), *options]) == 1
    warning, _ = said(capsys)
    assert "pass_fail: 7 of 10 rows have no score and count in no rate, most often (budget)" in (
        warning
    )
    assert "--resume --retry-errors asks again" in warning


def test_replies_that_are_kept_are_asked_anew_without_the_cache(data, capsys):
    with ModelServer() as server:
        server.plays(chat("I cannot say."))
        run = ["run", "data.jsonl", "-q", "-e", judge(server.url), "--out", "run"]
        assert main(run) == 2
        assert "--resume --retry-errors --no-cache asks again" in said(capsys)[0]
        server.plays(chat(json.dumps(VERDICT)))
        assert main([*run, "--resume", "--retry-errors"]) == 2  # the cache says the same
        assert main([*run, "--resume", "--retry-errors", "--no-cache"]) == 0


def test_labels_without_scores_are_results(data, tmp_path, capsys):
    with ModelServer() as server:
        client = {"platform": "openai", "name": "m", "base_url": f"{server.url}/v1", "api_key": "k"}
        tone = {"name": "tone", "client": client, "prompt": "{output}?", "choices": ["good", "bad"]}
        run = {"data": "data.jsonl", "out": "run", "evaluators": [{"classification": tone}]}
        (tmp_path / "run.yaml").write_text(json.dumps(run))  # which is YAML, too
        server.plays(chat('{"explanation": "it is", "label": "good"}'))
        assert main(["run", "run.yaml", "-q"]) == 0
        assert said(capsys) == []
        calls = len(server.requests)
        again = ["run", "run.yaml", "-q", "--resume", "--retry-errors", "--no-cache"]
        assert main(again) == 0
        assert len(server.requests) == calls
    figures = json.loads((tmp_path / "run" / "summary.json").read_text())["evaluators"]["tone"]
    assert figures["labels"] == {"good": 10}
    assert (figures["n"], figures["scored"], figures["unscored"]) == (10, 0, 0)
    rows = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").open()]
    assert {(row["score"], row["label"], row["unscored"]) for row in rows} == {
        (None, "good", False)
    }
