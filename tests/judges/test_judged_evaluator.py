"""What every evaluator that asks a model has: failures, accounts, other clients."""

from dataclasses import dataclass
from typing import Any

import pytest
from scripted import Scripted

from llmeval_integrations import Result, Sample
from llmeval_integrations.core.errors import (
    ClientError,
    MissingFieldError,
    UnreadableJudgementError,
)
from llmeval_integrations.judges import Panel, PassFail, Vote
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.llm.reply import Reply


@dataclass(frozen=True)
class Echo(JudgedEvaluator):
    """Does the model say the output again?"""

    model: Any
    times: int = 1

    async def judge(self, sample, ask):
        said = []
        for number in range(self.times):
            reply = await ask.draw(number)(sample.output)
            said.append(reply.text)
        return Result(said.count(sample.output) / self.times, all(said), None, ", ".join(said))


def test_each_request_is_answered_and_counted():
    client = Scripted("a", "b", "a", "a")
    result = Echo(client, 4)("a")
    assert (result.score, result.reason) == (0.75, "a, b, a, a")
    assert result.metadata["judge"]["calls"] == 4
    assert result.metadata["judge"]["output_tokens"] == 20


@pytest.mark.parametrize(
    ("failure", "label"),
    [
        (ClientError("no reply", kind="timeout"), "timeout"),
        (ClientError("spent", kind="budget"), "budget"),
        (Reply("no", "refused"), "refused"),
        (Reply("aaa", "length"), "cut"),
        (UnreadableJudgementError("what?"), "unreadable"),
    ],
)
def test_a_failure_in_the_middle_is_unscored_and_keeps_the_account(failure, label):
    result = Echo(Scripted("a", failure), 2)("a")
    assert (result.score, result.passed, result.label) == (None, None, label)
    assert result.reason
    assert result.metadata["judge"]["calls"] >= 1


@pytest.mark.parametrize("around", [lambda judge: judge, Vote, lambda judge: Panel([judge])])
def test_a_bad_call_raises_before_anything_is_asked(around):
    client = Scripted("a")
    judge = around(PassFail(client, "Is it?", prompt="Judge {output} on {topic}"))
    samples = [Sample("a", variables={"topic": "x"}) for _ in range(4)]
    with pytest.raises(MissingFieldError, match="topic"):
        judge.evaluate_many([*samples, Sample("b")])
    assert client.requests == []
