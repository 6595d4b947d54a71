"""Between judges and clients: one loop, one call for one question, limits, budget, cache."""

import asyncio
import os
import time
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
from remote_model import Remote, Repeats, question

from llmeval_integrations import InvalidOptionError, Result, Sample
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.llm import failures
from llmeval_integrations.llm.budget import Budget, find_price
from llmeval_integrations.llm.cache import Cache
from llmeval_integrations.llm.loop import start, wait
from llmeval_integrations.llm.reply import Reply, Usage
from llmeval_integrations.llm.session import Session

TOKENS = 15
"""What each call of `Remote` takes."""


def ask_all(session, client, texts):
    """Ask all side by side; gives each text or error."""

    async def one(text):
        try:
            return (await session.reply(client, question(text))).text
        except ClientError as error:
            return error

    async def all_of_them():
        return await asyncio.gather(*map(one, texts))

    return wait(start(all_of_them()))


def numbers(count):
    return [str(number) for number in range(count)]


@pytest.fixture
def quick(monkeypatch):
    """Wait a fiftieth of the pauses."""
    monkeypatch.setattr(failures, "_FIRST_PAUSE", 0.02)


def test_so_many_calls_at_a_time_and_one_for_all_who_ask_the_same():
    client = Remote()
    assert ask_all(Session(4), client, numbers(40) * 2) == numbers(40) * 2
    assert (client.most_under_way, sorted(client.asked)) == (4, sorted(numbers(40)))


@pytest.mark.parametrize(
    ("failure", "kind", "calls"),
    [
        *((None, kind, 6) for kind in ("server", "rate_limited", "connection", "garbled")),
        (None, "timeout", 2),
        *((None, kind, 1) for kind in ("authentication", "bad_request", "context_overflow")),
        (ConnectionResetError("gone"), "connection", 6),  # of a client of one's own
        (503, "server", 6),
        (401, "authentication", 1),
    ],
)
def test_what_may_pass_is_tried_again(failure, kind, calls, quick):
    def says(_):
        if isinstance(failure, int):  # of a client with an HTTP library
            httpx = pytest.importorskip("httpx")
            request = httpx.Request("POST", "http://localhost")
            httpx.Response(failure, request=request).raise_for_status()
        raise failure or ClientError("failed", kind=kind)

    client = Remote(says, retries=5, seconds=0)
    [error] = ask_all(Session(), client, ["a"])
    assert (error.kind, len(client.asked)) == (kind, calls)


def test_the_default_tries_wait_at_least_ten_seconds(monkeypatch):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    def says(_):
        raise ClientError("down", kind="connection")

    client = Remote(says, seconds=0, retries=Remote.__mro__[1].retries)
    monkeypatch.setattr(failures.asyncio, "sleep", sleep)
    ask_all(Session(), client, ["a"])
    assert len([*filter(None, waited)]) == 5
    assert sum(waited) >= 10


def test_a_pause_that_is_asked_for_holds_all_back():
    started = time.monotonic()

    def says(text):
        if len(client.asked) <= 2:
            raise ClientError("busy", kind="rate_limited", retry_after=0.3)
        return text

    client = Remote(says, retries=5, seconds=0)
    assert ask_all(Session(2), client, numbers(6)) == numbers(6)
    assert time.monotonic() - started > 0.29


@pytest.mark.parametrize("kind", ["rate_limited", "server", None])
def test_a_server_that_pushes_back_or_is_down_for_a_while_answers_all(kind, quick):
    back = time.monotonic() + 0.1  # of pauses that add up to 0.3 at the least

    def says(text):
        if (client.under_way > 5) if kind else (time.monotonic() < back):
            raise ClientError("busy", kind=kind or "server")
        return text

    client = Remote(says, retries=5, seconds=0.001)
    assert ask_all(Session(), client, numbers(200)) == numbers(200)


@pytest.mark.parametrize(("concurrency", "calls"), [(1, 1), (32, 0), (32, 33)])
def test_a_budget_is_overshot_by_one_call_at_most(concurrency, calls):
    client, budget = Remote(seconds=0.002), Budget(max_tokens=calls * TOKENS)
    results = ask_all(Session(concurrency, budget=budget), client, numbers(100))
    assert calls <= len(client.asked) <= calls + (calls > 0)
    refused = [result for result in results if isinstance(result, ClientError)]
    assert len(refused) == 100 - len(client.asked)
    assert {(error.kind, error.label) for error in refused} <= {("budget", "budget")}
    words = f"not asked, because the budget max_tokens={calls * TOKENS:,} is spent"
    assert str(refused[0]) == words
    assert budget.spent.tokens == len(client.asked) * TOKENS


MILLION = 1_000_000
MINI = {"platform": "openai", "name": "gpt-4o-mini"}
SONNET = {"platform": "anthropic", "name": "claude-sonnet-4-5"}


