"""A client with a cache asks each thing once, tells apart what differs, and forges nothing."""

import asyncio

import msgspec
import pytest
from remote_model import Remote, Repeats, question

from llmeval_integrations import Sample
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.caching.cache import Cache
from llmeval_integrations.llm.caching.cached import Cached
from llmeval_integrations.llm.client import Ask
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.pooling.pool import Pool
from llmeval_integrations.llm.reply import JudgeReply, Usage
from llmeval_integrations.llm.request import JudgeRequest

REQUEST = question("Is it right?", schema={"type": "object", "a": 1, "b": 2}, temperature=0.5)


@pytest.fixture
def cache(tmp_path):
    with Cache(tmp_path / "replies.sqlite") as cache:
        yield cache


@pytest.fixture
def ask(cache):
    """Ask once; gives the reply and whether the model was asked."""

    def once(request=REQUEST, client=None, **identity):
        client = client or Remote(seconds=0, **identity)
        reply = Cached(client, cache).ask(request)
        return reply, bool(client.asked)

    return once


def test_the_same_request_is_asked_once(ask):
    first, asked = ask()
    assert (first.text, first.cached, asked) == ("IS IT RIGHT?", False, True)
    again, asked = ask()
    assert (again, asked) == (msgspec.structs.replace(first, cached=True), False)


def test_awaited_and_blocking_callers_share_what_is_kept(ask, cache):
    ask()
    client = Remote()
    assert asyncio.run(Cached(client, cache).aask(REQUEST)).cached
    assert not client.asked


@pytest.mark.parametrize(
    "other",
    [
        {"messages": (Message("user", "Is it wrong?"),)},
        {"messages": (Message("system", "Is it right?"),)},
        {"messages": (Message("user", ("Is it", "right?")),)},
        {"messages": (Message("user", "Is it"), Message("user", "right?"))},
        {"schema": None},
        {"schema": {"type": "object", "b": 2, "a": 1}},  # a model writes in this order
        {"schema_name": "verdict"},
        {"output": "json"},
        {"temperature": 0.6},
        {"temperature": None},
        {"max_tokens": 100},
        {"draw": (1,)},
        {"draw": (0, 0)},
        {"fence": "right"},
    ],
)
def test_whatever_shapes_the_reply_makes_another_request(ask, other):
    ask()
    request = msgspec.structs.replace(REQUEST, **other)
    assert ask(request)[1]
    assert not ask(request)[1]
    assert not ask()[1]


@pytest.mark.parametrize(
    "other", [{"name": "remote-2"}, {"base_url": "http://x"}, {"options": {"seed": 1}}]
)
def test_another_model_is_asked_anew(ask, other):
    ask()
    assert ask(**other)[1]


def test_the_order_of_a_clients_identity_does_not_matter(ask):
    ask(a=1, b=2)
    assert not ask(b=2, a=1)[1]


def test_neither_key_nor_patience_tells_requests_apart(cache):
    pytest.importorskip("openai")
    from llmeval_integrations.llm.loading import load_client

    options = [{}, {"api_key": "sk-secret"}, {"timeout": 5}, {"retries": 3}]
    clients = [load_client("openai:gpt-5", **given) for given in options]
    assert len({Cached(client, cache).key(REQUEST) for client in clients}) == 1
    other = load_client("openai:gpt-5", temperature=1.0)
    assert Cached(other, cache).key(REQUEST) != Cached(clients[0], cache).key(REQUEST)


def fenced(fence, output):
    return JudgeRequest((Message("user", f"<{fence}>{output}</{fence}>"),), fence=fence)


def test_a_fence_is_no_part_of_the_request_and_the_reply_has_the_new_one(ask):
    quoting = Remote(lambda text: f"it says {text}", seconds=0)
    assert ask(fenced("k7", "hello"), quoting)[0].text == "it says <k7>hello</k7>"
    again, asked = ask(fenced("p3", "hello"))
    assert (again.text, asked) == ("it says <p3>hello</p3>", False)


@pytest.mark.parametrize("output", ["hello k7", "k7", "</k7>hello<k7>", "<k7></k7>"])
def test_an_output_that_holds_an_old_fence_is_another_request(ask, output):
    assert ask(fenced("k7", "hello"))[1]
    assert ask(fenced("p3", output))[1]


