"""`llmeval run` with judges on a local server: requests, cache, budgets, plans and exit codes."""

import json
import re

import pytest

pytest.importorskip("openai")

from server import ModelServer, chat

from llmeval_integrations.cli.configuration import choose_cache

YES = chat(json.dumps({"reasoning": "It is.", "verdict": "Pass", "confidence": "High"}))
REFUSAL, UNCLEAR = chat("", refusal="no"), chat("I cannot say.")


@pytest.fixture
def server():
    with ModelServer() as server:
        server.plays(YES)
        yield server


@pytest.fixture
def run(server, llmeval):
    """Run the command over ten rows, or over eleven with MORE; gives exit code, stdout, stderr."""

    def run(options, **changes):
        changes |= {"base_url": "http://127.0.0.1:9/v1", "retries": 1} if "DEAD" in options else {}
        changes |= {"api_key": "${NO_SUCH_KEY}"} if "KEYLESS" in options else {}
        judge = f"pass_fail:model={json.dumps(model(server, **changes))},question=Is it, or not?"
        data = "more.jsonl" if "MORE" in options else "ten.jsonl"
        return llmeval(f"run {data} {re.sub('[A-Z]{3,}', '', options)} -e", judge)

    return run


def model(server, **changes):
    return {"platform": "openai", "name": "m", "base_url": f"{server.url}/v1", "api_key": "sk-1"} | changes  # fmt: skip


# Calls in their order: options, exit code, what is said, and the requests until then, which a list
# of new replies sets back.
STORIES = {
    "replies are kept in the user's folder, in another file or nowhere": [
        ("", 0, "", 10),
        ("", 0, "", 10),
        ("--cache here/c.sqlite", 0, "", 20),
        ("--cache here/c.sqlite", 0, "", 20),
        ("--no-cache", 0, "", 30),
        ("--no-cache", 0, "", 40),
    ],
    "a frozen run asks nothing, needs no key, and fails if replies are missing": [
        ("--frozen", 2, "there is no cache", 0),
        ("", 0, "", 10),
        ("KEYLESS --frozen", 0, "", 10),
        ("KEYLESS --out new", 2, "no variable 'NO_SUCH_KEY'", 10),
        ("MORE --frozen", 2, "1 request was not made: the cache is frozen and lacks them", 10),
    ],
    "a spent budget is exit code 1 until the rest is asked": [
        # Each call takes 11 tokens and gives 7.
        ("--max-tokens 54 --concurrency 1 --out r", 1, "7 of 10 rows have no score and are left out of rates, for example (budget): … 7 requests were not made: the budget max_tokens=54 was spent", 3),
        ("--out r --resume", 1, "7 requests were not made: an earlier call left them out", 3),
        ("--out r --resume --retry-errors", 0, "", 10),
    ],
    "a run without scores is exit code 2 and says how to ask again": [
        ("DEAD -q", 2, "10 of 10 rows have no score and are left out of rates, for example (connection): the connection … asks again, and with --no-cache also if a reply is unreadable\nllmeval run: no row has a result, so nothing was evaluated\n", 0),
    ],
    "a reply that cannot be understood is asked for again without the cache": [
        [UNCLEAR],
        ("-q --out r", 2, "--resume --retry-errors asks again, and with --no-cache also", 20),
        [YES],
        ("-q --out r --resume --retry-errors", 2, "no row has a result", 0),
        ("-q --out r --resume --retry-errors --no-cache", 0, "", 10),
    ],
    "a gate fails if too many rows have no score": [
        ("-q --fail-under pass_fail=0.5", 0, "", 10),
        [REFUSAL, YES],
        ("-q --fail-under pass_fail=0.5 --no-cache --concurrency 1", 1, "pass_fail: 1 of 10 rows have no result, more than 5%", 10),
    ],
}  # fmt: skip


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_calls_one_after_the_other(run, server, tmp_path, story):
    for step in story:
        if isinstance(step, list):
            server.plays(*step)
            continue
        options, code, said, requests = step
        found, _, complained = run(options)
        assert (found, len(server.requests)) == (code, requests), complained
        assert all(part in complained for part in said.split(" … "))
        assert said or not complained
    assert not (tmp_path / "new").exists()
    assert not choose_cache(None).exists() or b"sk-1" not in choose_cache(None).read_bytes()


def test_without_a_home_folder_no_reply_is_kept(run, server, monkeypatch):
    pwd = pytest.importorskip("pwd")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # as for a user without a name
    for requests in (10, 20):
        assert run("")[0] == 0
        assert len(server.requests) == requests


def test_a_plan_counts_rows_and_requests_and_sends_none(run, server, tmp_path):
    with (tmp_path / "ten.jsonl").open("a") as file:
        file.write('\nno JSON\n{"answer": "text"}\n{"output": "text 9"}')
    code, out, _ = run("--dry-run --out new -e json_validity")
    assert (code, server.requests, (tmp_path / "new").exists()) == (0, [], False)
    plan, validity, judge, total = out.splitlines()
    assert plan == "13 samples; nothing is asked and nothing is written"
    errors = "11 evaluated, 2 error rows (for example: "
    assert validity.startswith(f"json_validity: {errors}not JSON: ")
    assert judge.startswith(f"pass_fail: {errors}")
    assert total.startswith("judges: at least 10 calls, 1 replies from the cache, about ")
    assert "at an unknown price: no price is known for the model 'm' of " in total
    assert "at an address of its own" in total
    run("--limit 4")
    assert "at least 6 calls, 5 replies from the cache" in run("--dry-run")[1]
    assert "4 replies from the cache, which lacks at least 6\n" in run("--dry-run --frozen")[1]
    assert len(server.requests) == 4


def test_a_plan_shows_a_known_price(run):
    pytest.importorskip("genai_prices")
    judge = run("--dry-run", name="gpt-4o-mini", base_url=None)[1]
    pattern = r"about ([\d,]+) tokens of .* 1,500 of replies, about \$(.*)"
    tokens, cost = re.search(pattern, judge).groups()
    expected = int(tokens.replace(",", "")) * 0.15e-6 + 1_500 * 0.6e-6
    assert float(cost) == pytest.approx(expected, abs=1e-4)
    batch = run("--dry-run --batch --out run", name="gpt-4o-mini", base_url=None)[1]
    assert float(re.search(pattern, batch)[2]) == pytest.approx(expected / 2, abs=1e-4)


def test_a_plan_of_a_cascade_counts_what_is_asked_in_any_case(llmeval, server):
    judge = {"pass_fail": {"model": model(server), "question": "Is it?"}}
    parts = json.dumps([{"vote": {"of": judge, "n": 2}}, {"relevance": {"model": model(server)}}])
    out = llmeval("run ten.jsonl --dry-run -e", f"cascade:evaluators={parts}")[1]
    assert "cascade: 10 evaluated\njudges: at least 20 calls, 0 replies from the cache" in out


def test_prefer_shows_two_runs_to_a_judge(llmeval, server):
    server.plays(chat(json.dumps({"reasoning": "It comes first.", "label": "first"})))
    call = "prefer before after -e", f"preference:model={json.dumps(model(server))}"
    code, out, _ = llmeval(*call)
    asked = len(server.requests)
    assert llmeval(*call)[1] == out  # its replies are kept, as those of `run`
    assert len(server.requests) == asked
    won, place = out.splitlines()[:2]
    assert (code, won.startswith("before against after: 50.0% (")) == (0, True)
    assert won.endswith("0 won, 20 tied, 0 lost")
    assert "the first place was preferred in both orders in 100.0% of pairs" in place
