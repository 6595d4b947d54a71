"""A run asks its judges side by side, pays each call once, and loses no row to another's failure."""

import asyncio
import os
import signal
import time

import pytest
from remote_model import Remote, Repeats
from servers.server import ModelServer, answer, chat

from llmeval_integrations import InvalidOptionError, JsonValidity, evaluate
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges import PassFail
from llmeval_integrations.judges.ensembles import Panel
from llmeval_integrations.llm.client import load_client
from llmeval_integrations.llm.reply import Reply, Usage
from llmeval_integrations.runs import Interrupted

SAMPLES = [{"id": number, "output": f"text {number}"} for number in range(500)]


def judge_figures(run, name="repeats"):
    return run.summary["evaluators"][name]["judge"]


def test_ten_of_five_hundred_calls_that_fail_for_good_leave_490_results(tmp_path):
    failing = range(7, 500, 50)

    def says(text):
        if int(text.split()[1]) in failing:
            raise ClientError("cannot be judged", kind="bad_request")
        return text

    client, second = Remote(says, seconds=0.002), Remote(str.title, seconds=0, name="remote-2")
    evaluators = {"one": Repeats(client), "json": JsonValidity(), "two": Repeats(second)}
    run = evaluate(SAMPLES, evaluators, out=tmp_path)
    assert [(row.id, row.evaluator) for row in run.rows] == [
        (number, name) for number in range(500) for name in evaluators
    ]
    figures = run.summary["evaluators"]["one"]
    assert (figures["scored"], figures["unscored"], figures["errors"]) == (490, 10, 0)
    rows = [row for row in run.rows if row.evaluator == "one"]
    assert [row.id for row in rows if row.unscored] == [*failing]
    assert {row.reason for row in rows if row.unscored} == {"cannot be judged"}
    assert all(row.label == f"text {row.id}" for row in rows if not row.unscored)
    assert 1 < client.most_under_way <= 32
    none = {"cached": 0, "not_asked": 0, "cost": None}
    two = {"calls": 500, "input_tokens": 5_000, "output_tokens": 2_500, "failed": 0, **none}
    assert judge_figures(run, "two") == two
    assert (judge_figures(run, "one")["failed"], "judge" in run.summary["evaluators"]["json"]) == (10, False)  # fmt: skip
    assert run.summary["judging"]["output_tokens"] == 2_500 + 490 * 5
    assert run.summary["judging"]["budget_reached"] is None


def test_one_slow_sample_holds_up_no_other():
    class Uneven(Remote):
        enough = None

        async def complete(self, request):
            self.enough = self.enough or asyncio.Event()
            if len(self.asked) == 200:  # of the 256 that may be ahead of the slow one
                self.enough.set()
            if request.text == "text 0":
                await asyncio.wait_for(self.enough.wait(), 20)
            return await super().complete(request)

    run = evaluate(SAMPLES, [Repeats(Uneven(str, seconds=0.001))], concurrency=8)
    assert [row.label for row in run.rows] == [sample["output"] for sample in SAMPLES]


def test_the_same_call_is_never_paid_twice_also_across_runs(tmp_path):
    cache = tmp_path / "replies.sqlite"
    client = Remote(seconds=0)
    samples = [{"output": f"text {number % 50}"} for number in range(100)]
    first = evaluate(samples, [Repeats(client)], cache=cache, out=tmp_path / "run")
    assert len(client.asked) == 50
    assert judge_figures(first) | {"cost": 0} == {
        "calls": 100, "cached": 50, "failed": 0, "not_asked": 0,
        "input_tokens": 500, "output_tokens": 250, "cost": 0,
    }  # fmt: skip
    again = Remote(seconds=0)
    second = evaluate(samples, [Repeats(again)], cache=cache)
    assert again.asked == []
    assert [row.label for row in second.rows] == [row.label for row in first.rows]
    assert (judge_figures(second)["cached"], judge_figures(second)["cost"]) == (100, 0.0)


