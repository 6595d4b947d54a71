"""`llmeval run --dry-run`: what would be done, asked and paid, without doing it."""

import json
import sys

import pytest

pytest.importorskip("openai")

from server import ModelServer, chat

from llmeval_integrations.cli.main import main

VERDICT = {"reasoning": "It is.", "verdict": "Pass", "confidence": "High"}


@pytest.fixture
def dry_run(tmp_path, monkeypatch, capsys):
    """Run the command dry in a folder with 12 rows, two of which are none; gives what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    lines = [json.dumps({"output": f"text {number}"}) for number in range(10)]
    (tmp_path / "data.jsonl").write_text("\n".join([*lines, "no JSON", '{"answer": "text"}']))

    def dry_run(*options, dry=True, wrong=False):
        code = main(["run", "data.jsonl", *options, *(["--dry-run"] if dry else [])])
        said = capsys.readouterr()
        assert code in ({2} if wrong else {0} if dry else {0, 1}), said.err
        return said.err if wrong else said.out

    return dry_run


def judge(**client):
    client = {"platform": "openai", "api_key": "sk-1", **client}
    return f"pass_fail:client={json.dumps(client)},question=Is it, all in all, so?"


def test_it_says_how_many_rows_would_be_evaluated_and_writes_nothing(dry_run, tmp_path):
    assert dry_run("-e", "json_validity", "--limit", "11", "--out", "run") == (
        "11 samples; nothing is asked and nothing is written\n"
        "json_validity: 10 evaluated, 1 error row\n"
    )
    assert not (tmp_path / "run").exists()


def test_calls_and_their_price_are_estimated_and_nobody_is_asked(dry_run):
    with ModelServer() as server:
        out = dry_run("-e", judge(name="m", base_url=f"{server.url}/v1"))
        assert server.requests == []
    assert "pass_fail: 10 evaluated, 2 error rows, at least 10 calls, about " in out
    assert "at a price that is not known: no price is known of the model 'm' of " in out
    assert "behind an address of its own" in out


@pytest.fixture
def without_prices(monkeypatch):
    for module in ("genai_prices", "genai_prices.data_snapshot", "genai_prices.types"):
        monkeypatch.setitem(sys.modules, module, None)


PRICES = "genai-prices is not installed; run: pip install 'llmeval-integrations[prices]'"


@pytest.mark.usefixtures("without_prices")
def test_what_tells_the_price_is_named_where_it_is_missing(dry_run):
    assert f"at a price that is not known: {PRICES}\n" in dry_run("-e", judge(name="gpt-4o-mini"))


@pytest.mark.usefixtures("without_prices", "dry_run")
def test_a_run_says_what_would_tell_its_price(capsys):
    with ModelServer() as server:
        server.plays(chat(json.dumps(VERDICT)))
        address = server.url.replace("127.0.0.1", "0.0.0.0")  # noqa: S104 - this machine, and not known to be
        code = main(["run", "data.jsonl", "-e", judge(name="m", base_url=f"{address}/v1"), "-q"])
    assert code == 0
    assert f"llmeval run: warning: the cost is not known: {PRICES}\n" in capsys.readouterr().err


def test_a_known_price_is_given(dry_run):
    pytest.importorskip("genai_prices")
    plan = json.loads(dry_run("--json", "-e", judge(name="gpt-4o-mini", max_tokens=1000)))
    asking = plan["evaluators"]["pass_fail"]["judge"]
    assert asking["calls"] == 10
    assert asking["cost"] == pytest.approx(asking["input_tokens"] * 0.15e-6, rel=0.01)


def test_what_the_cache_holds_is_not_asked(dry_run):
    with ModelServer() as server:
        server.plays(chat(json.dumps(VERDICT)))
        options = ("-e", judge(name="m", base_url=f"{server.url}/v1"))
        dry_run(*options, "--limit", "4", dry=False)
        asked = len(server.requests)
        out = dry_run(*options)
        assert len(server.requests) == asked == 4
    assert "at least 6 calls, 4 replies from the cache" in out