def test_text_without_a_fence_is_given_back_as_it_was(ask):
    client = Remote(lambda _: "the mark is p3", seconds=0)
    ask(question("a"), client)
    assert ask(question("a"))[0].text == "the mark is p3"


@pytest.mark.parametrize("finish", ["stop", "length", "refused", "other"])
def test_every_reply_that_was_paid_is_kept(ask, finish):
    reply = JudgeReply("Pa", finish, Usage(10, 2))
    ask(client=Remote(lambda _: reply, seconds=0))
    again, asked = ask()
    assert (again.finish, again.usage, asked) == (finish, reply.usage, False)


def test_a_reply_that_an_error_broke_off_is_asked_for_again(ask):
    ask(client=Remote(lambda _: JudgeReply("Pa", "failed"), seconds=0))
    again, asked = ask()
    assert (again.finish, asked) == ("stop", True)


def test_a_number_is_the_same_in_another_spelling(ask):
    for temperature in (0, 1):
        assert ask(question("a", temperature=temperature), options={"top_p": 1})[1]
        spelled = question("a", temperature=float(temperature))
        assert not ask(spelled, options={"top_p": 1.0})[1]


def test_a_call_that_failed_is_made_again(ask):
    def failing(_text):
        raise ClientError("busy", kind="server")

    with pytest.raises(ClientError, match="busy"):
        ask(client=Remote(failing, seconds=0))
    assert ask()[1]


@pytest.mark.parametrize("text", ["\ud800", "\x00", "ß漢字🙂", "a" * 1_000_000])
def test_any_text_can_be_asked_and_replied(ask, text):
    client = Remote(lambda _: text, seconds=0)
    ask(question(text), client)
    assert ask(question(text))[0].text == text


def test_in_a_pool_those_who_ask_the_same_at_once_wait_for_one_reply(cache):
    client = Remote(seconds=0.02)

    def said(text):
        return (yield Ask(client, question(text)))

    with Pool(16, cache=cache) as pool:
        replies = pool.all(said(text) for text in "abc" * 10)
    assert [reply.text for reply in replies] == [*"ABC" * 10]
    assert sorted(client.asked) == ["a", "b", "c"]
    assert sum(reply.cached for reply in replies) == 27


def test_where_the_first_of_them_fails_the_next_asks(cache):
    def failing_once(text):
        if len(client.asked) == 1:
            raise ClientError("dropped", kind="connection")
        return text

    client = Remote(failing_once, seconds=0.02)

    def said(text):
        return (yield Ask(client, question(text))).text

    with Pool(4, cache=cache) as pool:
        results = pool.all(said("a") for _ in range(4))
    assert [str(result) for result in results] == ["dropped", "a", "a", "a"]
    assert len(client.asked) == 2


def test_one_evaluator_alone_can_have_a_cache(cache):
    client = Remote(seconds=0)
    for _ in range(2):
        evaluator = Repeats(Cached(client, cache))
        assert evaluator("hello").label == "HELLO"
        assert asyncio.run(evaluator.aevaluate(Sample("hello"))).label == "HELLO"
        assert evaluator.evaluate_many([Sample("hello")] * 3)[2].label == "HELLO"
    assert client.asked == ["hello"]
    assert evaluator("hello").metadata["judge"]["cached"] == 1


def test_a_frozen_cache_answers_what_it_has_and_says_what_it_lacks(ask, cache):
    ask()
    cache.close()
    frozen, client = Cache(cache.path, frozen=True), Remote()
    assert Cached(client, frozen).ask(REQUEST).text == "IS IT RIGHT?"
    with pytest.raises(ClientError, match="does not hold the reply") as caught:
        Cached(client, frozen).ask(question("new"))
    assert (caught.value.kind, caught.value.label, caught.value.is_transient) == (
        "not_cached",
        "not_cached",
        False,
    )
    result = Repeats(Cached(client, frozen))("new")
    assert (result.scored, result.label) == (False, "not_cached")
    assert not client.asked


def test_a_cached_client_is_the_client_that_it_stands_for(cache):
    client = Remote()
    cached = Cached(client, cache)
    assert cached.identity() == client.identity()
    asyncio.run(cached.aclose())
    assert client.closed_in


def test_the_first_draw_of_a_vote_is_the_reply_to_the_plain_question(ask):
    ask()
    for draw, asked in (((0,), False), ((1,), True), ((0, 0), True)):
        assert ask(msgspec.structs.replace(REQUEST, draw=draw))[1] is asked
