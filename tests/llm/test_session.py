"""Between judges and clients: one loop, one call for one question, limits, budget, cache."""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import closing

import pytest
from remote_model import Remote, Repeats, question

from llmeval_integrations import InvalidOptionError, Sample
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm import failures
from llmeval_integrations.llm.budget import Budget, find_price
from llmeval_integrations.llm.cache import Cache
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.loop import start, wait
from llmeval_integrations.llm.messages import Image
from llmeval_integrations.llm.reply import Reply, Usage
from llmeval_integrations.llm.session import Session

TOKENS = 15  # of each call of `Remote`


def ask_all(session, client, texts):
    """Ask all side by side; gives each text or error."""

    async def ask():
        replies = (session.reply(client, question(text)) for text in texts)
        return await asyncio.gather(*replies, return_exceptions=True)

    return [getattr(each, "text", each) for each in wait(start(ask()))]


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


def told(kind, **more):
    return lambda: ClientError("no", kind=kind, **more)


def answered(status):
    """Make the error of a client with an HTTP library of its own."""
    httpx = pytest.importorskip("httpx")
    response = httpx.Response(status, request=httpx.Request("POST", "http://localhost"))
    return httpx.HTTPStatusError("no", request=response.request, response=response)


@pytest.mark.parametrize(
    ("fail", "kind", "calls"),
    [
        *((told(kind), kind, 6) for kind in ("server", "rate_limited", "connection", "garbled")),
        (told("timeout"), "timeout", 2),
        *((told(kind), kind, 1) for kind in ("authentication", "bad_request", "context_overflow", "not_found", "failed")),
        (lambda: ConnectionResetError("gone"), "connection", 6),  # of a client of one's own
        (lambda: answered(503), "server", 6),
        (lambda: answered(401), "authentication", 1),
        (told("rate_limited", retry_after=1e9), "rate_limited", 1),
    ],
)  # fmt: skip
def test_what_may_pass_is_tried_again(fail, kind, calls, quick):
    failure = fail()
    client = Remote(lambda _: failure, retries=5, seconds=0)
    [error] = ask_all(Session(), client, ["a"])
    assert (error.kind, len(client.asked)) == (kind, calls)


def test_the_default_tries_wait_at_least_ten_seconds(monkeypatch):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    client = Remote(lambda _: told("connection")(), retries=Client.retries)
    monkeypatch.setattr(failures.asyncio, "sleep", sleep)
    ask_all(Session(), client, ["a"])
    assert len(client.asked) == 6
    assert sum(waited) >= 10


def test_a_pause_that_is_asked_for_holds_all_back():
    pause, started = told("rate_limited", retry_after=0.3), time.monotonic()
    client = Remote(lambda text: pause() if len(client.asked) <= 2 else text, retries=5, seconds=0)
    assert ask_all(Session(2), client, numbers(6)) == numbers(6)
    assert time.monotonic() - started > 0.29


@pytest.mark.parametrize(
    ("kind", "is_busy"),
    [
        ("rate_limited", lambda client, _: client.under_way > 5),
        ("server", lambda client, _: client.under_way > 5),
        ("server", lambda _, seconds: seconds < 0.1),  # of pauses that add up to 0.3
    ],
)
def test_a_server_that_pushes_back_or_is_down_for_a_while_answers_all(kind, is_busy, quick):
    def says(text):
        return told(kind)() if is_busy(client, time.monotonic() - started) else text

    client, started = Remote(says, retries=5, seconds=0.001), time.monotonic()
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
    assert Repeats(client)("a").metadata["judge"]["cost"] == pytest.approx(20e-6)
    client.asked.clear()
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


def marked(mark="f1", place="here", image="aGk=", **fields):
    return question(f"mark {mark} {place}", fence=mark, **fields).prepend([Image(data=image)])


@pytest.mark.parametrize(
    ("again", "is_found"),
    [
        (marked("f2"), True),
        (marked(draw=(0,)), True),
        (marked(draw=(1,)), False),
        (marked(schema={"type": "object"}), False),
        (marked(place="there"), False),
        (marked(image="Ynll"), False),
    ],
)
def test_a_reply_is_found_by_what_shapes_it_and_has_the_mark_of_its_request(
    again, is_found, tmp_path
):
    client = Remote(str, seconds=0)
    with closing(Cache(tmp_path / "replies.sqlite")) as cache:
        for asked in (marked(), again):
            reply = wait(start(Session(cache=cache).reply(client, asked)))
    assert (reply.cached, again.fence in reply.text) == (is_found, True)


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
    other = Repeats(Remote())
    with pytest.raises(RuntimeError, match=r"await judge\.result\(sample, ask\)"):
        Repeats(Remote(lambda text: other(text).label))("a")


def test_a_process_ends_without_a_word_about_clients_that_are_still_closing():
    code = "import asyncio; from llmeval_integrations.llm.loop import start; start(asyncio.sleep(0.05))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
