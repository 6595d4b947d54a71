"""A reply with calls: all that differ count, so that none is chosen by its place."""

import json

import pytest
from server import answer

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.judges.pass_fail import PassFail
from llmeval_integrations.llm.loading import load_client

pydantic = pytest.importorskip("pydantic")

KEY = "sk-0123456789"


class Rating(pydantic.BaseModel):
    score: int


def openai_client(url):
    pytest.importorskip("openai")
    return load_client("vllm:m", base_url=url, api_key=KEY, output="tool")


def langchain_client(url):
    library = pytest.importorskip("langchain_openai")
    model = library.ChatOpenAI(model="m", base_url=url, api_key=KEY, max_retries=0)
    return load_client(model, output="tool")


def litellm_client(url):
    pytest.importorskip("litellm")
    return load_client("litellm:openai/gpt-4o", base_url=url, api_key=KEY, output="tool")


def llama_index_client(url):
    library = pytest.importorskip("llama_index.llms.openai_like")
    model = library.OpenAILike(
        model="m", api_base=url, api_key=KEY, is_chat_model=True, is_function_calling_model=True
    )
    return load_client(model, output="tool")


CLIENTS = [openai_client, langchain_client, litellm_client, llama_index_client]


def judgement(verdict, reasoning="r"):
    return json.dumps({"reasoning": reasoning, "verdict": verdict, "confidence": "High"})


SPACED = """{"verdict": "Pass",
"confidence": "High", "reasoning":"r"}"""


def said(content, *calls):
    """Answer with a text and calls beside it."""
    functions = [{"name": "judgement", "arguments": arguments} for arguments in calls]
    return wired(content, [{"type": "function", "function": function} for function in functions])


def wired(content, calls):
    numbered = [{"id": f"c{number}", **call} for number, call in enumerate(calls)]
    message = {"role": "assistant", "content": content, "tool_calls": numbered}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    body = {"id": "r1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    return answer({**body, "choices": [choice]})


@pytest.mark.parametrize("client_of", CLIENTS)
@pytest.mark.parametrize(
    ("play", "label"),
    [
        (said(None, judgement("Pass")), "Pass"),
        (said("I am done with it.", judgement("Pass")), "Pass"),
        (said(None, judgement("Pass"), judgement("Pass")), "Pass"),
        (said(None, judgement("Pass"), judgement("Fail")), "unreadable"),
        (said(None, judgement("Fail"), judgement("Pass")), "unreadable"),
        (said(None, judgement("Pass"), SPACED), "Pass"),
        (said("<think>It may fail.", judgement("Pass")), "Pass"),
        (said("I am done.", judgement("Pass", "It ends with </think>.")), "Pass"),
    ],
    ids=[
        "one",
        "a text beside it",
        "two alike",
        "two",
        "two the other way",
        "two that are written otherwise",
        "thinking that is never closed",
        "a tag of thinking within",
    ],
)
def test_a_verdict_is_read_where_all_calls_agree(play, label, client_of, server):
    client = client_of(f"{server.url}/v1")
    server.plays(play)
    assert PassFail(client, "Is it right?")("x").label == label


@pytest.mark.parametrize("client_of", CLIENTS)
@pytest.mark.parametrize("calls", [1, 2])
def test_an_answer_is_read_whatever_is_said_beside_it(calls, client_of, server):
    client = client_of(f"{server.url}/v1")
    server.plays(said("I will now give my judgement.", *['{"score": 4}'] * calls))
    assert client.ask("Rate it.", Rating).score == 4
    server.plays(said(None, '{"score": 4}', '{"score": 2}'))
    with pytest.raises(UnreadableJudgementError):
        client.ask("Rate it.", Rating)


@pytest.mark.parametrize("client_of", [openai_client, litellm_client])
def test_a_call_of_a_custom_tool_is_no_answer(client_of, server):
    client = client_of(f"{server.url}/v1")
    function = {"name": "judgement", "arguments": judgement("Pass")}
    custom = {"type": "custom", "custom": {"name": "shell", "input": "ls"}}
    server.plays(wired(None, [custom, {"type": "function", "function": function}]))
    assert PassFail(client, "Is it right?")("x").label == "Pass"
