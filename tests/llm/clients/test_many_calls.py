"""Many calls of a real SDK to a server that fails, limits or tires: every row has its end."""

import json
import time
from threading import Lock

import pytest
from pace import at_most, pace
from server import answer, chat

from llmeval_integrations import evaluate, load_evaluator

pytest.importorskip("openai")

VERDICT = json.dumps({"reasoning": "It is.", "verdict": "Pass", "confidence": "High"})


@pytest.fixture
def judge_of(server):
    def make(**options):
        fields = {"base_url": f"{server.url}/v1", "api_key": "sk-1", "retries": 1, **options}
        client = {"platform": "openai", "name": "m", **fields}
        return load_evaluator("pass_fail", model=client, question="Is it right?")

    return make


def samples(count):
    return [{"id": number, "output": f"<{number}>"} for number in range(count)]


def test_ten_of_500_that_fail_for_good_leave_490_results(judge_of, server):
    failing = [*range(7, 500, 50)]

    def play(request):
        is_failing = any(f"<{number}>" in str(request.body) for number in failing)
        return answer({"error": {"message": "no"}}, 403) if is_failing else chat(VERDICT)

    server.plays(play)
    run = evaluate(samples(500), [judge_of()])
    assert [row.id for row in run.rows if row.label == "authentication"] == failing
    assert [row.label for row in run.rows].count("Pass") == 490
    assert len(server.requests) == 500
    assert len({request.connection for request in server.requests}) <= 32


class RateLimit:
    """Answers so many requests in each tenth of a second, and pushes the others back.

    It is a longer time on a slow machine, which would not reach the limit.
    """

    def __init__(self, calls):
        self.calls, self.windows, self.pushed_back = calls, {}, 0
        self.seconds = 0.1 * pace(clock=time.perf_counter)
        self._lock = Lock()

    def __call__(self, request):
        window = int(time.monotonic() / self.seconds)
        with self._lock:
            self.windows[window] = self.windows.get(window, 0) + 1
            if self.windows[window] <= self.calls:
                return chat(VERDICT)
            self.pushed_back += 1
        return answer(
            {"error": {"message": "slow down"}}, 429, {"retry-after": f"{self.seconds:.1f}"}
        )


def test_a_server_that_limits_the_rate_answers_all_in_the_end(judge_of, server):
    limit = RateLimit(10)
    server.plays(limit)
    run = evaluate(samples(100), [judge_of()])
    assert {row.label for row in run.rows} == {"Pass"}
    assert 0 < limit.pushed_back < 100


def test_a_server_that_hangs_takes_one_time_out_a_round_and_no_more(judge_of, server):
    server.plays(chat(VERDICT))
    evaluate(samples(1), [judge_of()])  # imports what the SDK does at its first call
    server.plays(chat(VERDICT, delay=60))
    began = time.perf_counter()
    with at_most(6, time.perf_counter):  # one behind the other it were 20 s
        run = evaluate(samples(40), [judge_of(timeout=0.5, retries=0)], concurrency=20)
    assert time.perf_counter() - began > 1
    assert {row.label for row in run.rows} == {"timeout"}
