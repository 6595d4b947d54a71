"""A reply with more than one call: all of them count, so that none is chosen by its place."""

import json

import pytest
from server import answer

from llmeval_integrations.asking.loading import load_client
from llmeval_integrations.judges.pass_fail import PassFail

pytest.importorskip("pydantic")

KEY = "sk-0123456789"


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


def judgement(verdict):
    return json.dumps({"reasoning": "r", "verdict": verdict, "confidence": "High"})


def said(content, *calls):
    """Answer with a text and calls beside it."""
    functions = [{"name": "judgement", "arguments": arguments} for arguments in calls]
    wired = [
        {"id": f"c{number}", "type": "function", "function": function}
        for number, function in enumerate(functions)
    ]
    message = {"role": "assistant", "content": content, "tool_calls": wired}
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
        (said("Verdict: Fail", judgement("Pass")), "unreadable"),
    ],
    ids=["one", "a text beside it", "two alike", "two", "two the other way", "a text against it"],
)
def test_a_verdict_is_read_where_all_of_a_reply_agrees(play, label, client_of, server):
    client = client_of(f"{server.url}/v1")
    server.plays(play)
    assert PassFail(client, "Is it right?")("x").label == label
