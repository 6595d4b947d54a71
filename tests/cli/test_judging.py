"""`llmeval run` with judges on a local server: requests, cache, budgets, plans and exit codes."""

import json
import re

import pytest

pytest.importorskip("openai")

from server import ModelServer, chat

from llmeval_integrations.cli.configuration import default_cache

VERDICT = {"reasoning": "It is.", "verdict": "Pass", "confidence": "High"}
TOKENS = 11 + 7
"""What each call takes."""
DEAD = "http://127.0.0.1:9"


@pytest.fixture
def server():
    with ModelServer() as server:
        server.plays(chat(json.dumps(VERDICT)))
        yield server


@pytest.fixture
def run(server, llmeval, tmp_path):
    """Run the command in a folder with data, ten rows; gives exit code, JSON or text, stderr."""
    rows = [{"output": f"text {number}"} for number in range(10)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def command(*options, url=server.url, **changes):
        judge = f"pass_fail:model={json.dumps(model(url, **changes))},question=Is it, or not?"
        code, out, said = llmeval("run data.jsonl -e", judge, *options)
        return code, json.loads(out) if "--json" in options and out else out, said

    return command


def model(url, **changes):
    return {"platform": "openai", "name": "m", "base_url": f"{url}/v1", "api_key": "sk-1"} | changes


def test_replies_are_kept_in_the_cache_folder_or_another_file_or_nowhere(run, server, tmp_path):
    code, summary, _ = run("--json")
    assert (code, summary["judging"]["calls"], len(server.requests)) == (0, 10, 10)
    assert summary["evaluators"]["pass_fail"]["pass_rate"] == 1.0
    assert default_cache().exists()
    assert (run()[0], len(server.requests)) == (0, 10)
    assert b"sk-1" not in default_cache().read_bytes()
    for _ in range(2):
        run("--cache", "here/c.sqlite")
        run("--no-cache")
    assert len(server.requests) == 40
    assert (tmp_path / "here" / "c.sqlite").exists()


def test_a_frozen_run_asks_nothing_and_fails_if_replies_are_missing(run, server, tmp_path):
    code, _, said = run("--frozen")
    assert (code, "there is no cache" in said) == (2, True)
    run()
    assert run("--frozen", api_key="${NO_SUCH_KEY}")[0] == 0
    code, _, said = run("--out", "run", api_key="${NO_SUCH_KEY}")
    assert (code, "no variable 'NO_SUCH_KEY'" in said) == (2, True)
    assert not (tmp_path / "run").exists()
    with (tmp_path / "data.jsonl").open("a") as file:
        file.write('\n{"output": "new"}')
    code, summary, said = run("--frozen", "--json")
    assert code == 2
    assert "1 request was not made: the cache is frozen and lacks them" in said
    assert (summary["judging"]["not_asked"], len(server.requests)) == (1, 10)


def test_a_spent_budget_is_exit_code_1_until_the_rest_is_asked(run, server):
    spent = ("--max-tokens", str(3 * TOKENS), "--concurrency", "1")
    code, summary, said = run(*spent, "--out", "r", "--json")
    assert (code, len(server.requests), summary["judging"]["not_asked"]) == (1, 3, 7)
    assert f"7 requests were not made: the budget max_tokens={3 * TOKENS} was spent" in said
    assert "7 of 10 rows have no score and are left out of rates, most often (budget)" in said
    code, _, said = run("--out", "r", "--resume")
    assert (code, "7 requests were not made: an earlier call left them out" in said) == (1, True)
    code, _, said = run("--out", "r", "--resume", "--retry-errors")
    assert (code, "not made" in said, len(server.requests)) == (0, False, 10)


def test_a_run_without_scores_is_exit_code_2_and_says_how_to_ask_again(run, server):
    code, _, said = run("-q", "--out", "dead", url=DEAD, retries=1)
    warning, end = said.splitlines()
    assert code == 2
    assert (
        "pass_fail: 10 of 10 rows have no score and are left out of rates, most often (connection): the connection"
        in warning
    )
    assert warning.endswith("; --resume --retry-errors asks again")
    assert end == "llmeval run: no row has a result, so nothing was evaluated"
    server.plays(chat("I cannot say."))
    code, _, said = run("-q", "--out", "run")
    assert (code, "--resume --retry-errors --no-cache asks again" in said) == (2, True)
    server.plays(chat(json.dumps(VERDICT)))
    again = ("-q", "--out", "run", "--resume", "--retry-errors")
    assert run(*again)[0] == 2  # the cache says the same
    assert run(*again, "--no-cache")[0] == 0


@pytest.mark.parametrize(("unscored", "code"), [(0, 0), (1, 1)])
def test_a_gate_fails_if_too_many_rows_have_no_score(run, server, unscored, code):
    passed = chat(json.dumps(VERDICT))
    server.plays(*[chat("", refusal="no")] * unscored, passed)
    found, _, said = run("-q", "--fail-under", "pass_fail=0.5", "--concurrency", "1")
    assert found == code
    assert ("pass_fail: 1 of 10 rows have no result, more than 5%" in said) == bool(unscored)


def test_a_plan_counts_rows_and_requests_and_sends_none(run, server, tmp_path):
    with (tmp_path / "data.jsonl").open("a") as file:
        file.write('\nno JSON\n{"answer": "text"}')
    code, out, _ = run("--dry-run", "--out", "run", "-e", "json_validity")
    assert (code, server.requests, (tmp_path / "run").exists()) == (0, [], False)
    plan, judge, validity = out.splitlines()
    assert plan == "12 samples; nothing is asked and nothing is written"
    assert validity == "json_validity: 10 evaluated, 2 error rows"
    assert judge.startswith(
        "pass_fail: 10 evaluated, 2 error rows, at least 10 calls, 0 replies from the cache, about "
    )
    assert "at an unknown price: no price is known for the model 'm' of " in judge
    assert "at an address of its own" in judge
    run("--limit", "4")
    assert "at least 6 calls, 4 replies from the cache" in run("--dry-run")[1]
    assert len(server.requests) == 4


def test_a_plan_shows_a_known_price(run):
    pytest.importorskip("genai_prices")
    judge = run("--dry-run", name="gpt-4o-mini", base_url=None)[1].splitlines()[1]
    tokens, cost = re.search(
        r"about ([\d,]+) tokens of .* 1,500 of replies, about \$(.*)", judge
    ).groups()
    expected = int(tokens.replace(",", "")) * 0.15e-6 + 1_500 * 0.6e-6
    assert float(cost) == pytest.approx(expected, abs=1e-4)


def test_prefer_shows_two_runs_to_a_judge(llmeval, server, tmp_path):
    for name in ("one", "two"):
        rows = [{"id": number, "output": f"{name} {number}"} for number in range(20)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        assert llmeval(f"run {name}.jsonl -q -e length_penalty -o {name}")[0] == 0
    server.plays(chat(json.dumps({"reasoning": "It comes first.", "label": "first"})))
    code, out, _ = llmeval("prefer one two -e", f"preference:model={json.dumps(model(server.url))}")
    won, place = out.splitlines()[:2]
    assert (code, won.startswith("one against two: 50.0% (")) == (0, True)
    assert won.endswith("0 won, 20 tied, 0 lost")
    assert "the first place was preferred in both orders in 100.0% of pairs" in place
    assert llmeval("prefer one -e json_validity")[0] == 2
    assert llmeval("prefer one two -e json_validity")[0] == 2
