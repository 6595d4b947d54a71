"""The failures of `test_all_clients.py`, through libraries that stand on the vendors' SDKs."""

import pickle
import traceback

import pytest
from server import answer, chat
from test_all_clients import FAILURES, SCHEMA, error
from vendors import anthropic_said

from llmeval_integrations.core.errors import ClientError, RefusedReplyError
from llmeval_integrations.llm.loading import load_client

KEY = "sk-0123456789"


def langchain_openai(url, **settings):
    library = pytest.importorskip("langchain_openai")
    settings = {"api_key": KEY, "max_retries": 0, **settings}
    return library.ChatOpenAI(model="gpt-4o", base_url=f"{url}/v1", **settings)


def langchain_anthropic(url, **settings):
    library = pytest.importorskip("langchain_anthropic")
    settings = {"api_key": KEY, "max_retries": 0, **settings}
    return library.ChatAnthropic(model="claude-sonnet-5", base_url=url, **settings)


def llama_index(url, **settings):
    library = pytest.importorskip("llama_index.llms.openai_like")
    settings = {"api_key": KEY, "max_retries": 0, "is_chat_model": True, **settings}
    return library.OpenAILike(model="gpt-4o", api_base=f"{url}/v1", **settings)


def litellm(url):
    pytest.importorskip("litellm")
    return {"platform": "litellm", "name": "openai/gpt-4o", "base_url": f"{url}/v1", "api_key": KEY}


# What is in a body that is not a reply reaches us only as the exception of whoever tripped over it.
UNREADABLE = {"a page", "no reply in it", "a list", "no text at all", "nothing"}
CASES = {
    "langchain-openai": (langchain_openai, chat),
    "langchain-anthropic": (langchain_anthropic, anthropic_said),
    "llama-index": (llama_index, chat),
    "litellm": (litellm, chat),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def client(case, server):
    return load_client(case[0](server.url), retries=0)


def error_of(ask, client, wanted):
    with pytest.raises(ClientError) as caught:
        ask(client, wanted)
    return caught.value


def test_a_failure_is_told_by_its_kind(client, ask, question, server):
    for name, (play, kind, pause) in FAILURES.items():
        server.plays(play)
        found = error_of(ask, client, question())
        kinds = {"garbled", "failed", "server"} if name in UNREADABLE else {kind}
        assert found.kind in kinds, name
        assert found.retry_after == pause, name
        assert len(server.requests) == 1, name
        assert pickle.loads(pickle.dumps(found)).kind == found.kind  # noqa: S301 - our own


def test_a_filter_that_takes_the_prompt_is_a_refusal(client, ask, question, server):
    server.plays(error(400, code="content_filter"))
    with pytest.raises(RefusedReplyError):
        ask(client, question())


def test_nobody_there(case, ask, question):
    client = load_client(case[0]("http://127.0.0.1:9"), retries=0)
    assert error_of(ask, client, question()).kind == "connection"


@pytest.mark.parametrize(
    ("make", "setting"),
    [
        (langchain_openai, "timeout"),
        (langchain_anthropic, "timeout"),
        (llama_index, "timeout"),
    ],
)
def test_a_model_keeps_its_own_time_out(make, setting, ask, question, server):
    client = load_client(make(server.url, **{setting: 0.5}))
    server.plays(chat(delay=20))
    found = error_of(ask, client, question())
    assert (found.kind, str(found)) == (
        "timeout",
        "no reply within the time that the model itself waits",
    )


def test_a_key_that_the_server_repeats_is_not_shown(client, ask, question, server):
    for play in (error(401, message=f"{KEY} is wrong"), answer(f"<b>{KEY}</b>", 500)):
        server.plays(play)
        found = error_of(ask, client, question())
        assert KEY not in "".join(traceback.format_exception(found))
    assert KEY not in f"{client!r} {client.config!r} {client.identity()}"


def test_a_bad_request_in_every_form_is_told_as_one(client, ask, question, server):
    server.plays(error(400))
    assert error_of(ask, client, question(schema=SCHEMA)).kind == "bad_request"
    assert len(server.requests) in (
        2,
        3,
    )  # LlamaIndex does not know that this model calls functions