def test_an_interrupt_and_its_resumption_ask_at_most_two_questions_again(tmp_path):
    def says(text):
        if text == "text 20" and client.asked.count(text) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return text

    client = Remote(says, seconds=0.05)
    options = {"out": tmp_path, "concurrency": 4}
    with pytest.raises(Interrupted):
        evaluate(SAMPLES[:40], Repeats(client), **options)
    assert 20 < len(client.asked) < 40
    run = evaluate(SAMPLES[:40], Repeats(client), resume=True, **options)
    assert run.summary["evaluators"]["repeats"]["scored"] == 40
    assert len(client.asked) <= 42


@pytest.mark.nightly
def test_an_outage_of_five_seconds_among_800_calls_unscores_at_most_five():
    with ModelServer() as server:
        began = []

        def play(_):
            if len(server.requests) == 400:
                began.append(time.monotonic())
            if began and time.monotonic() - began[0] < 5:
                return answer({"error": {"message": "overloaded"}}, 503)
            return chat('{"reasoning": "Short.", "verdict": "Pass"}', delay=0.05)

        server.plays(play)
        client = load_client("openai:gpt-4o", base_url=f"{server.url}/v1", api_key="sk-1")
        samples = [{"output": f"text {number}"} for number in range(800)]
        run = evaluate(samples, PassFail(client, "Is it short?"))
    figures = run.summary["evaluators"]["pass_fail"]
    assert began
    assert figures["unscored"] <= 5
    assert figures["scored"] + figures["unscored"] == 800


def test_a_budget_ends_a_run_with_all_its_rows(tmp_path):
    client = Remote(seconds=0.002)
    run = evaluate(SAMPLES, [Repeats(client)], max_tokens=150, concurrency=4, out=tmp_path)
    asked = len(client.asked)
    assert 10 <= asked <= 13
    assert len(run.rows) == 500
    figures = run.summary["evaluators"]["repeats"]
    assert (figures["scored"], figures["labels"]["budget"]) == (asked, 500 - asked)
    assert run.summary["judging"]["budget_reached"] == "max_tokens=150"
    assert run.summary["judging"]["not_asked"] == 500 - asked


def test_a_judge_without_a_price_is_found_before_anything_is_asked(tmp_path):
    pytest.importorskip("genai_prices")
    priced = Repeats(Remote(platform="openai", name="gpt-4o-mini"))
    unpriced = Repeats(Remote(platform="openai", name="my-own-model"))
    with pytest.raises(InvalidOptionError, match=r"no price is known for .*my-own-model"):
        evaluate(SAMPLES, [priced, Panel([priced, unpriced])], max_cost=1, out=tmp_path / "run")
    assert not priced.model.asked
    assert not (tmp_path / "run").exists()
    run = evaluate(SAMPLES[:2], priced, max_cost=1)
    assert judge_figures(run)["cost"] == pytest.approx(2 * (10 * 0.15 + 5 * 0.60) / 1e6)


def test_a_sample_that_is_nested_too_deeply_is_unscored():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    [row] = evaluate([{"output": deep}], Repeats(Remote())).rows
    assert (row.label, row.error) == ("too_deep", None)


def test_what_rows_that_are_retried_have_cost_is_counted_and_charged(tmp_path):
    broken = Reply("", "failed", Usage(10, 5))
    again = {"out": tmp_path / "run", "resume": True, "retry_errors": True, "concurrency": 1}
    for says, bound, asked in ((lambda _: broken, None, 10), (str, 160, 1), (str, None, 9)):
        client = Remote(says, seconds=0)
        run = evaluate(SAMPLES[:10], [Repeats(client)], max_tokens=bound, **again)
        assert len(client.asked) == asked
        assert run.summary["judging"]["budget_reached"] == (bound and f"max_tokens={bound}")
    figures = run.summary["judging"]
    assert run.summary["evaluators"]["repeats"]["scored"] == 10
    assert (figures["calls"], figures["input_tokens"], figures["output_tokens"]) == (20, 200, 100)
    results, client = tmp_path / "run" / "results.jsonl", Remote(seconds=0)
    results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:5]))
    evaluate(SAMPLES[:10], Repeats(client), max_tokens=151, **{**again, "retry_errors": False})
    assert len(client.asked) == 1  # five rows took 150 tokens
