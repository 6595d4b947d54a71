"""What exceptions mean whose SDKs are not installed here, by their shape; see also the clients."""

import asyncio

import pytest

from llmeval_integrations.core.errors import RefusedReplyError
from llmeval_integrations.llm.sdks.wrapped import causes, of_another_loop, wrapped_problem


def raised(error, cause=None):
    with pytest.raises(type(error)) as caught:
        raise error from cause
    return caught.value


def shaped(name="VendorError", text="no", **attributes):
    return type(name, (Exception,), attributes)(text)


def answered(**attributes):
    return type("Response", (), attributes)()


CASES = {
    "OpenAI's and Anthropic's": (
        shaped(status_code=429, response=answered(headers={"retry-after": "7"})),
        ("rate_limited", 7.0),
    ),
    "Google's": (shaped(code=503, details={"error": {"message": "busy"}}), ("server", None)),
    "httpx's": (
        shaped(response=answered(status_code=401, headers={})),
        ("authentication", None),
    ),
    "botocore's": (
        shaped(response={"ResponseMetadata": {"HTTPStatusCode": 400}}),
        ("bad_request", None),
    ),
    "LangChain's own": (shaped("ContextOverflowError"), ("context_overflow", None)),
    "LiteLLM's own": (
        shaped("ContextWindowExceededError", status_code=400),
        ("context_overflow", None),
    ),
    "a status that was made up for a lost connection": (
        raised(shaped(status_code=500), ConnectionResetError("peer")),
        ("connection", None),
    ),
    "a status that was made up for a time-out": (
        raised(shaped(status_code=500), TimeoutError()),
        ("timeout", None),
    ),
    "a cause that has an answer": (
        raised(ValueError("x"), shaped(status_code=404)),
        ("not_found", None),
    ),
    "a number that is not a status": (shaped(code=7), None),
    "something else": (ValueError("x"), None),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_exception_means(name):
    error, expected = CASES[name]
    problem = wrapped_problem(error)
    assert (problem and (problem.kind, problem.retry_after)) == expected


@pytest.mark.parametrize("name", ["ContentFilterFinishReasonError", "ContentPolicyViolationError"])
def test_a_filter_that_takes_a_reply_is_a_refusal(name):
    assert isinstance(wrapped_problem(raised(ValueError("x"), shaped(name))), RefusedReplyError)


def test_the_deepest_answer_has_the_headers_and_the_body():
    body = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    deep = shaped(status_code=400, body=body, response=answered(headers={"retry-after": "3"}))
    problem = wrapped_problem(raised(shaped(status_code=400), deep))
    assert (problem.kind, problem.retry_after) == ("context_overflow", 3.0)
    assert "too long" in str(problem)


def test_causes_that_go_in_a_circle_end():
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    assert [*causes(first)] == [first, second]


def test_a_context_that_was_suppressed_is_no_cause():
    error = raised(ValueError())
    error.__context__ = KeyError()
    assert len([*causes(error)]) == 1  # "from None"
    error.__suppress_context__ = False
    assert len([*causes(error)]) == 2


def test_a_connection_of_an_ended_loop_is_told_by_who_raised():
    loop = asyncio.new_event_loop()
    loop.close()
    with pytest.raises(RuntimeError) as caught:
        loop.call_soon(print)
    assert of_another_loop(caught.value)
    assert of_another_loop(raised(ValueError("x"), caught.value))
    assert not of_another_loop(raised(RuntimeError("Event loop is closed")))
    assert not of_another_loop(ValueError("x"))
