"""A budget ends the asking, never what is under way, and every token is on the account."""

import pytest
from remote_model import Remote, question

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.budget import Budget, Spending
from llmeval_integrations.llm.caching.cache import Cache
from llmeval_integrations.llm.client import Ask
from llmeval_integrations.llm.pooling.pool import Pool
from llmeval_integrations.llm.reply import JudgeReply, Usage

TOKENS = 15
"""What each call of the remote model takes: 10 in, 5 out."""


def said(client, text):
    return (yield Ask(client, question(text))).text


def spend(pool, client, count, spending=None):
    return pool.all((said(client, str(n)) for n in range(count)), spending)


@pytest.mark.parametrize("concurrency", [1, 2, 8, 32])
@pytest.mark.parametrize("calls", [0, 1, 10, 33])
def test_no_call_begins_once_the_tokens_are_spent(concurrency, calls):
    client, budget = Remote(seconds=0.002), Budget(max_tokens=calls * TOKENS)
    with Pool(concurrency, budget=budget) as pool:
        results = spend(pool, client, 100)
    under_way = max(concurrency - 1, 0) if calls else 0
    assert calls <= len(client.asked) <= calls + under_way
    refused = [result for result in results if isinstance(result, ClientError)]
    assert len(refused) == 100 - len(client.asked)
    assert {(error.kind, error.label) for error in refused} == {("budget", "budget")}
    assert str(refused[0]) == f"not asked, for the budget max_tokens={calls * TOKENS:,} is spent"
    assert budget.spent.tokens == len(client.asked) * TOKENS


def test_a_budget_that_suffices_is_not_felt():
    budget = Budget(max_tokens=10**9)
    with Pool(4, budget=budget) as pool:
        assert spend(pool, Remote(), 20) == [str(n) for n in range(20)]
    assert budget.reached is None


def test_tries_of_one_request_stop_too():
    def failing(_text):
        budget.spent.input_tokens = 100
        raise ClientError("busy", kind="connection")

    client, budget = Remote(failing, retries=5), Budget(max_tokens=50)
    with Pool(1, budget=budget) as pool:
        [error] = spend(pool, client, 1)
    assert (error.kind, len(client.asked)) == ("budget", 1)


def test_replies_of_the_cache_are_free_and_come_also_when_all_is_spent(tmp_path):
    client = Remote(seconds=0)
    with Cache(tmp_path / "replies.sqlite") as cache:
        with Pool(4, cache=cache) as pool:
            spend(pool, client, 10)
        budget, spending = Budget(max_tokens=0), Spending()
        with Pool(4, cache=cache, budget=budget) as pool:
            results = spend(pool, client, 12, spending)
    assert results[:10] == [str(n) for n in range(10)]
    assert [error.kind for error in results[10:]] == ["budget", "budget"]
    assert spending.summary() == {
        "calls": 10, "cached": 10, "failed": 0, "not_asked": 2,
        "input_tokens": 0, "output_tokens": 0, "cost": 0.0,
    }  # fmt: skip


def test_each_job_has_its_account_and_the_pool_one_of_all():
    def says(text):
        if text == "3":
            raise ClientError("no", kind="bad_request")
        return text

    first, second = Spending(), Spending()
    with Pool(4) as pool:
        spend(pool, Remote(says), 5, first)
        spend(pool, Remote(str), 2, second)
    assert (first.calls, first.failed, first.input_tokens, first.output_tokens) == (4, 1, 40, 20)
    assert (second.calls, second.failed, second.input_tokens, second.output_tokens) == (
        2,
        0,
        20,
        10,
    )
    whole = pool.budget.spent
    assert (whole.calls, whole.failed, whole.tokens) == (6, 1, 90)
    assert whole.summary()["cost"] is None  # nobody knows what such a model costs


PRICED = {"platform": "openai", "name": "gpt-4o-mini"}
DOLLARS = (1_000 * 0.15 + 100 * 0.60) / 1e6
"""What a call of 1,000 and 100 tokens costs; the price stands in the vendor's list."""


def long_reply(text):
    return JudgeReply(text, usage=Usage(1_000, 100))


def test_no_call_begins_once_the_dollars_are_spent():
    pytest.importorskip("genai_prices")
    client, budget = Remote(long_reply, **PRICED), Budget(max_cost=9.5 * DOLLARS)
    with Pool(4, budget=budget) as pool:
        results = spend(pool, client, 50)
    assert 10 <= len(client.asked) <= 13
    assert str(results[-1]) == f"not asked, for the budget max_cost={9.5 * DOLLARS:g} is spent"
    assert budget.spent.summary()["cost"] == pytest.approx(len(client.asked) * DOLLARS)


def test_a_model_without_a_price_is_not_asked_where_the_cost_is_bounded():
    pytest.importorskip("genai_prices")
    client = Remote(platform="openai", name="my-own-model")
    with Pool(4, budget=Budget(max_cost=1)) as pool:
        [error] = spend(pool, client, 1)
    assert isinstance(error, InvalidOptionError)
    assert str(error) == (
        "max_cost=1: no price is known of the model 'my-own-model' of 'openai'; "
        "bound max_tokens instead"
    )
    assert not client.asked


def test_what_may_be_secret_in_an_address_or_an_option_is_not_shown():
    pytest.importorskip("genai_prices")
    address = "https://user:sk-0123456789@example.org/v1"
    options = {"extra_headers": {"authorization": "sk-0123456789"}}
    client = Remote(platform="openai", name="m", base_url=address, options=options)
    with pytest.raises(InvalidOptionError, match="behind an address of its own") as caught:
        Budget(max_cost=1).price(client.identity())
    assert "sk-0123456789" not in str(caught.value)


def test_a_server_that_tells_no_tokens_ends_a_budget_that_nobody_could_keep():
    client, budget = Remote(JudgeReply, seconds=0.002), Budget(max_tokens=10**9)
    with Pool(4, budget=budget) as pool:
        results = spend(pool, client, 50)
    assert 1 <= len(client.asked) <= 4
    assert str(results[-1]) == (
        "not asked, for the budget max_tokens=1,000,000,000 (a server told no tokens) is spent"
    )
    free = Budget()
    with Pool(4, budget=free) as pool:
        assert spend(pool, client, 50) == [str(n) for n in range(50)]
    assert (free.spent.uncounted, free.spent.summary()["cost"]) == (50, None)


@pytest.mark.parametrize("bound", ["max_cost", "max_tokens"])
@pytest.mark.parametrize("value", [-1, "1", True, float("nan"), float("inf")])
def test_a_bound_that_makes_no_sense_is_named(bound, value):
    with pytest.raises(InvalidOptionError, match=f"^{bound}=.* is not a number of at least 0"):
        Budget(**{bound: value})
