"""What every evaluator that asks a model has: failures, accounts, other clients."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from scripted import Scripted

from llmeval_integrations import InvalidOptionError, Result, Sample
from llmeval_integrations.core.errors import (
    ClientError,
    MissingFieldError,
    UnreadableJudgementError,
)
from llmeval_integrations.judges import Panel, PassFail, Vote
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.reply import JudgeReply, Usage
from llmeval_integrations.llm.request import JudgeRequest


@dataclass(frozen=True)
class Echo(JudgedEvaluator):
    """Does the model say the output again?"""

    client: Any
    times: int = 1

    def judge(self, sample):
        said = []
        for _ in range(self.times):
            reply = yield JudgeRequest((Message("user", sample.output),))
            said.append(reply.text)
        return Result(said.count(sample.output) / self.times, all(said), None, ", ".join(said))


def test_a_judge_is_a_generator_that_can_be_driven_by_hand():
    conversation = Echo(None).judge(Sample("a"))
    request = next(conversation)
    assert request.messages == (Message("user", "a"),)
    with pytest.raises(StopIteration) as done:
        conversation.send(JudgeReply("a"))
    assert done.value.value == Result(1.0, True, None, "a")


def test_each_request_is_answered_and_counted():
    client = Scripted("a", "b", "a", "a")
    result = Echo(client, 4)("a")
    assert (result.score, result.reason) == (0.75, "a, b, a, a")
    assert result.metadata["judge"]["calls"] == 4
    assert result.metadata["judge"]["output_tokens"] == 20


@pytest.mark.parametrize("client", [None, "openai:gpt-5-mini"], ids=["None", "a name"])
def test_a_judge_that_makes_no_client_of_what_it_is_given_is_told_how(client):
    with pytest.raises(InvalidOptionError, match=rf"{type(client).__name__}, .*load_client"):
        Echo(client)("a")


@pytest.mark.parametrize(
    ("failure", "label"),
    [
        (ClientError("no reply", kind="timeout"), "timeout"),
        (ClientError("spent", kind="budget"), "budget"),
        (JudgeReply("no", "refused"), "refused"),
        (JudgeReply("aaa", "length"), "cut"),
        (UnreadableJudgementError("what?"), "unreadable"),
    ],
)
def test_a_failure_in_the_middle_is_unscored_and_keeps_the_account(failure, label):
    result = Echo(Scripted("a", failure), 2)("a")
    assert (result.score, result.passed, result.label) == (None, None, label)
    assert result.reason
    assert result.metadata["judge"]["calls"] >= 1


def test_what_is_no_failure_of_the_judge_is_raised():
    with pytest.raises(ZeroDivisionError):
        Echo(Scripted("a"), 0)("a")


def test_what_is_no_failure_of_the_judge_is_raised_out_of_many_too():
    with pytest.raises(ZeroDivisionError):
        Echo(Scripted("a"), 0).evaluate_many([Sample("a"), Sample("b")])


def test_the_same_judge_can_have_another_client():
    first, second = Scripted("a"), Scripted("b")
    judge = Echo(first)
    other = judge.with_clients(lambda client: second if client is first else client)
    assert other("a").score == 0
    assert asyncio.run(other.aevaluate(Sample("b"))).score == 1
    assert [result.score for result in other.evaluate_many([Sample("b"), Sample("a")])] == [1, 0]
    assert judge("a").score == 1
    assert other.name == "echo"
    assert first.requests and second.requests


def test_a_judge_that_was_never_answered_has_an_account_too():
    account = Echo(Scripted(ClientError("no reply", kind="timeout")))("a").metadata["judge"]
    assert account == {
        "model": None,
        "output": None,
        "calls": 0,
        "cached": 0,
        "input_tokens": 0,
        "output_tokens": 0,
    }


def test_tokens_of_all_replies_are_summed():
    replies = [JudgeReply("a", usage=Usage(3, 4, 1, 2), model="m"), JudgeReply("a", usage=Usage(5))]
    account = Echo(Scripted(*replies), 2)("a").metadata["judge"]
    assert (account["input_tokens"], account["output_tokens"]) == (8, 4)


@pytest.mark.parametrize("around", [lambda judge: judge, Vote, lambda judge: Panel([judge])])
def test_a_bad_call_raises_before_anything_is_asked(around):
    client = Scripted("a")
    judge = around(PassFail(client, "Is it?", prompt="Judge {output} on {topic}"))
    samples = [Sample("a", variables={"topic": "x"}) for _ in range(4)]
    with pytest.raises(MissingFieldError, match="topic"):
        judge.evaluate_many([*samples, Sample("b")])
    assert client.requests == []