@pytest.mark.parametrize(
    ("identity", "usage", "dollars"),
    [
        (MINI, Usage(MILLION, 0), 0.15),
        (MINI, Usage(0, MILLION), 0.60),
        (MINI, Usage(MILLION, 0, MILLION), 0.075),
        (SONNET, Usage(100_000, 0, 0, 100_000), 0.375),
        (MINI, Usage(10, 0, 20), 10 * 0.075 / MILLION),
        ({"platform": "litellm", "name": "openai/gpt-4o-mini"}, Usage(MILLION, 0), 0.15),
        ({**MINI, "base_url": "https://api.openai.com/v1"}, Usage(MILLION, 0), 0.15),
        ({"platform": None}, None, None),  # anybody may serve a model of that name
        ({"platform": "openai", "name": "my-own-model"}, None, None),
        ({**MINI, "base_url": "http://127.0.0.1:8000"}, None, None),
        ({**MINI, "base_url": "https://llm.example.com/v1"}, None, None),
    ],
)
def test_a_call_costs_what_the_vendors_list_says(identity, usage, dollars):
    pytest.importorskip("genai_prices")
    price = find_price(Remote(**{"name": "gpt-4o-mini", **identity}))
    if dollars is None:
        assert price.startswith("no price is known for the model ")
    else:
        assert price(usage) == pytest.approx(dollars)


def test_a_price_of_ones_own_comes_first_and_bounds_the_cost():
    client = Remote(seconds=0, **MINI)
    client.price = (1.0, 2.0)  # 20 millionths of a dollar a call
    assert find_price(client)(Usage(MILLION, 2 * MILLION)) == 5
    budget = Budget(max_cost=100e-6)
    ask_all(Session(budget=budget), client, numbers(20))
    assert 5 <= len(client.asked) <= 6
    with pytest.raises(
        InvalidOptionError, match=r"no price is known for .*; give the model a price"
    ):
        budget.price(Remote())


def test_a_server_that_tells_no_tokens_ends_a_budget():
    client, budget = Remote(Reply), Budget(max_tokens=1000)
    ask_all(Session(1, budget=budget), client, numbers(5))
    assert len(client.asked) == 1
    assert budget.reached == "max_tokens=1,000 (a server reported no tokens)"


@pytest.mark.parametrize(
    ("change", "is_found"),
    [
        ({"fence": "f2", "text": "mark f2 here"}, True),
        ({"draw": (0,)}, True),
        ({"draw": (1,)}, False),
        ({"schema": {"type": "object"}}, False),
        ({"text": "mark f1 there"}, False),
    ],
)
def test_a_reply_is_found_by_what_shapes_it_and_has_the_mark_of_its_request(
    tmp_path, change, is_found
):
    fields = {"fence": "f1", "text": "mark f1 here"}
    client = Remote(str, seconds=0)

    def ask(session, text, **changed):
        return wait(start(session.reply(client, question(text, **changed))))

    with closing(Cache(tmp_path / "replies.sqlite")) as cache:
        ask(Session(cache=cache), **fields)
        reply = ask(Session(cache=cache), **{**fields, **change})
    assert reply.cached is is_found
    if is_found:
        assert change.get("fence", "f1") in reply.text


def test_a_reply_that_an_error_broke_off_is_not_kept(tmp_path):
    client = Remote(lambda _: Reply("", "failed", Usage(1)), seconds=0)
    with closing(Cache(tmp_path / "replies.sqlite")) as cache:
        for _ in range(2):
            ask_all(Session(cache=cache), client, ["a"])
    assert len(client.asked) == 2


def test_a_session_that_is_drained_keeps_what_was_under_way(tmp_path):
    client = Remote(seconds=0.1)
    with closing(Cache(tmp_path / "replies.sqlite")) as cache:
        session = Session(4, cache=cache)

        async def interrupted():
            asked = [
                asyncio.ensure_future(session.reply(client, question(text))) for text in numbers(20)
            ]
            await asyncio.sleep(0.05)
            await session.drain()
            return await asyncio.gather(*asked, return_exceptions=True)

        wait(start(interrupted()))
        assert sorted(client.asked) == numbers(4)
        ask_all(Session(cache=cache), client, numbers(20))
    assert len(client.asked) == 20


def test_blocking_and_awaited_calls_agree_also_inside_a_running_loop():
    judge = Repeats(Remote(seconds=0))

    async def both():
        return judge("a").label, (await judge.aevaluate(Sample("a"))).label

    assert asyncio.run(both()) == ("A", "A")


# Windows has no fork, so no process there inherits a loop without its thread.
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_asks_on_a_loop_of_its_own():
    judge = Repeats(Remote(seconds=0))
    assert judge("a").label == "A"
    child = os.fork()
    if not child:
        os._exit(judge("b").label != "B")
    assert os.waitpid(child, 0)[1] == 0


def test_a_judge_that_would_wait_for_itself_is_told_how_to_ask_another():
    @dataclass(frozen=True)
    class Asks(JudgedEvaluator):
        other: Any

        async def judge(self, sample, ask):
            return Result(self.other(sample.output).score)

    with pytest.raises(RuntimeError, match=r"await judge\.result\(sample, ask\)"):
        Asks(Repeats(Remote()))("a")
